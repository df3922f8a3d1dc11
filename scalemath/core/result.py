"""What every result can do: show itself, explain itself, and give its numbers away.

A result keeps SI floats. A method decorated with `measured` returns such a float; seen from
outside it is an attribute that makes a quantity on access.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, overload

from attrs import fields, frozen, has

from scalemath.core.hooks import hook


class measured:
    """Turn a method that returns an SI float into an attribute with a unit.

    Parameters
    ----------
    unit : str
        SI unit of the float; "1" gives a plain float.
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.function: Callable[[Any], float]
        self.name = ""

    def __call__(self, function: Callable[[Any], float]) -> measured:
        """Take the method."""
        self.function = function
        self.__doc__ = function.__doc__
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> measured: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Any: ...
    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        value = self.function(instance)
        return value if self.unit == "1" else hook("quantity")(value, self.unit)


@frozen(kw_only=True, eq=False)
class Result:
    """Base of all results.

    Attributes
    ----------
    assumptions : tuple of str
        Everything the answer rests on beyond its inputs.
    cautions : tuple of str
        What is unusual, though not wrong.
    """

    assumptions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    _measured: ClassVar[dict[str, measured]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        found: dict[str, measured] = {}
        for base in reversed(cls.__mro__):
            found.update({k: v for k, v in vars(base).items() if isinstance(v, measured)})
        cls._measured = found

    def si(self, name: str) -> float:
        """Return the SI float behind a measured attribute."""
        return type(self)._measured[name].function(self)

    def values(self) -> dict[str, tuple[float, str]]:
        """Every measured attribute as SI float and unit."""
        return {name: (m.function(self), m.unit) for name, m in type(self)._measured.items()}

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments the result was computed from, as SI value and unit."""
        return {}

    def formula(self) -> tuple[str, str]:
        """Return the formula in words and its source, both empty where there is none."""
        return "", ""

    def headline(self) -> str:
        """One readable line."""
        shown = ", ".join(f"{k} {_show(v, u)}" for k, (v, u) in self.values().items())
        return f"{type(self).__name__}: {shown}"

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Terms that sum to the total, as SI float and unit."""
        return {}

    @property
    def terms(self) -> dict[str, Any]:
        """Terms of the answer as quantities by name; they sum to the total."""
        return {name: _made(v, u) for name, (v, u) in self.term_values().items()}

    @property
    def inputs(self) -> dict[str, Any]:
        """Arguments of the call as quantities, numbers or names."""
        return {name: _made(v, u) for name, (v, u) in self.input_values().items()}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same: bool = _content(self) == _content(other)
        return same

    def __hash__(self) -> int:
        return hash(_content(self))

    def __str__(self) -> str:
        return self.headline()

    def explain(self) -> str:
        """Say how the answer came about: formula, numbers put in, terms, assumptions, source."""
        formula, source = self.formula()
        lines = [self.headline()]
        if formula:
            lines.append(f"  formula: {formula}")
        given = ", ".join(f"{n} = {_show(v, u)}" for n, (v, u) in self.input_values().items())
        if given:
            lines.append(f"  with {given}")
        total = sum(value for value, _ in self.term_values().values())
        for name, (value, unit) in self.term_values().items():
            share = f" ({100 * value / total:.3g} %)" if total else ""
            lines.append(f"  {name} term: {_show(value, unit)}{share}")
        lines += [f"  {line}" for line in self.remarks()]
        lines += [f"  assumed: {text}" for text in self.assumptions]
        lines += [f"  caution: {text}" for text in self.cautions]
        if source:
            lines.append(f"  source: {source}")
        return "\n".join(lines)

    def remarks(self) -> list[str]:
        """Further lines for `explain`, by subclass."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold: every number with its unit beside it.

        What does not apply (nan) is None, what has no limit is the text "inf" or "-inf".
        """

        def both(items: Mapping[str, tuple[Any, str]]) -> dict[str, Any]:
            return {name: {"value": _plain(v), "unit": u} for name, (v, u) in items.items()}

        return {
            "result": type(self).__name__,
            "inputs": both(self.input_values()),
            "values": both(self.values()),
            "terms": both(self.term_values()),
            "assumptions": list(self.assumptions),
            "cautions": list(self.cautions),
        }

    def _repr_html_(self) -> str:
        rows = [(n, _show(v, u)) for n, (v, u) in self.values().items()]
        body = "".join(
            f"<tr><td>{html.escape(n)}</td><td style='text-align:right'>{html.escape(s)}</td></tr>"
            for n, s in rows
        )
        notes = "".join(f"<br><small>{html.escape(t)}</small>" for t in self.assumptions)
        return (
            f"<table><caption>{html.escape(self.headline())}</caption>"
            f"<tbody>{body}</tbody></table>{notes}"
        )


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _content(value: Any) -> Any:
    """Return what two equal things have in common, as something that can be hashed."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if isinstance(value, Mapping):
        return frozenset((name, _content(item)) for name, item in value.items())
    if isinstance(value, (tuple, list)):
        return tuple(_content(item) for item in value)
    if has(type(value)):
        return type(value), tuple(_content(getattr(value, f.name)) for f in fields(type(value)))
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        return value.shape, value.tobytes()
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _made(value: Any, unit: str) -> Any:
    return value if unit == "1" or isinstance(value, str) else hook("quantity")(value, unit)


def _show(value: Any, unit: str) -> str:
    return str(value) if isinstance(value, str) else str(hook("display")(value, unit))
