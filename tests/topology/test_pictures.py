"""Every fabric draws itself; what cannot be seen link by link is drawn as boxes."""

from __future__ import annotations

from typing import Any

import pytest

import scalemath as sm

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

FABRICS = [
    sm.FatTree(endpoints=24, radix=6, oversubscription=2),
    sm.FatTree(endpoints=54, radix=6),
    sm.hgx_domain("H100"),
    sm.FullMesh(endpoints=8),
    sm.Torus(shape=(6,)),
    sm.Torus(shape=(4, 3)),
    sm.Torus(shape=(2, 3, 4)),
    sm.Dragonfly(groups=3, routers_per_group=4, endpoints_per_router=2, global_ports=2),
    sm.SlimFly(order=4),
    sm.HyperX(shape=(3, 4), endpoints_per_router=2),
]


@pytest.fixture(autouse=True)
def _close() -> Any:
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda f: f"{type(f).__name__}{f.endpoints}")
def test_every_link_is_drawn(fabric: Any) -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    assert fabric.plot(ax=ax) is ax
    lines = [c for c in ax.collections if hasattr(c, "get_segments")]
    assert sum(len(c.get_segments()) for c in lines) == len(fabric.graph().edges)
    assert ax.get_title() == str(fabric)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [tier.replace("_", "-") for tier in fabric.links]


def test_large_fabrics_are_boxes_with_counts() -> None:
    ax = sm.dgx_superpod(16).fabric.plot()
    texts = " ".join(t.get_text() for t in ax.texts)
    assert "128 leaf" in texts
    assert "4,096 links, leaf-spine" in texts


def test_map_of_traffic_and_oversubscription() -> None:
    from scalemath.plots.topology import traffic_map

    ax = traffic_map(endpoints=576, radix=48, port_rate="800 Gb/s", ratios=(1, 2))
    shown = [t.get_text() for t in ax.texts]
    assert len(shown) == 12
    assert "52.8" in shown
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1:1", "2:1"]


def test_what_has_no_picture_says_so() -> None:
    from scalemath.plots import plot

    with pytest.raises(TypeError, match="picture of a int"):
        plot(3)
