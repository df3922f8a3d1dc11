"""TOML in, records out; every mistake is answered with its line."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from scalemath.core.datum import Datum
from scalemath.core.errors import ReadError, ScalemathError
from scalemath.core.wording import offered
from scalemath.records.lines import Path, key_lines
from scalemath.records.record import Record
from scalemath.records.schema import COMMON_FACTS, FAMILIES, Family, Field
from scalemath.units import Q_, adopt, ureg

Source = Mapping[str, str]
_TEXTS = (
    "kind", "scope", "latency_kind", "precision", "accumulate", "sparsity", "fec", "rate_kind",
)  # fmt: skip
_DATUM_KEYS = (
    "value", "low", "high", "printed", "source", "title", "locator", "date", "tier", "note",
    "why", "key", *_TEXTS,
)  # fmt: skip
_SOURCE_KEYS = ("title", "locator", "date", "tier", "note")
_NUMBER = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")
Problem = Callable[[Path, str], None]


def read_records(
    text: str, file: str, known: Mapping[str, Source] | None = None
) -> tuple[list[Record], dict[str, Source]]:
    """Read the entries and sources of one TOML text.

    Parameters
    ----------
    text : str
        TOML with ``[sources.NAME]`` and ``[FAMILY.NAME]`` tables.
    file : str
        Its name, for messages.
    known : mapping, optional
        Sources defined elsewhere.

    Returns
    -------
    tuple
        Records in order, and the sources of this text.

    Raises
    ------
    ReadError
        Naming the line of every mistake and what was expected there.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        line = at[1] if at else str(text.count("\n") + 1)
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise ReadError(f"{file}, line {line}: not TOML: {reason}") from None
    where = key_lines(text)
    mistakes: list[tuple[int, str]] = []

    def problem(path: Path, message: str) -> None:
        place = path
        while place and not any(known[: len(place)] == place for known in where):
            place = place[:-1]
        line = min(n for known, n in where.items() if known[: len(place)] == place)
        name = ".".join(str(part) for part in path)
        mistakes.append((line, f"{file}, line {line}: {name}: {message}"))

    sources = _sources(tree.pop("sources", {}), problem)
    everything = {**(known or {}), **sources}
    records = []
    for family, entries in tree.items():
        if family not in FAMILIES:
            problem(
                (family,),
                f"no family {family!r}; there are {offered(family, [*FAMILIES, 'sources'])}",
            )
            continue
        for name, entry in _tables(entries, (family,), problem):
            records.append(_record(family, name, entry, everything, file, where, problem))
    if mistakes:
        raise ReadError("\n".join(message for _, message in sorted(mistakes)))
    return records, sources


def _tables(tree: Any, path: Path, problem: Problem) -> list[tuple[str, dict[str, Any]]]:
    """Return the sub-tables of a table; anything else in it is a mistake."""
    if not isinstance(tree, dict):
        problem(path, "wanted tables, one for each entry, as in [link.my-link]")
        return []
    found = []
    for name, entry in tree.items():
        if isinstance(entry, dict):
            found.append((name, entry))
        else:
            problem((*path, name), f"wanted a table, as in [{path[0]}.{name}]")
    return found


def _sources(tree: Any, problem: Problem) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for name, entry in _tables(tree, ("sources",), problem):
        for key in entry:
            if key not in _SOURCE_KEYS:
                problem(
                    ("sources", name, key), f"no such key; there are {offered(key, _SOURCE_KEYS)}"
                )
        for key in ("title", "date"):
            if not str(entry.get(key, "")).strip():
                problem(("sources", name), f"a source needs {key}; every number has a source")
        said = {key: str(value) for key, value in entry.items()}
        found[name] = {"title": "?", "date": "?", **said}
    return found


def _record(
    family: str,
    name: str,
    entry: dict[str, Any],
    sources: Mapping[str, Source],
    file: str,
    where: Mapping[Path, int],
    problem: Problem,
) -> Record:
    """Make a record of one table."""
    path: Path = (family, name)
    schema = FAMILIES[family]
    facts: dict[str, Any] = {}
    data: dict[str, Datum] = {}
    for key, value in entry.items():
        if key in (*COMMON_FACTS, *schema.facts):
            facts[key] = value
        elif _field(schema, key) is None:
            allowed = [*schema.fields, *schema.facts, *COMMON_FACTS]
            problem((*path, key), f"{family} has no {key!r}; there are {offered(key, allowed)}")
        else:
            datum = _datum(value, _field(schema, key), sources, (*path, key), problem)
            if datum is not None:
                data[key] = datum
    for key, wanted in schema.fields.items():
        if wanted.required and key not in entry:
            problem(path, f"needs {key}")
    others = _alternatives(facts.pop("alternative", []), schema, data, sources, path, problem)
    title = facts.pop("title", "")
    if not title:
        problem(path, "needs title")
    return Record(
        family=family,
        name=name,
        title=str(title) or name,
        aliases=tuple(facts.pop("aliases", ())),
        data=data,
        alternatives=others,
        facts=facts,
        file=file,
        line=where.get(path, 0),
    )


