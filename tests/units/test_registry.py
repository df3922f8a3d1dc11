"""The registry: what parses, what is refused, direction as a unit, and safe copies."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import threading

import numpy as np
import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemath.core.errors import ConventionError, ScalemathError, UnitsError
from scalemath.units import Q_, Quantity, ureg


def test_gigabits_are_an_eighth_of_gigabytes() -> None:
    assert Q_("800 Gb/s") == Q_("100 GB/s")
    assert Q_("800 Gb/s").to("GB/s").magnitude == 100


def test_a_sum_keeps_the_unit_of_the_first() -> None:
    total = Q_("1 Gb/s") + Q_("1 GB/s")
    assert total == Q_("9 Gbit/s")
    assert total.magnitude == 9


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1 kb", "bit", 1000),
        ("1 Kib", "bit", 1024),
        ("1 KiB", "byte", 1024),
        ("1 kB", "byte", 1000),
        ("1 Mb", "bit", 10**6),
        ("1 MB", "byte", 10**6),
        ("1 Tb/s", "bit/s", 10**12),
        ("1 PB/s", "byte/s", 10**15),
        ("1 GT/s", "transfer/s", 10**9),
        ("1 MT/s", "transfer/s", 10**6),
        ("1 Gbps", "bit/s", 10**9),
        ("1 GBps", "byte/s", 10**9),
        ("1 PFLOP/s", "FLOP/s", 10**15),
        ("1 PFLOPS", "FLOP/s", 10**15),
        ("3 token/s", "token/s", 3),
        ("3 request/s", "request/s", 3),
        ("1 pJ/b", "J/bit", 1e-12),
        ("1 us", "s", 1e-6),
        ("1 µs", "s", 1e-6),
        ("1 μs", "s", 1e-6),
        ("2 GiB", "byte", 2147483648),
        ("112 GBd", "baud", 112e9),
        ("50 %", "", 0.5),
        ("1 month", "hour", 730),
        ("1 year", "month", 12),
        ("1 kWh", "J", 3.6e6),
        ("3 Mpps", "packet/s", 3e6),
        ("400 Gbits/s", "bit/s", 400e9),
    ],
)
def test_spellings_of_the_field(text: str, unit: str, value: float) -> None:
    assert Q_(text).to(unit).magnitude == value


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("1 KB", "kB"),
        ("1 Kb", "Kib"),
        ("1 gb/s", "Gb"),
        ("1 mb", "Mb"),
        ("400 mb/s", "Mb"),
        ("5 mB", "MB"),
        ("1 Gbs", "Gb/s"),
        ("1 GBs", "GB/s"),
        ("800G", "Gb/s"),
        ("5 flops", "FLOP/s"),
        ("1 tflops", "TFLOP/s"),
        ("72 GPUs", "integer"),
        ("1 GBytes", "GB"),
        ("1 mdir", "dir"),
    ],
)
def test_ambiguous_spellings_are_refused_with_the_one_to_use(text: str, cure: str) -> None:
    with pytest.raises(UnitsError, match=cure) as caught:
        Q_(text)
    assert isinstance(caught.value, pint.UndefinedUnitError)


def test_bits_are_not_cycles() -> None:
    with pytest.raises(UnitsError) as caught:
        Q_("1 Gb/s").to("GHz")
    assert isinstance(caught.value, pint.DimensionalityError)


def test_energy_per_bit_makes_watts_and_plain_energy_does_not() -> None:
    assert (Q_("800 Gb/s") * Q_("15 pJ/bit")).to("W").magnitude == 12
    with pytest.raises(UnitsError):
        (Q_("800 Gb/s") * Q_("15 pJ")).to("W")


@pytest.mark.parametrize(
    "wrong",
    [
        "Q_('1 byte') + 3",
        "3 + Q_('1 byte')",
        "Q_('1 byte') - 3",
        "Q_('1 PFLOP/s') + Q_('1 Gb/s')",
        "Q_('100 request/s') + Q_('1 token/s')",
        "Q_('100 request/s') < Q_('1 token/s')",
        "Q_('1 byte') > 3",
        "Q_('1 USD') + Q_('1 EUR')",
    ],
)
def test_unlike_things_do_not_add_or_compare(wrong: str) -> None:
    with pytest.raises(UnitsError):
        eval(wrong, {"Q_": Q_})


def test_requests_and_tokens_say_what_is_missing() -> None:
    with pytest.raises(UnitsError, match="token/request"):
        Q_("100 request/s").to("token/s")


class TestDirection:
    def test_both_directions_are_twice_one(self) -> None:
        assert Q_("1.8 TB/s/bidir") == Q_("900 GB/s/dir")
        assert Q_("1.8 TB/s/bidir").to("GB/s/dir").magnitude == 900

    def test_ratio_is_like_for_like(self) -> None:
        ratio = Q_("7.2 TB/s/bidir") / Q_("0.4 TB/s/dir")
        assert ratio.magnitude == 9
        assert ratio.dimensionless

    @pytest.mark.parametrize("symbol", ["+", "-", "<", "<=", ">", ">=", "==", "!="])
    def test_bare_against_directed_raises(self, symbol: str) -> None:
        bare, directed = Q_("900 GB/s"), Q_("900 GB/s/dir")
        with pytest.raises(UnitsError, match="direction") as caught:
            eval(f"a {symbol} b", {"a": bare, "b": directed})
        assert isinstance(caught.value, ConventionError)

    def test_power_counts_the_rate_of_one_direction(self) -> None:
        with pytest.raises(UnitsError):
            (Q_("15 pJ/bit") * Q_("800 Gb/s/dir")).to("W")

    def test_prints_in_reading_order(self) -> None:
        assert str(Q_("450 GB/s/dir")) == "450 GB/s/dir"
        assert str(Q_("1.8 TB/s/bidir")) == "1.8 TB/s/bidir"


class TestRounding:
    ratio = Q_("3 GiB") / Q_("1 GB")

    @pytest.mark.parametrize(
        ("way", "expected"),
        [
            ("np.ceil", 4),
            ("np.floor", 3),
            ("np.round", 3),
            ("np.trunc", 3),
            ("round", 3),
            ("math.ceil", 4),
        ],
    )
    def test_a_ratio_rounds_as_a_number(self, way: str, expected: int) -> None:
        rounded = eval(f"{way}(ratio)", {"np": np, "math": math, "ratio": self.ratio})
        assert rounded == expected

    def test_magnitude_is_the_number(self) -> None:
        assert self.ratio.magnitude == pytest.approx(3.221225472, rel=1e-15)


def test_decimal_and_binary_sizes() -> None:
    assert Q_("2 GiB").to("byte").magnitude == 2147483648
    assert Q_("2 GiB").to("GB").magnitude == 2.147483648
    assert Q_("768 GiB").to("GB").magnitude == pytest.approx(824.633720832)


class TestFormats:
    def test_whole_numbers_have_no_decimals(self) -> None:
        assert str(Q_(400.0, "Gbit/s")) == "400 Gbit/s"
        assert f"{Q_('400 Gb/s')}" == "400 Gbit/s"

    def test_a_given_format_is_kept(self) -> None:
        assert f"{Q_(1.25, 'GB/s'):.3f~P}" == "1.250 GB/s"

    def test_latex_and_html(self) -> None:
        assert "frac" in f"{Q_('450 GB/s/dir'):~L}"
        assert Q_("450 GB/s/dir")._repr_html_() == "450 GB/s/dir"


def _same(value: Quantity) -> bool:
    return (
        type(value) is Quantity and value == Q_("400 Gbit/s") and value + Q_("1 Gb/s") is not None
    )


@pytest.mark.parametrize(
    "passed",
    [
        lambda q: pickle.loads(pickle.dumps(q)),
        copy.copy,
        copy.deepcopy,
    ],
)
def test_copies_are_ours(passed: object) -> None:
    assert _same(passed(Q_("400 Gbit/s")))  # type: ignore[operator]


def test_units_pickle() -> None:
    assert pickle.loads(pickle.dumps(ureg.Unit("GB/s/dir"))) == ureg.Unit("GB/s/dir")


@pytest.mark.slow
def test_quantities_cross_process_borders() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert _same(pool.apply(copy.copy, (Q_("400 Gbit/s"),)))


def test_threads_share_the_registry() -> None:
    wrong: list[int] = []

    def work(start: int) -> None:
        counts = range(start, start + 200)
        wrong.extend(k for k in counts if Q_(f"{k} Gb/s").to("GB/s").magnitude != k / 8)

    threads = [threading.Thread(target=work, args=(1000 * t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@given(st.integers(1, 10**9), st.sampled_from([("Gb/s", "MB/s"), ("TB/s/bidir", "Gbit/s/dir")]))
def test_there_and_back_is_the_same(count: int, units: tuple[str, str]) -> None:
    given_ = Q_(count / 1000, units[0])
    back = given_.to(units[1]).to(units[0])
    assert back == given_
    assert hash(back) == hash(given_)


@given(st.integers(1, 10**12), st.sampled_from(["kB", "KiB", "Mb", "GiB", "Tb"]))
def test_equality_does_not_depend_on_the_unit(millionths: int, unit: str) -> None:
    left = Q_(millionths / 10**6, unit)
    assert left == left.to("byte")
    assert left == left.to("Gibit")
    assert left <= left.to("byte") <= left


def test_arrays_carry_units() -> None:
    rates = Q_(np.array([100.0, 200.0]), "Gb/s")
    assert (rates.to("GB/s").magnitude == [12.5, 25.0]).all()
    assert np.max(rates) == Q_("25 GB/s")
    assert ((rates / Q_("100 Gb/s")).magnitude == [1, 2]).all()


def test_private_parts_of_pint_are_still_there() -> None:
    quantity = Q_("1 GB")
    for name in ("_units", "_magnitude", "_REGISTRY", "_add_sub", "_mul_div", "_is_multiplicative"):
        assert hasattr(quantity, name)


def test_every_error_is_ours() -> None:
    for text in ("1 KB", "1 frobnicate"):
        with pytest.raises(ScalemathError):
            Q_(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2,5 GiB", "decimal point"),
        ("1.000,5 GB/s/dir", "decimal point"),
        ("0,9 TB/s", "decimal point"),
        ("2 2 GiB", "one number"),
        ("2 GiB;", "one number"),
        ("GiB", "one number"),
        ("8**8**8**8 GB", "one number"),
        ("-", "one number"),
        ("", "one number"),
        ("nan GB", "one number"),
        ("(" * 3000 + "1 GB" + ")" * 3000, "characters"),
        ("1 GB" + " " * 500, "characters"),
    ],
)
def test_only_one_number_with_a_unit_is_read(text: str, said: str) -> None:
    with pytest.raises(UnitsError, match=said):
        Q_(text)


@pytest.mark.parametrize("value", [None, True])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(UnitsError, match="no number"):
        Q_(value)
