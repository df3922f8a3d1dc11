"""Memory a runtime takes beside tensors: each part measured somewhere, with its source."""

from __future__ import annotations

from collections.abc import Mapping

from scalemath.core.datum import Datum

_CONTEXT = Datum(
    value=555,
    unit="MiB",
    source="ggml-org/llama.cpp, pull request 23604: RTX PRO 6000 with and without a context",
    date="2026-05-24",
    kind="measured",
    scope="GPU",
    note="grows with the processors of a device: 107 MiB on an RTX 4060 Ti",
)
_COLLECTIVES = Datum(
    value=0.3828125,
    unit="GiB",
    source="aiconfigurator 0.12.0, H200, eight ranks",
    date="2026",
    kind="estimate",
    scope="GPU",
    note="buffers of NCCL; none on a single device",
)
_GRAPHS = Datum(
    value=0.46,
    unit="GiB",
    source="vllm-project/vllm, issue 57475: graph capture of a 27B model",
    date="2026-09-18",
    kind="measured",
    scope="GPU",
    note="0.13 GiB were seen on small models, 2.4 GiB with many batch sizes",
)

SERVING_OVERHEAD: Mapping[str, Datum] = {
    "device context": _CONTEXT,
    "collective buffers": _COLLECTIVES,
    "captured graphs": _GRAPHS,
}
TRAINING_OVERHEAD: Mapping[str, Datum] = {
    "device context": _CONTEXT,
    "collective buffers": _COLLECTIVES,
}
NO_OVERHEAD: Mapping[str, Datum] = {}
