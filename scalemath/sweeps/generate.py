"""Writes the driver module of a sweep: kernels, their wiring, and one loop nest.

The nest is always the same: an odometer over rows, a loop over the fastest wheel, and an
inner loop over the points of a row that the compiler turns into vector instructions.
What differs is what happens to a row: it is stored, folded into lanes (an extreme, a
sum, a first crossing), or computed into a small scratch and handed to a consumer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.program import Wiring, scalar_text
from scalemath.sweeps.source import collect

HEAD = """\
import math
from collections import namedtuple
"""


@frozen
class Fold:
    """What a driver does with a row of points.

    Attributes
    ----------
    arguments : tuple of str
        Extra arguments of the driver after the walk.
    cursors : tuple of str
        Cursors after those of the parameters and of the position, by name.
    before : tuple of str
        Lines once per call.
    row : tuple of str
        Lines once per row, before the points; may use the cursors.
    point : tuple of str
        Lines per point; ``r`` is the tuple of outputs, ``l`` the place in the row.
    after : tuple of str
        Lines once per row, after the points.
    functions : tuple of callable
        Plain functions that these lines call.
    """

    arguments: tuple[str, ...]
    cursors: tuple[str, ...]
    point: tuple[str, ...]
    before: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    functions: tuple[Callable[..., Any], ...] = ()


@frozen
class Text:
    """A driver module ready to be compiled.

    Attributes
    ----------
    source : str
        Its text, without the head that imports the compiler.
    objects : mapping
        Functions without readable source, to be put into the module by name.
    """

    source: str
    objects: Mapping[str, Callable[..., Any]] = field(factory=dict)


def driver_text(
    wiring: Wiring,
    inner: Sequence[bool],
    fold: Fold,
    replacements: Mapping[Callable[..., Any], str],
) -> Text:
    """Write the module of one driver.

    Parameters
    ----------
    wiring : Wiring
        The scalar program.
    inner : sequence of bool
        For every input, then for every choice on an axis, whether it varies within a row.
    fold : Fold
        What happens to a row.
    replacements : mapping
        Faster equal source for some primitives.

    Returns
    -------
    Text
        Source with one entry function ``drive``.
    """
    kernels = list(dict.fromkeys(k.function for k in wiring.kernels()))
    found = collect([*kernels, *fold.functions], dict(replacements))
    parts = [HEAD]
    parts += [f"@scalar\n{t}" if t.startswith("def ") else t for t in found.text]
    parts += [f"{name} = scalar({name})" for name in found.objects]
    parts.append(scalar_text(wiring, found.names))
    parts.append(_drive(wiring, inner, fold))
    return Text("\n\n\n".join(parts) + "\n", found.objects)


def _drive(wiring: Wiring, inner: Sequence[bool], fold: Fold) -> str:
    """Write the loop nest."""
    count = len(wiring.inputs)
    codes = [s for s in wiring.selections if s.mode == "axis"]
    if any(inner[count:]):
        raise ArgumentError("a choice cannot vary along the inner run")
    position = count + len(codes)
    extra = "".join(f", {name}" for name in fold.arguments)
    lines = [
        "@driver",
        f"def drive(first, last, shape, start, strides, tile, length, data{extra}):",
        "    wheels = shape.size",
        "    fastest = shape[wheels - 1]",
        "    cursors = start.size",
        "    index = np.zeros(wheels, dtype=np.int64)",
        "    cursor = start.copy()",
        "    rest = first // fastest",
        "    for wheel in range(wheels - 2, -1, -1):",
        "        index[wheel] = rest % shape[wheel]",
        "        rest //= shape[wheel]",
        "        for c in range(cursors):",
        "            cursor[c] += index[wheel] * strides[c, wheel]",
        *(f"    {line}" for line in fold.before),
        "    row = first",
        "    j_first = first % fastest",
        "    while row < last:",
        "        j_last = min(fastest, j_first + last - row)",
    ]
    names = [*range(position), "p", *fold.cursors]
    for c, name in enumerate(names):
        lines.append(f"        c_{name} = cursor[{c}]; s_{name} = strides[{c}, wheels - 1]")
    lines.append("        for j in range(j_first, j_last):")
    body = ["at_p = c_p + j * s_p", "n = min(tile, length - at_p)"]
    for c in range(count):
        if inner[c]:
            body += [f"at_{c} = c_{c} + j * s_{c}", f"row_{c} = data[at_{c} : at_{c} + n]"]
        else:
            body.append(f"row_{c} = data[c_{c} + j * s_{c}]")
    body += [f"at_{name} = c_{name} + j * s_{name}" for name in fold.cursors]
    body += fold.row
    combinations = wiring.combinations()
    arguments = ", ".join(f"row_{c}[l]" if inner[c] else f"row_{c}" for c in range(count))
    if len(combinations) > 1:
        terms, weight = [], 1
        for c in range(position - 1, count - 1, -1):
            terms.append(f"int(data[c_{c} + j * s_{c}]) * {weight}")
            weight *= len(codes[c - count].names)
        body.append(f"combination = {' + '.join(terms)}")
    for number in range(len(combinations)):
        loop = ["for l in range(n):", f"    r = point_{number}({arguments})"]
        loop += [f"    {line}" for line in fold.point]
        if len(combinations) > 1:
            word = "if" if number == 0 else "elif"
            body.append(f"{word} combination == {number}:")
            loop = [f"    {line}" for line in loop]
        body += loop
    body += fold.after
    lines += [f"            {line}" for line in body]
    lines += [
        "        row += j_last - j_first",
        "        j_first = 0",
        "        wheel = wheels - 2",
        "        while wheel >= 0:",
        "            index[wheel] += 1",
        "            if index[wheel] < shape[wheel]:",
        "                for c in range(cursors):",
        "                    cursor[c] += strides[c, wheel]",
        "                break",
        "            index[wheel] = 0",
        "            for c in range(cursors):",
        "                cursor[c] -= strides[c, wheel] * (shape[wheel] - 1)",
        "            wheel -= 1",
    ]
    return "\n".join(lines)


def store(outputs: int, strided: bool = False) -> Fold:
    """Fold that writes each output to an array.

    Parameters
    ----------
    outputs : int
        How many.
    strided : bool
        Whether neighbours of a row lie apart in memory.

    Returns
    -------
    Fold
        With one flat array and one cursor per output.
    """
    names = [f"out{i}" for i in range(outputs)]
    if strided:
        row = [
            f"line{i} = {name}[at_{name} : at_{name} + (n - 1) * apart + 1 : apart]"
            for i, name in enumerate(names)
        ]
    else:
        row = [f"line{i} = {name}[at_{name} : at_{name} + n]" for i, name in enumerate(names)]
    return Fold(
        arguments=(*names, "apart") if strided else tuple(names),
        cursors=tuple(names),
        row=tuple(row),
        point=tuple(f"line{i}[l] = r[{i}]" for i in range(outputs)),
    )
