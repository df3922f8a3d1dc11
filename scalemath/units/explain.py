"""The sentences that answer a wrong unit: what was given, what is wanted, how to write it."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ConventionError, UnitsError


class DirectionError(UnitsError, ConventionError):
    """A bare rate met one that says per direction or both directions."""


_ADVICE = {
    "KB": "write kB for 1000 byte or KiB for 1024 byte",
    "Kb": "write kb (or kbit) for 1000 bit or Kib for 1024 bit",
    "KBps": "write kB/s for 1000 byte/s or KiB/s for 1024 byte/s",
    "Kbps": "write kbit/s for 1000 bit/s or Kibit/s for 1024 bit/s",
    "K": "write kelvin for a temperature, or spell the count out, as in 4000",
    "k": "spell the number out: 4000, or 4e3",
    "M": "say of what: MB (byte), Mb (bit), or spell the number out, as in 8e6",
    "G": "say of what: a 400G port is '400 Gb/s'; memory is 'GB' or 'GiB'; a count is 8e9",
    "T": "say of what: 'Tb/s' (bit), 'TB/s' (byte) or, for a count, 2e12",
    "P": "say of what: PFLOP/s, PB, or a number such as 1e15",
    "flops": "write FLOP for a count of operations, FLOP/s (or FLOPS) for a rate",
    "FLOPs": "write FLOP for a count of operations, FLOP/s (or FLOPS) for a rate",
    "FPS": "write FLOP/s",
    "tps": "write token/s or transfer/s",
    "qps": "write request/s",
    "QPS": "write request/s",
    "gilbert": "in pint's own registry Gb is gilbert, a unit of magnetomotive force: "
    "write Gbit/s there, or Q_('... Gb/s') with scalemath's Q_",
    "barn": "in pint's own registry Tb, Mb and kb are barns, an area: write Tbit/s, Mbit/s, "
    "kbit/s there, or use scalemath's Q_",
    "tesla": "in pint's own registry GT is gigatesla: use scalemath's Q_('... GT/s')",
    "gauss": "in pint's own registry G is gauss: say Gbit/s or GB/s",
    "baud": "in pint's own registry bps is read as baud: write bit/s there, or use scalemath's Q_",
    "point": "in pint's own registry pps is read as points, a length: use scalemath's Q_",
    "bel": "write the ratio as a plain number",
}


def spelling(name: str, read_as: str = "") -> str:
    """Sentence for a unit name that is unknown, or that means less than one bit."""
    if read_as:
        advice = _capital(name)
        return f"{name!r} reads as {read_as}, which nobody means: {advice}"
    advice = _ADVICE.get(name) or _guess(name)
    return f"{name!r} is not a unit of scalemath: {advice}"


def _capital(name: str) -> str:
    """Advice for a prefix below one: mb, mB, mB."""
    unit = name[1:]
    return f"write M{unit} for mega, or name a unit of at least one {unit}"


def _guess(name: str) -> str:
    """Advice for the common ways of writing a rate or a size wrongly."""
    if name.startswith(("gilbert", "kilobarn", "megabarn", "terabarn", "gigabarn", "gibibarn")):
        return _ADVICE["gilbert" if "gilbert" in name else "barn"]
    if name.startswith(("gigatesla", "megatesla")):
        return _ADVICE["tesla"]
    if name[:-1] in ("Gb", "GB", "Mb", "MB", "Tb", "TB", "kb", "kB") and name.endswith("s"):
        return f"write {name[:-1]}/s for a rate, {name[:-1]} for an amount"
    if name.lower() in ("gflops", "tflops", "pflops", "eflops", "mflops"):
        return f"write {name[:1].upper()}FLOP/s for a rate, {name[:1].upper()}FLOP for a count"
    if name.lower().endswith(("byte", "bytes")):
        return f"write {name[:1].upper()}B, as in GB, or a small b, as in gigabyte"
    fixed = name[:1].upper() + name[1:]
    if name[:1] in "gtkmp" and fixed[1:] in ("b", "B", "bps", "Bps", "bit", "byte", "flops"):
        mean = name[:1] + name[1:] if name[:1] == "k" else fixed
        return f"prefixes are case-sensitive; write {mean} (b is bit, B is byte)"
    if name.lower() in ("gbit", "mbit", "tbit", "kbit"):
        return f"write {fixed[0]}bit"
    if name.lower() in ("gpu", "gpus", "node", "nodes", "rank", "ranks", "lane", "lanes", "port"):
        return "counts are plain integers, as in ranks=72"
    return "write for example GB, GiB, Gbit/s, GB/s/dir, us, W, pJ/bit, PFLOP/s, token/s"


def foreign(name: str) -> str:
    """Sentence for a unit of another registry that ours does not know."""
    stem = name
    for prefix in ("giga", "tera", "mega", "kilo", "gibi", "mebi", "kibi", "peta"):
        stem = stem.removeprefix(prefix)
    advice = _ADVICE.get(stem)
    if advice:
        return f"the quantity given is in {name}: {advice}"
    return (
        f"the quantity given is in {name}, a unit of another registry that scalemath does not "
        "have; convert it first, or write it with scalemath's Q_"
    )


def mismatch(verb: str, left: Any, right: Any, error: Any) -> UnitsError:
    """Return the error for two things whose dimensions do not agree."""
    ours = getattr(left, "dimensionality", None)
    theirs = getattr(right, "dimensionality", None)
    if theirs is None and isinstance(right, str):
        theirs = getattr(error, "dim2", None)
    joined = {"convert": f"convert {left} to {right}"}.get(verb, f"{verb} {left} and {right}")
    hint = _hint(ours, theirs, right)
    kind = DirectionError if "direction" in hint else UnitsError
    return kind(f"cannot {joined}: {_named(ours)} is not {_named(theirs)}{hint}")


def _named(dimension: Any) -> str:
    text = str(dimension) if dimension is not None else "a bare number"
    return "a bare number" if text == "dimensionless" else text


def _hint(ours: Any, theirs: Any, right: Any) -> str:
    directed = ["[direction]" in str(side) for side in (ours, theirs)]
    if directed[0] != directed[1]:
        return (
            "; one is per direction and the other does not say: write GB/s/dir for one direction "
            "or GB/s/bidir for the sum of both"
        )
    if not isinstance(right, str) and not hasattr(right, "dimensionality"):
        return "; give the number a unit"
    text = f"{ours} {theirs}"
    if "[token]" in text and "[request]" in text:
        return "; say how many tokens a request has, as in 200 token/request"
    return ""
