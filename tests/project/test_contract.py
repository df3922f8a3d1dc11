"""Over every public function: docstring, signature and declared units say the same."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from helpers import docstrings

import scalemath as sm


def functions() -> dict[str, Any]:
    found = {name: getattr(sm, name) for name in sm.__all__}
    return {n: f for n, f in found.items() if inspect.isfunction(f)}


def behind_the_boundary() -> dict[str, Any]:
    return {n: f for n, f in functions().items() if getattr(f, "parameters", None)}


def signature_names(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", sorted(functions()))
def test_docstring_names_the_parameters_of_the_signature(name: str) -> None:
    function = functions()[name]
    documented = list(docstrings.parameters(function))
    assert documented == signature_names(function)


@pytest.mark.parametrize("name", sorted(behind_the_boundary()))
def test_declared_parameters_are_in_the_signature(name: str) -> None:
    function = behind_the_boundary()[name]
    declared = [p.name for p in function.parameters]
    assert set(declared) <= set(signature_names(function))


@pytest.mark.parametrize("name", sorted(behind_the_boundary()))
def test_docstring_shows_the_declared_unit(name: str) -> None:
    function = behind_the_boundary()[name]
    texts = docstrings.parameters(function)
    wrong = []
    for parameter in function.parameters:
        shown = docstrings.units(texts.get(parameter.name, ""))
        if parameter.kind in {"quantity", "rate"}:
            unit = parameter.unit
            if not any(s == unit or s.startswith((f"{unit} ", f"{unit}/dir")) for s in shown):
                wrong.append(f"{parameter.name}: declared [{unit}], docstring shows {shown}")
        elif parameter.kind in {"count", "number"} and not {"1", "count"} >= set(shown):
            wrong.append(f"{parameter.name}: declared a {parameter.kind}, docstring shows {shown}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(functions()))
def test_docstring_has_a_summary_and_says_what_comes_back(name: str) -> None:
    function = functions()[name]
    text = inspect.getdoc(function) or ""
    assert text.splitlines()[0].endswith(".")
    assert "Returns" in docstrings.sections(function)


@pytest.mark.parametrize("name", sorted(behind_the_boundary()))
def test_kernels_name_source_and_formula(name: str) -> None:
    for step in behind_the_boundary()[name].model.steps:
        for kernel in step.kernels.values():
            assert kernel.source, kernel.name
            assert kernel.formula, kernel.name
