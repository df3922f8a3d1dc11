"""What an entry of each family may hold: keys, units and the conventions that must be said."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Field:
    """One value of a family.

    Attributes
    ----------
    unit : str
        A unit of the dimension wanted; "count" or "share" for plain numbers.
    required : bool
        Whether every entry needs it.
    said : tuple of str
        Conventions of the `Datum` that must be stated.
    also : str
        Another unit that is allowed, such as "transfer/s" beside "bit/s/dir".
    """

    unit: str
    required: bool = False
    said: tuple[str, ...] = ()
    also: str = ""


@frozen
class Family:
    """A family of entries.

    Attributes
    ----------
    title : str
        Name for people, plural.
    fields : dict of str to Field
        Values with sources.
    facts : tuple of str
        Keys of plain words and numbers beside title, aliases, status and note.
    prefixes : dict of str to Field
        Values whose key begins so, such as "peak_".
    """

    title: str
    fields: dict[str, Field]
    facts: tuple[str, ...] = ()
    prefixes: dict[str, Field] = field(factory=dict)


RATE = Field("byte/s/dir", said=("scope",))
BARE_RATE = Field("byte/s", said=("scope",))
COUNT = Field("count")
SHARE = Field("share")
BYTES = Field("byte", said=("scope",))
WATTS = Field("W", said=("scope",))
DELAY = Field("s", said=("latency_kind",))
PEAK = Field("flop/s", said=("precision", "scope"), also="operation/s")
ENERGY = Field("J/bit")
METERS = Field("m")

COMMON_FACTS = ("title", "aliases", "status", "note", "vendor", "technology", "alternative")

FAMILIES: dict[str, Family] = {
    "link": Family(
        "Links",
        {
            "links": COUNT,
            "lanes": COUNT,
            "lane_rate": Field("byte/s/dir", said=("scope",), also="transfer/s"),
            "encoding": SHARE,
            "per_link": RATE,
            "bandwidth": Field("byte/s/dir", required=False, said=("scope",)),
            "usable": RATE,
            "model_bandwidth": RATE,
            "efficiency": SHARE,
            "latency": DELAY,
            "energy": ENERGY,
            "reach": METERS,
        },
        ("medium", "wiring"),
    ),
    "accelerator": Family(
        "Accelerators",
        {
            "memory": BYTES,
            "memory_usable": BYTES,
            "memory_bandwidth": BARE_RATE,
            "matmul_bf16": PEAK,
            "scale_up": RATE,
            "link_bandwidth": RATE,
            "neuronlink": BARE_RATE,
            "host": RATE,
            "power": WATTS,
            "tensor_cores": COUNT,
            "fma_per_cycle": COUNT,
            "clock": Field("Hz"),
        },
        ("scale_up_link", "host_link"),
        {"peak_": PEAK},
    ),
    "nic": Family(
        "Network interfaces",
        {
            "bandwidth": Field("byte/s/dir", required=True, said=("scope",)),
            "ports": COUNT,
            "port_limit": RATE,
            "usable": RATE,
            "message_rate": Field("message/s"),
            "latency": DELAY,
            "power": WATTS,
        },
        ("link", "host_link"),
    ),
    "switch": Family(
        "Switches",
        {
            "ports": COUNT,
            "port_rate": RATE,
            "capacity": RATE,
            "latency": DELAY,
            "packet_rate": Field("packet/s"),
            "power": WATTS,
            "port_power": WATTS,
            "endpoints": COUNT,
        },
        ("link",),
    ),
    "module": Family(
        "Optical modules and engines",
        {
            "rate": RATE,
            "power": WATTS,
            "energy": ENERGY,
            "latency": DELAY,
            "loss": Field("count"),
            "reach": METERS,
        },
        ("form",),
    ),
    "cable": Family(
        "Cables and fibre",
        {
            "rate": RATE,
            "power": WATTS,
            "reach": METERS,
            "latency": DELAY,
            "propagation": Field("s/m"),
        },
        ("medium",),
    ),
    "serdes": Family("SerDes", {"energy": ENERGY, "lane_rate": RATE, "loss": Field("count")}),
    "code": Family(
        "Codes",
        {
            "codeword": COUNT,
            "payload": COUNT,
            "symbol_bits": COUNT,
            "correctable": COUNT,
            "rate": SHARE,
            "latency": DELAY,
            "relative_latency": SHARE,
        },
    ),
    "node": Family(
        "Nodes",
        {
            "accelerators": Field("count", required=True),
            "nics": COUNT,
            "cpus": COUNT,
            "scale_out": RATE,
            "power": WATTS,
            "domain": COUNT,
        },
        ("accelerator", "nic", "nic_link", "link", "host_link"),
    ),
    "rack": Family(
        "Racks and clusters",
        {
            "accelerators": Field("count", required=True),
            "cpus": COUNT,
            "trays": COUNT,
            "switch_trays": COUNT,
            "switch_chips": COUNT,
            "nics": COUNT,
            "uplinks": COUNT,
            "uplink_rate": RATE,
            "scale_up": RATE,
            "memory_hbm": BYTES,
            "memory_lpddr": BYTES,
            "memory_bandwidth": BARE_RATE,
            "power": WATTS,
        },
        ("accelerator", "link", "nic", "nic_link", "switch", "unit", "units"),
        {"peak_": PEAK},
    ),
    "latency": Family(
        "Latencies",
        {"latency": Field("s", required=True, said=("latency_kind",))},
        ("layer", "size"),
    ),
    "measurement": Family(
        "Measured rates",
        {
            "bandwidth": Field("byte/s/dir", required=True, said=("scope", "rate_kind")),
            "nominal": RATE,
            "efficiency": Field("share"),
        },
        ("fabric", "collective", "ranks", "log", "size", "in_network", "licence", "link", "nodes"),
    ),
    "model": Family(
        "Model architectures",
        {
            "parameters": Field("count", required=True),
            "active_parameters": COUNT,
            "kv_per_token": Field("byte"),
        },
        (
            "layers", "hidden", "heads", "kv_heads", "head_size", "value_head_size", "ffn",
            "vocabulary", "context", "positions", "experts", "experts_per_token", "expert_ffn",
            "shared_experts", "dense_layers", "query_rank", "kv_rank", "rope_size", "window",
            "window_layers", "tied_embeddings", "attention_bias", "output_bias", "ffn_bias",
            "router_bias", "sinks", "qk_norm", "norm", "norms_per_layer", "gated", "printed",
        ),
    ),
}  # fmt: skip
