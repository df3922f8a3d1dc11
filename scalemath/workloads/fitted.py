"""Constants of the step-time model that no datasheet states, with where each comes from.

`value` is the fit to every published row at hand, each publication weighing alike; `prior` is
the round value a fit starts from and is held near, from datasheets, public matmul benchmarks
and an earlier study of the same publications, so it is not blind. The scores with a
publication left out are on the accuracy page.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Fitted:
    """One constant.

    Attributes
    ----------
    value : float
        Fitted value.
    prior : float
        Value before the fit.
    spread : float
        Standard deviation of the logarithm of the prior [1].
    meaning : str
        What it is.
    """

    value: float
    prior: float
    spread: float
    meaning: str


FITTED: dict[str, Fitted] = {
    "e_A100": Fitted(0.828, 0.70, 0.3, "share of the peak of large products, A100"),
    "e_H100": Fitted(0.702, 0.64, 0.3, "share of the peak of large products, H100 at 700 W"),
    "e_B200": Fitted(0.437, 0.62, 0.5, "share of the peak of large products, one B200 server"),
    "a_A100": Fitted(0.318, 0.40, 0.3, "share of the peak of fused attention, A100, 2023"),
    "a_H100": Fitted(0.330, 0.40, 0.3, "share of the peak of fused attention, H100"),
    "a_B200": Fitted(0.399, 0.45, 0.3, "share of the peak of fused attention, B200"),
    "r_500W": Fitted(0.759, 0.80, 0.15, "rate of an H100 limited to 500 W over one at 700 W"),
    "element": Fitted(1.18, 1.2, 0.15, "element-wise traffic over that of ideal fusion"),
    "eager": Fitted(2.55, 2.0, 0.3, "element-wise traffic without a compiler, further factor"),
    "gain_8": Fitted(1.01, 0.93, 0.05, "8-bit rate over twice the 16-bit rate, per tensor"),
    "cast": Fitted(2.75, 4.0, 0.3, "traffic of casting to 8 bit, bytes per operand element"),
    "gain_rowwise": Fitted(0.531, 0.5, 0.2, "8-bit rate over twice the 16-bit rate, row-wise"),
    "experts": Fitted(0.548, 0.6, 0.3, "rate of grouped expert products over plain ones"),
    "interference": Fitted(0.694, 0.3, 0.3, "slow-down of computation under a collective"),
    "async": Fitted(0.417, 0.6, 0.3, "share of tensor collectives hidden by async kernels"),
    "ring": Fitted(0.202, 0.3, 0.4, "slow-down of attention split over a context ring"),
    "straggler": Fitted(0.00848, 0.005, 0.4, "growth of a step per doubling beyond a node"),
    "host": Fitted(5.27e-3, 4.5e-3, 0.3, "least time of a layer launched eagerly, seconds"),
}


def fitted_values() -> dict[str, float]:
    """Every fitted value by name."""
    return {name: constant.value for name, constant in FITTED.items()}
