"""Sweeps of reading a prompt: every point is the scalar call."""

import itertools

import attrs
import numpy as np
import pytest
from helpers.swept_steps import DENSE, LATENT, MIXTURE, WINDOWED

import scalemath as sm
from scalemath.core.errors import ScalemathError
from scalemath.sweeps import dependent, minimum
from scalemath.sweeps.places import evaluate
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.workloads import prefill

NETWORK = {"memory_bandwidth": "3.35 TB/s", "latency": "2 us", "peak": "989 Tflop/s"}
AXES = {
    "prompt_tokens": [1000, 8192],
    "devices": [1, 2, 8],
    "bandwidth": ["450 GB/s/dir", "50 GB/s/dir"],
    "batch": [1, 4],
    "weights": ["bf16", "fp8"],
}


def times(arguments):
    problem = state(prefill, arguments)
    return evaluate(problem, [Output("time"), Output("token_rate")])


@pytest.mark.parametrize("transformer", [DENSE, MIXTURE, LATENT, WINDOWED], ids=lambda t: t.name)
def test_every_point_is_the_scalar_call(transformer):
    found = times({"transformer": transformer, **NETWORK, **AXES})
    for place in np.ndindex(*found["time"].shape):
        point = {n: AXES[n][i] for n, i in zip(AXES, place, strict=True)}
        wanted = prefill(transformer, **point, **NETWORK)
        assert found["time"][place] == wanted.si("time")
        assert found["token_rate"][place] == pytest.approx(wanted.si("token_rate"), rel=1e-15)


def test_models_and_their_fields_are_axes():
    fixed = {**NETWORK, "prompt_tokens": 4096, "devices": 2, "bandwidth": "450 GB/s/dir"}
    models, layers, utilisation = [DENSE, MIXTURE], [8, 16], [0.3, 0.6]
    found = times(
        {
            "transformer": models,
            "transformer.layers": layers,
            "utilisation": utilisation,
            **fixed,
        }
    )["time"]
    for i, j, k in itertools.product(range(2), repeat=3):
        model = attrs.evolve(models[i], layers=layers[j])
        assert found[i, j, k] == prefill(model, utilisation=utilisation[k], **fixed).si("time")


def test_what_cannot_be_is_infinite_and_what_is_unknown_is_named():
    fixed = {**NETWORK, "prompt_tokens": 4096, "devices": 2, "bandwidth": "450 GB/s/dir"}
    heads = {"transformer.heads": [16, 24], "transformer.kv_heads": [8, 16]}
    found = times({"transformer": DENSE, **fixed, **heads})
    assert np.isinf(found["time"]).tolist() == [[False, False], [False, True]]
    for wrong, told in (
        ({"prompt_token": 3}, "did you mean prompt_tokens"),
        ({"weights": ["bf17"]}, "did you mean bf16"),
        ({"peak": 1e15}, "without a unit"),
        ({"transformer.norms": [1]}, "transformer.norm"),
    ):
        with pytest.raises(ScalemathError, match=told):
            state(prefill, {"transformer": DENSE, **fixed, **wrong})
    del fixed["devices"]
    with pytest.raises(ScalemathError, match="devices is missing"):
        state(prefill, {"transformer": DENSE, **fixed})


def test_the_least_time_over_compiled_points():
    fixed = {"transformer": DENSE, **NETWORK, "bandwidth": "50 GB/s/dir"}
    grid = sm.sweep(
        prefill,
        prompt_tokens=[512, 65536],
        devices=[1, 2, 4, 8],
        batch=dependent("32 / devices"),
        where="devices <= 4",
        reduce=minimum("time", over=["devices"]),
        outputs=["batch"],
        **fixed,
    )
    for i, tokens in enumerate((512, 65536)):
        every = [
            prefill(prompt_tokens=tokens, devices=d, batch=32 // d, **fixed).si("time")
            for d in (1, 2, 4)
        ]
        assert grid.outputs["time"][i] == pytest.approx(min(every), rel=1e-12)
        assert grid.outputs["batch"][i] == 32 // (1, 2, 4)[int(np.argmin(every))]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"prompt_tokens": -5}, "prompt_tokens is -5; wanted at least 1"),
        ({"prompt_tokens": 2.5}, "a count is a whole number"),
        ({"utilisation": 0.0}, "utilisation is 0.0; wanted above 0"),
        ({"bandwidth": 450e9}, "bandwidth is .* without a unit"),
        ({"peak": "989 GB/s"}, "peak is in GB/s"),
    ],
)
def test_single_calls_refuse_what_sweeps_refuse(wrong, told):
    given = {"prompt_tokens": 4096, "devices": 2, "bandwidth": "450 GB/s/dir", **NETWORK}
    with pytest.raises(ScalemathError, match=told):
        prefill(DENSE, **{**given, **wrong})
