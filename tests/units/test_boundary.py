"""The boundary: every bad argument is named, and good ones arrive as exact floats."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import pint
import pytest
from attrs import frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import (
    ArgumentError,
    ConventionError,
    RangeError,
    ScalemathError,
    UnitsError,
)
from scalemath.core.kernel import KERNELS, kernel, kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.core.value_range import Range
from scalemath.units import Q_, quantities


class Terms(NamedTuple):
    latency: float
    bandwidth: float


@pytest.fixture(scope="module", autouse=True)
def _forget_kernel() -> Any:
    yield
    KERNELS.pop("boundary_probe", None)


@kernel(
    unit="s",
    source="made for this test",
    formula="ranks latency + size / bandwidth",
    rises="size latency",
    falls="bandwidth",
    free="ranks",
    free_because="made so for this test",
)
def boundary_probe(size: float, ranks: float, bandwidth: float, latency: float) -> Terms:
    return Terms(ranks * latency, size / bandwidth)


@frozen(kw_only=True)
class Probe(Result):
    given: tuple[float, ...]
    kind: str
    extra: object

    @measured("s")
    def time(self) -> float:
        """Sum of the terms."""
        return total(boundary_probe(*self.given))


@quantities(
    Step("time", {"": kernel_of(boundary_probe)}, "s"),
    size="byte",
    ranks="count >= 1",
    bandwidth="byte/s/dir > 0 unless placement",
    latency="s",
    share="number <= 1",
    kind="choice ring tree best",
)
def probe(
    size: float,
    ranks: float,
    bandwidth: float = float("nan"),
    latency: float = 0.0,
    *,
    share: float = 1.0,
    kind: str = "ring",
    placement: object = None,
    assumed: tuple[str, ...] = (),
) -> Probe:
    return Probe(
        given=(size, ranks, bandwidth, latency), kind=kind, extra=share, assumptions=assumed
    )


def floats(*args: Any, **kwargs: Any) -> tuple[float, ...]:
    return probe(*args, **kwargs).given


def test_text_quantities_and_foreign_quantities_arrive_alike() -> None:
    theirs = pint.UnitRegistry()
    expected = (2147483648.0, 72.0, 9e11, 1e-6)
    assert floats(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir", latency="1 us") == expected
    assert floats(Q_("2 GiB"), 72.0, Q_("1.8 TB/s/bidir"), Q_(1000, "ns")) == expected
    assert (
        floats(
            size=theirs.Quantity("2 GiB"),
            ranks=np.int64(72),
            bandwidth=theirs.Quantity("7200 Gbit/s"),
            latency=theirs.Quantity(1.0, "microsecond"),
        )
        == expected
    )


def test_largest_sizes_arrive_exactly() -> None:
    assert floats(Q_("1 PiB"), 2, "1 GB/s")[0] == 1125899906842624


def test_assumptions_are_listed() -> None:
    said = " ".join(probe("2 GiB", 72, "900 GB/s").assumptions)
    assert "bandwidth taken per direction" in said
    assert "latency taken as 0" in said
    assert probe("2 GiB", 72, "900 GB/s/dir", "1 us").assumptions == ()


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"size": 5}, UnitsError, "size is 5 without a unit.*'2 GiB'"),
        ({"size": "5 s"}, UnitsError, "size is in s"),
        ({"size": "-1 GB"}, RangeError, "at least 0"),
        ({"size": "nan GB"}, ScalemathError, "nan"),
        ({"size": Q_(float("inf"), "GB")}, RangeError, "finite"),
        ({"size": Q_(float("nan"), "GB")}, RangeError, "finite"),
        ({"size": None}, UnitsError, "size"),
        ({"size": True}, UnitsError, "size"),
        ({"size": "1 KB"}, UnitsError, "KiB"),
        ({"ranks": 0}, RangeError, "at least 1"),
        ({"ranks": -3}, RangeError, "at least 1"),
        ({"ranks": 1.5}, RangeError, "whole"),
        ({"ranks": float("nan")}, RangeError, "whole"),
        ({"ranks": float("inf")}, RangeError, "whole"),
        ({"ranks": 2**60}, RangeError, r"2\*\*53"),
        ({"ranks": "72"}, ArgumentError, "plain integer"),
        ({"ranks": True}, ArgumentError, "plain integer"),
        ({"ranks": Q_("72 token")}, UnitsError, "count"),
        ({"ranks": None}, ArgumentError, "plain integer"),
        ({"bandwidth": "0 GB/s"}, RangeError, "above 0"),
        ({"bandwidth": "-1 GB/s"}, RangeError, "above 0"),
        ({"bandwidth": "1 GB"}, UnitsError, "900 GB/s/dir"),
        ({"bandwidth": 900e9}, UnitsError, "without a unit"),
        ({"bandwidth": pint.UnitRegistry().Quantity("800 Gb/s")}, UnitsError, "gilbert"),
        ({"share": 1.2}, RangeError, "at most 1"),
        ({"share": "1 GB"}, UnitsError, "plain number"),
        ({"kind": "rign"}, ArgumentError, "did you mean ring"),
        ({"kind": 3}, ArgumentError, "one of"),
        ({"latncy": "1 us"}, ArgumentError, "did you mean latency"),
        ({"placement": object()}, ArgumentError, "together with placement"),
    ],
)
def test_bad_input_gets_one_clear_error(
    changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    good: dict[str, Any] = {"size": "2 GiB", "ranks": 72, "bandwidth": "900 GB/s/dir"}
    with pytest.raises(error, match=said):
        probe(**{**good, **changes})


def test_all_bad_arguments_are_named_at_once() -> None:
    with pytest.raises(ScalemathError) as caught:
        probe(size=5, ranks=1.5, bandwidth="1 GB", latncy="1 us")
    for name in ("size", "ranks", "bandwidth", "latncy"):
        assert name in str(caught.value)


def test_missing_arguments_say_how_to_write_them() -> None:
    with pytest.raises(ArgumentError, match="size='2 GiB'.*ranks=72.*placement="):
        probe()


def test_another_argument_may_stand_in() -> None:
    assert np.isnan(probe("2 GiB", 72, placement=object()).given[2])


def test_twice_and_too_many() -> None:
    with pytest.raises(ArgumentError, match="given twice"):
        probe("2 GiB", 72, size="2 GiB")
    with pytest.raises(ArgumentError, match="positional"):
        probe("2 GiB", 72, "1 GB/s", "1 us", 0.5)


class TestDatum:
    @staticmethod
    def datum(**changes: Any) -> Datum:
        return Datum(**{"value": 2, "unit": "us", "source": "a page", "date": "2024", **changes})

    def test_round_trip_is_refused(self) -> None:
        with pytest.raises(ConventionError, match="half"):
            probe("1 GB", 8, "1 GB/s", self.datum(latency_kind="round-trip"))
        assert floats("1 GB", 8, "1 GB/s", self.datum(latency_kind="one-way"))[3] == 2e-6

    def test_rate_of_a_rack_is_no_port_rate(self) -> None:
        rack = self.datum(value=130, unit="TB/s/bidir", scope="rack")
        with pytest.raises(ConventionError, match="per rack"):
            probe("1 GB", 8, rack)

    def test_sparse_peak_is_refused(self) -> None:
        with pytest.raises(ConventionError, match="dense"):
            probe("1 GB", 8, self.datum(value=1, unit="TB/s/dir", sparsity="sparse"))

    def test_source_and_date_are_required(self) -> None:
        with pytest.raises(ArgumentError, match="source"):
            self.datum(source=" ")
        with pytest.raises(ArgumentError, match="kind"):
            self.datum(kind="rumour")


class TestRange:
    def test_the_faster_network_gives_the_low_end(self) -> None:
        both = probe("1 GB", 8, Range("60 GB/s", "90 GB/s"))
        assert both.time.low == probe("1 GB", 8, "90 GB/s").time
        assert both.time.high == probe("1 GB", 8, "60 GB/s").time

    def test_ends_in_the_wrong_order(self) -> None:
        with pytest.raises(ArgumentError, match="swap"):
            probe("1 GB", 8, Range("90 GB/s", "60 GB/s"))

    def test_a_parameter_without_direction_refuses_a_range(self) -> None:
        with pytest.raises(ArgumentError, match="no declared direction"):
            probe("1 GB", Range(2, 8), "60 GB/s")


def test_declarations_are_checked_when_the_module_loads() -> None:
    with pytest.raises(TypeError, match="no parameter"):
        quantities(sise="byte")(lambda size: size)
    with pytest.raises(ValueError, match="cannot read"):
        quantities(size="byte around 3")
    with pytest.raises(UnitsError):
        quantities(size="bite")


def test_signature_and_docstring_survive() -> None:
    assert list(inspect.signature(probe).parameters) == [
        "size", "ranks", "bandwidth", "latency", "share", "kind", "placement",
    ]  # fmt: skip
    assert probe.kernel is boundary_probe
    assert probe.model.outputs() == {"time": "s", "time.latency": "s", "time.bandwidth": "s"}


def test_model_runs_plainly() -> None:
    values = {"size": 2e9, "ranks": 72.0, "bandwidth": 1e9, "latency": 0.5}
    assert probe.model.evaluate(values) == {
        "time": 38.0, "time.latency": 36.0, "time.bandwidth": 2.0,
    }  # fmt: skip


def test_results_show_and_give_themselves_away() -> None:
    result = probe("2 GB", 72, "1 GB/s")
    assert str(result) == "Probe: time 2 s"
    assert "assumed: latency taken as 0" in result.explain()
    assert result.time == Q_("2 s")
    assert result.si("time") == 2.0
    assert result.to_dict()["values"] == {"time": {"value": 2.0, "unit": "s"}}
    assert result == probe("2 GB", 72, "1 GB/s")
    assert "<table>" in result._repr_html_()
