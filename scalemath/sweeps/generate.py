"""Writes the driver module of a sweep: kernels, their wiring, and one loop nest.

The nest is always the same: an odometer over rows, a loop over the fastest wheel, and an
inner loop over the points of a row that the compiler turns into vector instructions.
What differs is what happens to a row: it is stored, folded into lanes (an extreme, a
sum, a first crossing), or computed into a small scratch and handed to a consumer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.sweeps import consumers
from scalemath.sweeps.around import is_library
from scalemath.sweeps.program import Wiring, scalar_text
from scalemath.sweeps.source import APART, Collected, collect

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
    finish : tuple of str
        Lines once per call, after all rows.
    functions : tuple of callable
        Plain functions that these lines call.
    """

    arguments: tuple[str, ...]
    cursors: tuple[str, ...]
    point: tuple[str, ...]
    before: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    finish: tuple[str, ...] = ()
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
    parts += definitions(found)
    parts.append(scalar_text(wiring, found.names))
    parts.append(_drive(wiring, inner, fold))
    return Text("\n\n\n".join(parts) + "\n", found.objects)


def search_text(wiring: Wiring, sign: int, replacements: Mapping[Callable[..., Any], str]) -> Text:
    """Write the module of a branch and bound search for the least values.

    Parameters
    ----------
    wiring : Wiring
        Program with one output.
    sign : int
        -1 searches for the largest values.
    replacements : mapping
        Faster equal source for some primitives.

    Returns
    -------
    Text
        Source with one entry function ``drive``.
    """
    free = evolve(wiring, where=None, derived=tuple((n, f, False) for n, f, _ in wiring.derived))
    kernels = list(dict.fromkeys(k.function for k in wiring.kernels()))
    found = collect([*kernels, consumers.insert_least], dict(replacements))
    parts = [HEAD]
    parts += definitions(found)
    parts.append(scalar_text(wiring, found.names))
    parts.append(scalar_text(free, found.names, "free_"))
    count = len(wiring.inputs)
    codes = [s for s in wiring.selections if s.mode == "axis"]
    inputs = [f"data[starts[{c}] + index[axis_of[{c}]]]" for c in range(count + len(codes))]
    terms, weight = ["0"], 1
    for c in range(count + len(codes) - 1, count - 1, -1):
        terms.append(f"int({inputs[c]}) * {weight}")
        weight *= len(codes[c - count].names)
    for kind in ("", "free_"):
        lines = [
            f"@scalar\ndef {kind}value(index, axis_of, starts, data):",
            f"    combination = {' + '.join(terms)}",
        ]
        for number in range(len(wiring.combinations())):
            lines.append(f"    if combination == {number}:")
            call = f"{kind}point_{number}({', '.join(inputs[:count])})[0]"
            lines.append(f"        return {'-' if sign < 0 else ''}{call}")
        lines.append("    return math.nan")
        parts.append("\n".join(lines))
    parts.append(_SEARCH)
    return Text("\n\n\n".join(parts) + "\n", found.objects)


_SEARCH = """\
@driver
def drive(budget, last, lengths, directed, axis_of, starts, data, place_starts, place_data,
          order, bounds, stack, state, slack, best, places):
    axes = lengths.size - 1
    index = np.zeros(axes + 1, dtype=np.int64)
    if state[3] == 0:  # first pass: the best corner of every combination
        for combination in range(budget, last):
            rest = combination
            for a in range(axes - 1, directed - 1, -1):
                index[a] = rest % lengths[a]
                rest //= lengths[a]
            bounds[combination] = free_value(index, axis_of, starts, data)
        return
    while state[0] < last and state[2] < budget:
        combination = order[state[0]]
        rest = combination
        for a in range(axes - 1, directed - 1, -1):
            index[a] = rest % lengths[a]
            rest //= lengths[a]
        base = 0
        for a in range(directed, axes):
            base += place_data[place_starts[a] + index[a]]
        if state[1] == 0:
            bound = bounds[combination]
            if bound == math.inf or bound > best[0] + slack * abs(best[0]):
                state[0] += 1
                continue
            for a in range(directed):
                stack[0, a] = 0
                stack[0, directed + a] = lengths[a]
            state[1] = 1
        while state[1] > 0 and state[2] < budget:
            top = state[1] - 1
            widest, width, points = 0, 0, 1
            for a in range(directed):
                long = stack[top, directed + a] - stack[top, a]
                index[a] = stack[top, a]
                points *= min(long, 64)
                if long > width:
                    widest, width = a, long
            state[2] += 1
            bound = free_value(index, axis_of, starts, data)
            if bound == math.inf or bound > best[0] + slack * abs(best[0]):
                state[1] = top
                continue
            if points <= 4:
                state[1] = top
                while True:
                    state[2] += 1
                    place = base
                    for a in range(directed):
                        place += place_data[place_starts[a] + index[a]]
                    insert_least(value(index, axis_of, starts, data), place, best, places)
                    a = directed - 1
                    while a >= 0:
                        index[a] += 1
                        if index[a] < stack[top, directed + a]:
                            break
                        index[a] = stack[top, a]
                        a -= 1
                    if a < 0:
                        break
                continue
            # the half with the better corner is looked at first
            half = stack[top, widest] + width // 2
            for a in range(2 * directed):
                stack[top + 1, a] = stack[top, a]
            stack[top, widest] = half
            stack[top + 1, directed + widest] = half
            state[1] = top + 2
        if state[1] == 0:
            state[0] += 1
"""


def definitions(found: Collected) -> list[str]:
    """Definitions under their decorators: kernels are inlined, consumers of rows called.

    Functions of users keep the arithmetic of the single call: their conditions and differences may
    hang on a last digit.
    """
    apart = {n for f, n in found.names.items() if f.__module__ in APART}
    own = {n for f, n in found.names.items() if not is_library(f)}
    parts = []
    for text in found.text:
        name = text.removeprefix("def ").partition("(")[0]
        word = "@helper\n" if name in apart else "@exact\n" if name in own else "@scalar\n"
        parts.append(word + text if text.startswith("def ") else text)
    return parts + [f"{name} = relink({name}, exact)" for name in found.objects]


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
        *(f"    {line}" for line in fold.finish),
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
        With one flat array and one cursor per output, and a word on how memory is written:
        past the caches where ``streamed`` (neighbours only), else by way of them.
    """
    names = [f"out{i}" for i in range(outputs)]
    point = tuple(f"line{i}[l] = r[{i}]" for i in range(outputs))
    if strided:
        return Fold(
            arguments=(*names, "apart"),
            cursors=tuple(names),
            row=tuple(
                f"line{i} = {name}[at_{name} : at_{name} + (n - 1) * apart + 1 : apart]"
                for i, name in enumerate(names)
            ),
            point=point,
        )
    return Fold(
        arguments=(*names, "streamed"),
        cursors=tuple(names),
        before=tuple(
            f"scratch{i} = np.empty(tile if streamed else 1, {name}.dtype)"
            for i, name in enumerate(names)
        ),
        row=tuple(
            f"line{i} = scratch{i} if streamed else {name}[at_{name} : at_{name} + n]"
            for i, name in enumerate(names)
        ),
        point=point,
        after=tuple(
            f"if streamed: stream_row(scratch{i}, n, {name}, at_{name})"
            for i, name in enumerate(names)
        ),
        finish=("if streamed: settle()",),
    )
