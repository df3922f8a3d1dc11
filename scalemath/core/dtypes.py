"""Data types of tensors and the bits one element takes, block scales included."""

from __future__ import annotations

from attrs import frozen

from scalemath.core.errors import ArgumentError


@frozen
class DataType:
    """A number format as it lies in memory.

    Attributes
    ----------
    name : str
        Canonical name.
    bits : float
        Bits of one element.
    block : float
        Elements that share one scale; 0 when there is none.
    scale_bits : float
        Bits of the scales of one block.
    source : str
        Where the format is defined.
    """

    name: str
    bits: float
    block: float = 0.0
    scale_bits: float = 0.0
    source: str = "IEEE 754-2019"

    @property
    def bits_per_element(self) -> float:
        """Bits of an element with its share of the block scale."""
        if not self.block:
            return self.bits
        return self.bits + self.scale_bits / self.block

    @property
    def bytes_per_element(self) -> float:
        """Bytes of an element with its share of the block scale."""
        return self.bits_per_element / 8.0


_OCP8 = "OCP 8-bit Floating Point Specification 1.0 (2023)"
_OCP_MX = "OCP Microscaling Formats (MX) Specification 1.0 (2023)"
_QLORA = "Dettmers et al., QLoRA, NeurIPS 2023, section 3"

_TYPES = (
    DataType("fp64", 64),
    DataType("fp32", 32),
    DataType("tf32", 32, source="NVIDIA A100 white paper (2020): 19 bits kept in a 32-bit word"),
    DataType("fp16", 16),
    DataType("bf16", 16, source="Kalamkar et al., arXiv 1905.12322"),
    DataType("fp8_e4m3", 8, source=_OCP8),
    DataType("fp8_e5m2", 8, source=_OCP8),
    DataType("fp8", 8, source=_OCP8),
    DataType("mxfp8", 8, 32, 8, source=_OCP_MX),
    DataType("mxfp6", 6, 32, 8, source=_OCP_MX),
    DataType("mxfp4", 4, 32, 8, source=_OCP_MX),
    DataType("nvfp4", 4, 16, 8, source="NVIDIA, NVFP4: 16 elements share one E4M3 scale (2025)"),
    DataType("fp4", 4, source=_OCP_MX + ", element format E2M1 without its scales"),
    # 64 elements share an 8-bit scale, 256 such scales share an fp32 one.
    DataType("nf4", 4, 64 * 256, 256 * 8 + 32, source=_QLORA),
    DataType("int64", 64, source="two's complement"),
    DataType("int32", 32, source="two's complement"),
    DataType("int16", 16, source="two's complement"),
    DataType("int8", 8, source="two's complement"),
    DataType("int4", 4, source="two's complement, two values a byte, without scales"),
    DataType("int2", 2, source="two's complement, four values a byte, without scales"),
    DataType("bool", 8, source="one byte in every tensor library"),
)

DATA_TYPES: dict[str, DataType] = {data_type.name: data_type for data_type in _TYPES}

_ALIASES = {
    "float64": "fp64",
    "double": "fp64",
    "float32": "fp32",
    "float": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float8": "fp8",
    "float8_e4m3": "fp8_e4m3",
    "float8_e4m3fn": "fp8_e4m3",
    "e4m3": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "e5m2": "fp8_e5m2",
    "float4": "fp4",
    "e2m1": "fp4",
    "uint8": "int8",
    "uint16": "int16",
    "uint32": "int32",
    "uint64": "int64",
    "uint4": "int4",
}


def data_type(name: str | DataType) -> DataType:
    """Return the data type of that name.

    Parameters
    ----------
    name : str or DataType
        Canonical name, or a spelling used by tensor libraries such as "torch.bfloat16".

    Returns
    -------
    DataType
        The format.

    Raises
    ------
    ArgumentError
        When the name is unknown; lists the known ones.
    """
    if isinstance(name, DataType):
        return name
    key = str(name).lower().removeprefix("torch.").removeprefix("jnp.").replace("-", "_")
    found = DATA_TYPES.get(_ALIASES.get(key, key))
    if found is None:
        raise ArgumentError(
            f"data type {name!r} is not known; write one of {', '.join(DATA_TYPES)}"
        )
    return found
