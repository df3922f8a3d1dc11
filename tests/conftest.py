"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Deadlines measure the machine, not the code; the database would write into the tree.
settings.register_profile(
    "scalemath",
    deadline=None,
    database=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("scalemath")

# Helpers are imported by tests as `helpers.…`; collected for doctests they would load twice.
collect_ignore_glob = ["helpers/*"]