def _alternatives(
    entries: Any,
    schema: Family,
    data: Mapping[str, Datum],
    sources: Mapping[str, Source],
    path: Path,
    problem: Problem,
) -> dict[str, tuple[Datum, ...]]:
    """Read what other sources say; each says which value it stands beside, and why not."""
    found: dict[str, tuple[Datum, ...]] = {}
    for place, entry in enumerate(entries):
        here = (*path, "alternative", place)
        key = entry.get("key", "")
        if key not in data:
            problem(here, f"stands beside {key!r}, which the entry does not have")
            continue
        if not entry.get("why"):
            problem(here, "needs why: the reason it was not chosen")
        datum = _datum(entry, _field(schema, key), sources, here, problem)
        if datum is not None:
            found[key] = (*found.get(key, ()), datum)
    return found


def _field(schema: Family, key: str) -> Field | None:
    known = schema.fields.get(key)
    if known is None:
        known = next((f for p, f in schema.prefixes.items() if key.startswith(p)), None)
    return known


def _datum(
    entry: Any, wanted: Field | None, sources: Mapping[str, Source], path: Path, problem: Problem
) -> Datum | None:
    """Make a Datum of one inline table; report what is wrong and return None."""
    if wanted is None:
        return None
    if not isinstance(entry, dict) or "value" not in entry:
        problem(path, 'wanted { value = "900 GB/s/dir", source = "..." }')
        return None
    for key in entry:
        if key not in _DATUM_KEYS:
            problem((*path, key), f"a value has no {key!r}; there are {offered(key, _DATUM_KEYS)}")
    source = _source(entry, sources, path, problem)
    try:
        value, unit = _value(entry["value"], wanted)
        ends = {end: _value(entry[end], wanted) for end in ("low", "high") if end in entry}
        for end, (_, end_unit) in ends.items():
            if end_unit != unit:
                problem((*path, end), f"is in {end_unit}, the value is in {unit}; use one unit")
        tier = source.get("tier", "")
        note = entry.get("note", "")
        why = entry.get("why", "")
        datum = Datum(
            value=value,
            unit=unit,
            source=source["title"],
            date=source["date"],
            locator=source.get("locator", ""),
            tier=tier,
            as_printed=entry.get("printed", ""),
            low=ends["low"][0] if "low" in ends else None,
            high=ends["high"][0] if "high" in ends else None,
            note="; ".join(text for text in (note, why) if text),
            **{key: entry[key] for key in _TEXTS if key in entry},
            **({} if "kind" in entry else _kind(tier)),
        )
    except (ScalemathError, KeyError, ValueError, TypeError) as error:
        problem(path, str(error))
        return None
    for name in wanted.said:
        if not getattr(datum, name):
            problem(path, f"must say its {name}")
    return datum


def _kind(tier: str) -> dict[str, str]:
    """Return the kind that follows from the tier: weak sources give estimates."""
    return {"kind": {"T3": "estimate", "derived": "derived"}.get(tier, "spec")}


def _source(
    entry: Mapping[str, Any], sources: Mapping[str, Source], path: Path, problem: Problem
) -> Source:
    """Return the source a value names, or the one written into it."""
    name = entry.get("source", "")
    found: dict[str, str] = dict(sources.get(name, {}))
    if not found and entry.get("title") and entry.get("date"):
        found = {"title": str(entry["title"])}
    elif not found:
        known = f"unknown source {name!r}; there are {offered(name, sources)}"
        problem(path, known if name else "needs a source and a date")
        return {"title": "?", "date": "?"}
    for key in ("locator", "date", "tier"):
        if key in entry:
            found[key] = str(entry[key])
    return found


def _value(given: Any, wanted: Field) -> tuple[float | int, str]:
    """Return magnitude and unit of a value, checked against what the family wants."""
    if wanted.unit in ("count", "share"):
        number = float(Fraction(given)) if isinstance(given, str) else given
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ValueError(f"{given!r} is no plain number")
        if wanted.unit == "count" and not float(number).is_integer():
            raise ValueError(f"{given!r} is no whole number")
        if wanted.unit == "share" and not 0 < number <= 2:
            raise ValueError(f"{given!r} is no share; write for example 0.93")
        return number, "1"
    if not isinstance(given, str):
        raise ValueError(f'{given!r} has no unit; write for example "5 {wanted.unit}"')
    number, _, name = given.partition(" ")
    unit = _unit(name) if _NUMBER.fullmatch(number) else None
    quantity = adopt(given) if unit is None else Q_(float(number), unit)
    allowed = [ureg.Unit(unit).dimensionality for unit in (wanted.unit, wanted.also) if unit]
    if quantity.dimensionality not in allowed:
        hint = ""
        if quantity.dimensionality == ureg.Unit("byte/s").dimensionality:
            hint = f': write "{given}/dir" for one direction or "{given}/bidir" for both'
        raise ValueError(f"{given!r} is not in {wanted.unit}{hint}")
    magnitude: Any = quantity.magnitude
    return magnitude, f"{quantity.units:~P}"


@functools.cache
def _unit(name: str) -> Any:
    """Return a unit by name, None where it cannot be read; pint parses slowly."""
    try:
        return ureg.Unit(name) if name else None
    except Exception:  # the full text is read again, with its own message
        return None
