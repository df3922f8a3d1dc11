"""How the documentation is built: offline, from the installed package, warnings as errors."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import scalemath

project = "scalemath"
author = "the scalemath developers"
copyright = "2026, the scalemath developers"
version = release = scalemath.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are drawn without a network, from files of the build
]
exclude_patterns = ["_build", "_templates", "**.ipynb_checkpoints"]
templates_path = ["_templates"]
# The bibliography also lists works that kernels name in words, not by key.
suppress_warnings = ["ref.citation"]
# Names of other packages cannot be looked up offline; ours must resolve.
nitpick_ignore_regex = [("py:.*", r"(?!scalemath\b).*")]

html_theme = "pydata_sphinx_theme"
html_title = f"scalemath {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_theme_options: dict[str, Any] = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
numpydoc_xref_param_type = False

_TITLES = {
    "units": "Units",
    "core": "Results, ranges and errors",
    "hardware": "Hardware",
    "catalog": "Catalogue",
    "topology": "Topologies and clusters",
    "collectives": "Collectives",
    "scaling": "Scaling",
    "workloads": "Workloads",
    "decisions": "Decisions",
    "readers": "Reading real files",
    "diagnosis": "Diagnosis",
    "claims": "Checking claims",
    "sweeps": "Sweeps",
    "plots": "Pictures",
}


def _room(name: str) -> str:
    """Room in which a public name is defined."""
    module = getattr(getattr(scalemath, name), "__module__", "") or ""
    parts = module.split(".")
    return parts[1] if parts[0] == "scalemath" and len(parts) > 1 else "units"


def write_reference(*_: object) -> None:
    """Write the page of the API reference from the public names, room by room."""
    rooms: dict[str, list[str]] = {}
    for name in sorted(scalemath.__all__):
        if not name.startswith("__") and name not in _rooms_themselves():
            rooms.setdefault(_room(name), []).append(name)
    lines = ["Public names", "============", "", ".. currentmodule:: scalemath", ""]
    for room in [*_TITLES, *sorted(set(rooms) - set(_TITLES))]:
        if room in rooms:
            title = _TITLES.get(room, room.capitalize())
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: names", ""]
            lines += [f"   {name}" for name in rooms[room]] + [""]
    folder = Path(__file__).parent / "api" / "generated"
    folder.mkdir(exist_ok=True)
    page = folder / "public.rst"
    text = "\n".join(lines)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _rooms_themselves() -> set[str]:
    """Public names that are modules or façades rather than functions and classes."""
    return {n for n in scalemath.__all__ if type(getattr(scalemath, n)).__name__ == "module"}


def setup(app: Any) -> None:
    """Register the writer of the reference page, before the pages are listed."""
    import_module("scalemath")
    app.connect("config-inited", write_reference)
