"""What training keeps for each parameter, by the name of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attrs import frozen

from scalemath.core.errors import RangeError
from scalemath.kernels.memory import optimizer_bytes
from scalemath.workloads.transformer import Transformer

BLOCK = 2048.0
"""Elements that share one 4-byte scale in 8-bit optimizer states."""
_EIGHT_BIT = 1.0 + 4.0 / BLOCK


@frozen(kw_only=True)
class Recipe:
    """Bytes that training keeps for each parameter.

    Attributes
    ----------
    name : str
        How it is called.
    weights, gradients, master : float
        Bytes per parameter of the weights the products use, of the gradients (both copies where
        there are two) and of a separate master copy [byte].
    matrix_states, other_states : float
        Bytes per element of optimizer states of hidden matrices and of everything else [byte].
    factored : float
        Bytes per row and per column of every matrix, for factored second moments [byte].
    source : str
        Where it is described.
    """

    name: str
    weights: float
    gradients: float
    master: float
    matrix_states: float
    other_states: float
    factored: float = 0.0
    source: str

    @property
    def plain(self) -> bool:
        """Whether every parameter costs the same."""
        return self.matrix_states == self.other_states and not self.factored

    @property
    def bytes_per_parameter(self) -> float:
        """Bytes of one parameter of a hidden matrix, factors left out."""
        return self.weights + self.gradients + self.master + self.matrix_states


_MICIKEVICIUS = "Micikevicius et al., Mixed Precision Training, ICLR 2018, section 3"
_ZERO = "Rajbhandari et al., ZeRO, SC20 (arXiv 1910.02054), section 3.1"
_ADAM = "Kingma, Ba, Adam, ICLR 2015; moments in fp32; "

_RECIPES = (
    Recipe(name="adam-12", weights=2, gradients=2, master=0, matrix_states=8, other_states=8,
           source=_ADAM + "16-bit weights without a master copy"),
    Recipe(name="adam-16", weights=2, gradients=2, master=4, matrix_states=8, other_states=8,
           source=_ADAM + _ZERO),
    Recipe(name="adam-18", weights=2, gradients=4, master=4, matrix_states=8, other_states=8,
           source=_ADAM + "Megatron-LM, gradients summed in fp32"),
    Recipe(name="adam-20", weights=2, gradients=6, master=4, matrix_states=8, other_states=8,
           source=_ADAM + "16-bit gradients beside an fp32 sum of them"),
    Recipe(name="adam-fp32", weights=4, gradients=4, master=0, matrix_states=8, other_states=8,
           source=_ADAM + "fp32 weights, cast to 16 bit when gathered (PyTorch FSDP)"),
    Recipe(name="adam-8bit", weights=2, gradients=2, master=4, matrix_states=2 * _EIGHT_BIT,
           other_states=2 * _EIGHT_BIT,
           source="Dettmers et al., 8-bit Optimizers, ICLR 2022, blocks of 2048"),
    Recipe(name="adafactor", weights=2, gradients=2, master=4, matrix_states=0, other_states=4,
           factored=4, source="Shazeer, Stern, Adafactor, ICML 2018, without first moment"),
    Recipe(name="muon", weights=2, gradients=2, master=4, matrix_states=4, other_states=8,
           source="Jordan, Muon (2024): one fp32 momentum for hidden matrices, Adam for the rest"),
    Recipe(name="sgd", weights=2, gradients=2, master=4, matrix_states=0, other_states=0,
           source=_MICIKEVICIUS),
    Recipe(name="sgd-momentum", weights=2, gradients=2, master=4, matrix_states=4, other_states=4,
           source=_MICIKEVICIUS + ", momentum in fp32"),
)  # fmt: skip

RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in _RECIPES}
_ALIASES = {
    "adam": "adam-18",
    "adamw": "adam-18",
    "12": "adam-12",
    "16": "adam-16",
    "18": "adam-18",
    "20": "adam-20",
    "8-bit adam": "adam-8bit",
    "adam8bit": "adam-8bit",
}


def recipe(name: str | Recipe) -> Recipe:
    """Return the recipe of that name.

    Parameters
    ----------
    name : str or Recipe
        Such as "adam-16", "adam-8bit", "adafactor", "muon" or "sgd".

    Returns
    -------
    Recipe
        Bytes per parameter by what they are for.
    """
    if isinstance(name, Recipe):
        return name
    key = str(name).lower()
    found = RECIPES.get(_ALIASES.get(key, key))
    if found is None:
        raise RangeError(f"recipe {name!r} is not known; write one of {', '.join(RECIPES)}")
    return found


class Tensor(NamedTuple):
    """Parameters of one kind: `copies` matrices of rows times columns; a vector has one row."""

    name: str
    group: str
    rows: int
    columns: int
    copies: int = 1

    @property
    def elements(self) -> int:
        """Elements of all copies."""
        return self.rows * self.columns * self.copies


GROUPS = ("embedding", "attention", "feed-forward", "experts", "router", "vectors", "output")


def parameter_tensors(model: Transformer) -> tuple[Tensor, ...]:
    """List every parameter of a model by kind, matrices with their shape.

    Parameters
    ----------
    model : Transformer
        Architecture.

    Returns
    -------
    tuple of Tensor
        Kinds; their elements sum to `model.parameters`.
    """
    layers, hidden = model.layers, model.hidden
    found = [Tensor("token embedding", "embedding", model.vocabulary, hidden)]
    if model.positions:
        found.append(Tensor("position embedding", "embedding", model.positions, hidden))
    found += _attention(model)
    if model.plain_layers:
        found += _block(model, "feed-forward", model.ffn, model.plain_layers)
    if model.expert_layers:
        found.append(Tensor("router", "router", model.experts, hidden, model.expert_layers))
        routed = model.expert_layers * model.experts
        found += _block(model, "experts", model.expert_ffn, routed)
        if model.shared_experts:
            width = model.expert_ffn * model.shared_experts
            found += _block(model, "feed-forward", width, model.expert_layers)
        extra = model.router_bias * model.experts + model.shared_gate * hidden
        if extra:
            found.append(Tensor("router vectors", "vectors", 1, extra, model.expert_layers))
    found.append(Tensor("layer vectors", "vectors", 1, model.vector_parameters, layers))
    found.append(Tensor("last norm", "vectors", 1, model.final_norm_parameters))
    if not model.tied_embeddings:
        found.append(Tensor("output layer", "output", model.vocabulary, hidden))
    return tuple(found)


def _attention(model: Transformer) -> list[Tensor]:
    layers, hidden = model.layers, model.hidden
    if model.latent:
        return [
            Tensor(gemm.name, "attention", gemm.columns, gemm.inner, layers)
            for gemm in model.attention_gemms()
        ]
    keys, values = model.kv_heads * model.head_size, model.kv_heads * model.value_head_size
    outputs = model.heads * model.value_head_size
    return [
        Tensor("query", "attention", model.heads * model.head_size, hidden, layers),
        Tensor("key", "attention", keys, hidden, layers),
        Tensor("value", "attention", values, hidden, layers),
        Tensor("attention output", "attention", hidden, outputs, layers),
    ]


def _block(model: Transformer, group: str, width: int, copies: int) -> list[Tensor]:
    ups = 2 if model.gated else 1
    found = [
        Tensor(f"{group} up", group, width, model.hidden, ups * copies),
        Tensor(f"{group} down", group, model.hidden, width, copies),
    ]
    bias = model.ffn_parameters(width) - sum(tensor.elements for tensor in found) // copies
    if bias:
        found.append(Tensor(f"{group} bias", "vectors", 1, bias, copies))
    return found


def parameters_by_group(model: Transformer) -> dict[str, int]:
    """Return how many parameters each group of tensors has.

    Parameters
    ----------
    model : Transformer
        Architecture.

    Returns
    -------
    dict of str to int
        Group to parameters; they sum to `model.parameters`.
    """
    found = dict.fromkeys(GROUPS, 0)
    for tensor in parameter_tensors(model):
        found[tensor.group] += tensor.elements
    return {group: count for group, count in found.items() if count}


def state_bytes_per_parameter(model: Transformer, kept: Recipe) -> float:
    """Return mean bytes of optimizer states per parameter of a model, master copy left out."""
    if kept.plain:
        return kept.matrix_states
    tensors = parameter_tensors(model)
    matrices = [t for t in tensors if t.rows > 1]
    if not kept.factored:  # embeddings and output layer are not hidden matrices
        matrices = [t for t in matrices if t.group not in ("embedding", "output")]
    inside = float(sum(t.elements for t in matrices))
    factors = float(sum((t.rows + t.columns) * t.copies for t in matrices))
    others = float(model.parameters) - inside
    whole = optimizer_bytes(
        inside, others, factors, kept.matrix_states, kept.other_states, kept.factored
    )
    return whole / model.parameters
