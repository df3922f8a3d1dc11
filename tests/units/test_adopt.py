"""Quantities of other registries: adopted where they mean the same, explained where not."""

from __future__ import annotations

import pint
import pytest

from scalemath.core.errors import UnitsError
from scalemath.units import Q_, Quantity, adopt, make_application_registry, to_si, ureg

theirs = pint.UnitRegistry()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("400 Gbit/s", "50 GB/s"),
        ("2 GiB", "2147483648 byte"),
        ("3 us", "3000 ns"),
        ("12 W", "12 W"),
        ("100 m", "100 m"),
        ("1 kilowatt_hour", "1 kWh"),
    ],
)
def test_adopted(given: str, expected: str) -> None:
    ours = adopt(theirs.Quantity(given))
    assert type(ours) is Quantity
    assert ours == Q_(expected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1 Gb/s", "gilbert"),
        ("1 Tb/s", "barn"),
        ("1 GT/s", "tesla"),
        ("1 Gbps", "bit/s"),
        ("1 Mpps", "pps"),
        ("1 furlong", "another registry"),
    ],
)
def test_what_another_registry_misread_is_explained(given: str, said: str) -> None:
    with pytest.raises(UnitsError, match=said):
        adopt(theirs.Quantity(given))


def test_hertz_of_another_registry_are_no_bytes() -> None:
    with pytest.raises(UnitsError):
        to_si(theirs.Quantity("1 GHz"), "byte/s")


def test_ours_come_back_unchanged() -> None:
    quantity = Q_("1 GB")
    assert adopt(quantity) is quantity


def test_what_is_no_quantity_is_refused() -> None:
    with pytest.raises(UnitsError, match="unit"):
        adopt(object())


def test_application_registry_is_set_only_when_asked() -> None:
    before = pint.get_application_registry().get()
    assert before is not ureg
    try:
        make_application_registry()
        assert pint.Quantity("8 Gb/s").to("GB/s").magnitude == 1
    finally:
        pint.set_application_registry(before)
