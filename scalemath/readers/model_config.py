"""Reader of the config.json of Hugging Face models."""

from __future__ import annotations

import json
from typing import Any

from scalemath.core.errors import ReadError, ScalemathError
from scalemath.readers.text import Text, text_of
from scalemath.workloads.config import transformer_from_config
from scalemath.workloads.transformer import Transformer

MOST_BYTES = 16 * 2**20
_SIGNS = ("hidden_size", "n_embd", "d_model", "num_hidden_layers", "n_layer", "model_type")


def looks_like(text: Text) -> bool:
    """Whether the text is a JSON object with settings of a model."""
    head = text.content[:200].lstrip("\ufeff \t\n")
    return head.startswith("{") and any(f'"{sign}"' in text.content for sign in _SIGNS)


def model_config(source: Any) -> Transformer:
    """Read the config.json of a model.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    Transformer
        The architecture.

    Raises
    ------
    ReadError
        When it is no JSON, too large or too deep, or a setting is missing or out of range.
    """
    text = text_of(source)
    if len(text.content) > MOST_BYTES:
        text.refuse(0, f"expected at most {MOST_BYTES} characters of JSON")
    try:
        settings = json.loads(text.content.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        text.refuse(error.lineno, f"expected JSON, {error.msg}")
    except (ValueError, RecursionError):
        text.refuse(1, "expected JSON of moderate depth and numbers")
    if not isinstance(settings, dict):
        text.refuse(1, "expected an object of settings")
    try:
        return transformer_from_config(settings)
    except ReadError as error:
        raise ReadError(f"{text.name}: {error}") from None
    except (ScalemathError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        text.refuse(1, f"expected settings of a transformer: {str(error)[:200]}")
