"""The inverse question and the tables: which cards would do, what fits where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scalemath import catalog
from scalemath.core.errors import ScalemathError
from scalemath.decisions.fitting import Fit, fit
from scalemath.decisions.subjects import box
from scalemath.decisions.workload import Workload
from scalemath.hardware.node import Node
from scalemath.records.table import Table

MODELS = (7e9, 8e9, 13e9, 14e9, 32e9, 70e9, 72e9, 123e9, 235e9, 405e9, 671e9, 1000e9)


def which_cards(
    model: Any,
    workload: Any = "inference",
    *,
    count: int = 8,
    headroom: float = 0.3,
    kv_per_token: Any = None,
) -> tuple[Fit, ...]:
    """Return the accelerators of the catalogue of which a number would hold a workload.

    Parameters
    ----------
    model : str, Transformer or float
        The model.
    workload : str or Workload
        What it is wanted for.
    count : int
        Accelerators [count].
    headroom : float
        Share of the memory to keep free of weights or state [1].
    kv_per_token : Quantity [byte]
        Cache of a token at 16 bit, for a model given by its number.

    Returns
    -------
    tuple of Fit
        Those that fit by the rule and by the real need, the smallest memory first.
    """
    found = []
    for name in catalog.table("accelerator").column("name"):
        card = catalog.accelerator(name)
        if card.memory is None or card.status != "shipped":
            continue
        node = Node(accelerators=count, accelerator=card, name=f"{count} x {name}")
        try:
            one = fit(model, node, workload, headroom=headroom, kv_per_token=kv_per_token)
        except ScalemathError as error:
            if name in str(error):  # a card without the precision is no answer
                continue
            raise
        if one.fits and one.really_fits:
            found.append(one)
    return tuple(sorted(found, key=lambda one: one.sold))


def fit_table(
    node: Any,
    models: Sequence[Any] = MODELS,
    precisions: Sequence[str] = ("fp16", "fp8", "int4"),
) -> Table:
    """Return weights, share and class of models at precisions on a node.

    Parameters
    ----------
    node : str, Node or Rack
        The node.
    models : sequence
        Names, architectures or numbers of parameters.
    precisions : sequence of str
        Data types of the weights.

    Returns
    -------
    Table
        One row for each model.
    """
    machine = box(node)
    rows = []
    for model in models:
        cells = []
        name = ""
        for precision in precisions:
            one = fit(model, machine, Workload(precision=precision, weight_only=True))
            name = one.model.name
            cells += [f"{one.held.m_as('GB'):.6g}", f"{100 * one.share:.4g} % {one.letter}"]
        rows.append((name, *cells))
    heads = [text for p in precisions for text in (f"{p} GB", f"{p} share")]
    sold = machine.memory.m_as("GB")
    title = f"{machine.name}, {sold:.6g} GB as sold"
    return Table(title=title, columns=("model", *heads), rows=tuple(rows))
