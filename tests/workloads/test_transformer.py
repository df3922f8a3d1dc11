"""Parameter counts against published and independently computed ones."""

import json

import pytest

from scalemath.core.errors import ContradictionError, RangeError, ReadError
from scalemath.workloads import Transformer, transformer_from_config
from scalemath.workloads.flops import forward_flops_per_token, training_flops_per_token

LLAMA = {
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "topk_method": "noaux_tc",
    "n_group": 8,
    "topk_group": 4,
}
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
QWEN2 = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "tie_word_embeddings": False,
}
QWEN3_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 151936,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "tie_word_embeddings": False,
    "attention_bias": False,
}
GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 201088,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "attention_bias": True,
    "tie_word_embeddings": False,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
}
GEMMA3 = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "vocab_size": 262144,
    },
}


@pytest.mark.parametrize(
    ("config", "total", "active", "kv_bytes"),
    [
        (LLAMA, 70553706496, 70553706496, 327680),
        (DEEPSEEK_V3, 671026419200, 37552297472, 70272),
        (MIXTRAL, 46702792704, 12879925248, 131072),
        (QWEN2, 7615616512, 7615616512, 57344),
        (QWEN3_MOE, 235093634560, 22190763520, 192512),
        (GPT_OSS, 116829156672, 5711982912, 73728),
        (GEMMA3, 27009002240, 27009002240, 507904),
    ],
)
def test_counts_from_configuration(config, total, active, kv_bytes):
    model = transformer_from_config(config)
    assert model.parameters == total
    assert model.active_parameters == active
    assert 2 * model.kv_values_per_token == kv_bytes


def test_gpt3_counts():
    model = transformer_from_config(
        {
            "model_type": "gpt2",
            "n_embd": 12288,
            "n_layer": 96,
            "n_head": 96,
            "vocab_size": 50257,
            "n_positions": 2048,
        }
    )
    assert model.parameters == 174604259328
    assert 2 * model.kv_values_per_token == 4718592


def test_configuration_from_a_folder(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert transformer_from_config(tmp_path, name="mine").name == "mine"
    assert transformer_from_config(str(tmp_path / "config.json")).layers == 80
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(ReadError, match="object"):
        transformer_from_config(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ReadError, match="not JSON"):
        transformer_from_config(tmp_path)
    with pytest.raises(ReadError, match="cannot be opened"):
        transformer_from_config(tmp_path / "missing.json")


def test_configuration_that_lacks_something():
    with pytest.raises(ReadError, match="number of layers"):
        transformer_from_config({k: v for k, v in LLAMA.items() if k != "num_hidden_layers"})
    with pytest.raises(ReadError, match="whole number"):
        transformer_from_config({**LLAMA, "hidden_size": "8192"})


def test_gemms_of_a_layer_hold_its_weights():
    for config in (LLAMA, DEEPSEEK_V3, MIXTRAL, GPT_OSS):
        model = transformer_from_config(config)
        inside = sum(g.weights * g.stored for g in model.gemms())
        one = model.attention_parameters - model.vector_parameters
        if model.experts:
            one += model.always_parameters - model.router_bias * model.experts
            one += model.experts * (3 * model.hidden * model.expert_ffn)
        else:
            one += model.ffn_parameters(model.ffn)
        assert inside == one


def test_flops_by_hand():
    model = transformer_from_config(LLAMA)
    weights = model.parameters - model.embedding_parameters
    weights -= model.layers * model.vector_parameters + model.final_norm_parameters
    attention = 4 * 8192 * 8192 * 80
    assert forward_flops_per_token(model, 8192) == 2 * weights + attention
    assert forward_flops_per_token(model, 8192, causal=True) == 2 * weights + attention / 2
    hardware = training_flops_per_token(model, 8192, recomputed=1.0)
    assert hardware == pytest.approx(4 / 3 * training_flops_per_token(model, 8192))
    # Narayanan et al. (2021): 96 B s l h^2 (1 + s/6h + V/16lh) with full recomputation,
    # where the output layer is not recomputed
    gpt = Transformer(layers=96, hidden=12288, heads=96, ffn=49152, vocabulary=51200, gated=False)
    formula = 96 * 96 * 12288**2 * (1 + 2048 / (6 * 12288) + 51200 / (16 * 96 * 12288))
    own = training_flops_per_token(gpt, 2048, recomputed=1.0) - 2 * 51200 * 12288
    assert own == pytest.approx(formula, rel=1e-12)


def test_windows_shorten_attention():
    model = transformer_from_config(GPT_OSS)
    assert model.window_layers == 18
    short, long = forward_flops_per_token(model, 1e4), forward_flops_per_token(model, 2e4)
    assert long - short == pytest.approx(18 * 1e4 * 2 * 64 * 128)


def test_refusals():
    with pytest.raises(ContradictionError, match="head_size"):
        Transformer(layers=2, hidden=100, heads=3, ffn=4, vocabulary=5)
    with pytest.raises(ContradictionError, match="kv_heads"):
        Transformer(layers=2, hidden=96, heads=4, kv_heads=3, ffn=4, vocabulary=5)
    with pytest.raises(RangeError, match="ffn"):
        Transformer(layers=2, hidden=96, heads=4, vocabulary=5)
    with pytest.raises(RangeError, match="experts_per_token"):
        Transformer(layers=2, hidden=96, heads=4, vocabulary=5, experts=4, expert_ffn=8)
    with pytest.raises(RangeError, match="norm"):
        Transformer(layers=2, hidden=96, heads=4, vocabulary=5, ffn=8, norm="batchnorm")
