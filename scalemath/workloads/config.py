"""Architectures from the config.json that Hugging Face models carry."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalemath.core.errors import ReadError
from scalemath.workloads.transformer import Transformer

Config = Mapping[str, Any]

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_HIDDEN = ("hidden_size", "n_embd", "d_model")
_HEADS = ("num_attention_heads", "n_head", "n_heads")
_FFN = ("intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim")
_EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts")
_PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "num_selected_experts")

_LAYER_NORM = {"gpt2", "mpt", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "starcoder2"}
_PLAIN_BLOCK = {*_LAYER_NORM}
_LEARNED_POSITIONS = {"gpt2", "opt"}
_BIASED = {"gpt2", "gpt_neox", "opt", "bloom", "phi", "starcoder2"}
_QUERY_KEY_NORM = {"qwen3", "qwen3_moe", "gemma3", "gemma3_text", "qwen3_next", "glm4_moe_lite"}
_QUERY_KEY_VALUE_BIAS = {"qwen2", "qwen2_moe"}
_TIED_BY_DEFAULT = {"gpt2", "gemma", "gemma2", "gemma3", "gemma3_text", "mpt", "opt", "bloom"}
_FOUR_NORMS = {"gemma2", "gemma3", "gemma3_text"}


def _load(source: Config | str | os.PathLike[str]) -> tuple[Config, str]:
    """Return the mapping and the name it goes by in messages."""
    if isinstance(source, Mapping):
        return source, "config"
    path = Path(source)
    if path.is_dir():
        path = path / "config.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path}: cannot be opened ({error.strerror})") from None
    except ValueError as error:
        raise ReadError(f"{path}: is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ReadError(f"{path}: expected an object of settings, found {type(found).__name__}")
    return found, str(path)


def _first(config: Config, names: tuple[str, ...], default: Any = None) -> Any:
    """Value under the first of several names that is there and not null."""
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return default


def transformer_from_config(
    source: Config | str | os.PathLike[str], *, name: str = ""
) -> Transformer:
    """Read an architecture from a Hugging Face configuration.

    Parameters
    ----------
    source : mapping, str or path
        The configuration, the path of a config.json, or of the folder that holds one. Of a
        model that also sees images, the text part is read.
    name : str
        Name of the model; by default what the configuration says.

    Returns
    -------
    Transformer
        The architecture; its parameter counts are exact for the families that the reader
        knows (Llama, Mistral, Mixtral, Qwen, DeepSeek, Kimi, gpt-oss, Gemma, GPT-2 and kin).

    Raises
    ------
    ReadError
        Naming the file and the setting that is missing.

    Examples
    --------
    >>> from scalemath.workloads import transformer_from_config
    >>> model = transformer_from_config({
    ...     "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    ...     "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    ...     "vocab_size": 128256})
    >>> print(f"{model.parameters:,}")
    8,030,261,248
    """
    config, where = _load(source)
    kind = str(config.get("model_type", "llama"))
    if isinstance(config.get("text_config"), Mapping):
        config = {**config, **config["text_config"]}
        kind = str(config.get("model_type", kind))

    def need(names: tuple[str, ...], what: str) -> int:
        value = _first(config, names)
        if value is None:
            raise ReadError(f"{where}: no {what}; expected one of {', '.join(names)}")
        if isinstance(value, bool) or not isinstance(value, int):
            raise ReadError(f"{where}: {what} is {value!r}; expected a whole number")
        return value

    hidden, heads = need(_HIDDEN, "hidden size"), need(_HEADS, "number of heads")
    given: dict[str, Any] = {
        "name": name or str(config.get("_name_or_path") or kind),
        "layers": need(_LAYERS, "number of layers"),
        "hidden": hidden,
        "heads": heads,
        "vocabulary": need(("vocab_size",), "vocabulary size"),
        "tied_embeddings": bool(config.get("tie_word_embeddings", kind in _TIED_BY_DEFAULT)),
        "gated": kind not in _PLAIN_BLOCK,
        "norm": "layernorm" if kind in _LAYER_NORM else "rmsnorm",
        "norm_bias": not config.get("no_bias", False),
        "norms_per_layer": 4 if kind in _FOUR_NORMS else 2,
        "qk_norm": bool(config.get("use_qk_norm", kind in _QUERY_KEY_NORM)),
    }
    given.update(_attention(config, kind, hidden, heads))
    given.update(_feed_forward(config, kind, hidden))
    if kind in _LEARNED_POSITIONS:
        given["positions"] = int(_first(config, ("n_positions", "max_position_embeddings"), 0))
    return Transformer(**given)


def _attention(config: Config, kind: str, hidden: int, heads: int) -> dict[str, Any]:
    """Heads, biases, latent attention and windows."""
    biased = kind in _BIASED
    given: dict[str, Any] = {
        "kv_heads": int(
            _first(config, ("num_key_value_heads", "num_kv_heads", "n_head_kv"), heads)
        ),
        "attention_bias": bool(
            config.get("attention_bias", biased or kind in _QUERY_KEY_VALUE_BIAS)
        ),
        "output_bias": bool(config.get("attention_bias", biased)),
        "sinks": kind == "gpt_oss",
    }
    if config.get("kv_lora_rank"):
        given |= {
            "kv_heads": heads,
            "kv_rank": int(config["kv_lora_rank"]),
            "query_rank": int(config.get("q_lora_rank") or 0),
            "rope_size": int(config.get("qk_rope_head_dim", 64)),
            "head_size": int(config.get("qk_nope_head_dim", 128)),
            "value_head_size": int(config.get("v_head_dim", 128)),
        }
    elif config.get("head_dim"):
        given["head_size"] = int(config["head_dim"])
    elif hidden % heads:
        given["head_size"] = hidden // heads
    types = config.get("layer_types")
    if isinstance(types, list) and "sliding_attention" in types:
        given["window"] = int(config.get("sliding_window") or 0)
        given["window_layers"] = types.count("sliding_attention")
    return given


def _feed_forward(config: Config, kind: str, hidden: int) -> dict[str, Any]:
    """Dense block, routed and shared experts."""
    ratio = int(config.get("expansion_ratio", 4))
    experts = int(_first(config, _EXPERTS, 0))
    wide = int(_first(config, _FFN, ratio * hidden))
    biased = bool(config.get("mlp_bias", kind in _BIASED or kind == "gpt_oss"))
    given: dict[str, Any] = {"ffn": wide, "ffn_bias": biased}
    if not experts:
        return given
    width = int(_first(config, ("moe_intermediate_size",), wide))
    shared = int(config.get("n_shared_experts") or 0)
    both = int(config.get("shared_expert_intermediate_size") or 0)
    if both and not shared:
        shared = max(1, both // width)
    given |= {
        "experts": experts,
        "experts_per_token": int(_first(config, _PER_TOKEN, 2)),
        "expert_ffn": width,
        "shared_experts": shared,
        "shared_gate": kind == "qwen2_moe",
        "router_bias": kind == "gpt_oss" or config.get("topk_method") == "noaux_tc",
        "dense_layers": int(config.get("first_k_dense_replace") or 0),
        "expert_node_limit": int(config.get("topk_group") or 0)
        if int(config.get("n_group") or 1) > 1
        else 0,
    }
    if not given["dense_layers"]:
        given["ffn"] = 0
    return given
