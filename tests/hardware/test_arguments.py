"""Calls that do not fit a constructor are answered with a sentence."""

import pickle

import numpy as np
import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError, ContradictionError, RangeError, ScalemathError

PLACED = {
    "nodes": 9,
    "ranks_per_node": 8,
    "domain_bandwidth": "900 GB/s/dir",
    "nic_bandwidth": "100 GB/s/dir",
}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sm.Placement(nodes=None, ranks_per_node=8), "nodes is None"),
        (lambda: sm.Placement(nodes=[2, 3], ranks_per_node=8), "nodes is"),
        (lambda: sm.FatTree(endpoints=np.array([48, 96]), radix=64), "endpoints is"),
        (lambda: sm.FatTree(endpoints=48, radix=None), "radix is None"),
        (lambda: sm.FullMesh(endpoints=None), "endpoints is None"),
        (lambda: sm.SlimFly(order=None), "order is None"),
        (lambda: sm.FatTree(endpoints=4096, radix=64).without(spines=None), "spines is None"),
        (lambda: sm.FullMesh(endpoints=8).without(links="1"), "links is '1'"),
        (lambda: sm.Torus(shape="4x4"), "shape is 4x4"),
        (lambda: sm.Torus(shape=(True, 8)), "shape is"),
        (lambda: sm.Torus(shape=(4, 4), wrap="no"), "wrap is 'no'"),
        (lambda: sm.Placement(foo=1), "foo is no argument"),
        (lambda: sm.Placement(**PLACED).with_(nods=3), "did you mean nodes"),
        (lambda: sm.FatTree(tears=1), "did you mean tiers"),
        (sm.Torus, "missing a required .*argument: 'shape'"),
        (lambda: sm.Placement(9, 8), "too many positional"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: sm.FatTree(endpoints=48, radix=64, tiers=0),
        lambda: sm.FatTree(endpoints=48, radix=64, tiers=False),
        lambda: sm.Torus(shape=()),
        lambda: sm.Torus(shape=(0, 8)),
        lambda: sm.Torus(shape=(2.5, 8)),
        lambda: sm.FatTree(endpoints=4096, radix=64).without(spines=-1),
        lambda: sm.medium_for("-1 m"),
        lambda: sm.Transformer(layers=0, hidden=8, heads=2, vocabulary=9),
    ],
    ids=range(8),
)
def test_values_without_meaning_are_refused(make):
    with pytest.raises(RangeError):
        make()


def test_a_count_of_a_model_is_a_whole_number():
    for wrong in (None, "8", 2.5, True, [8]):
        with pytest.raises(ScalemathError, match="layers is"):
            sm.Transformer(layers=wrong, hidden=8, heads=2, vocabulary=9)


@pytest.mark.parametrize("shape", [(np.int64(8), 9), np.array([8, 9]), [8, 9.0]])
def test_shapes_of_numpy_integers_are_plain_integers(shape):
    torus = sm.Torus(shape=shape)
    assert torus.shape == (8, 9)
    assert {type(size) for size in torus.shape} == {int}


@pytest.mark.parametrize("domain", [16, 144])
def test_nodes_fill_whole_domains(domain):
    with pytest.raises(ContradictionError):
        sm.Placement(**PLACED, domain=domain)
    assert sm.Placement(**PLACED, domain=72).domains == 1


def test_part_of_a_rack_is_one_domain():
    placed = sm.catalog.cluster("GB200 NVL72").placement()
    assert placed.domain_ranks == 72


def test_checked_classes_pickle_and_keep_their_signature():
    placed = sm.Placement(**PLACED)
    assert pickle.loads(pickle.dumps(placed)) == placed
    assert placed.with_(nodes=2).nodes == 2
