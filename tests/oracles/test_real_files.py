"""Real outputs of real tools, in a folder laid out as SCALEMATH_REAL names it.

Every file has a sidecar, same name with the ending json, that says what must come out. Folders:
logs, perftest, topo, xml, links; others are tried as well. What a sidecar does not state is not
checked; what a file itself does not tell (a host count without a device list) cannot be.
"""

import json
import os
import re
from pathlib import Path

import pytest

import scalemath as sm
from scalemath.readers.nccl_lines import NAMES

FOLDER = os.environ.get("SCALEMATH_REAL")
FILES = (
    sorted(p for p in Path(FOLDER).glob("**/*") if p.is_file() and p.suffix != ".json")
    if FOLDER
    else []
)
pytestmark = pytest.mark.skipif(not FILES, reason="SCALEMATH_REAL names no folder with files")


def sidecar(path):
    found = path.with_suffix(".json")
    return json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}


def of_folder(*names):
    found = [path for path in FILES if path.parent.name in names]
    return pytest.mark.parametrize("path", found, ids=[path.name for path in found])


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_file_is_read(path):
    found = sm.read(path)
    assert str(found)
    assert len(found.explain()) > 10


@of_folder("logs")
def test_collective_logs(path):
    facts = sidecar(path)
    log = sm.read(path)
    if log.kind != "nccl-tests":
        return
    run = log.main
    name = NAMES.get(str(facts.get("collective", "")).replace("_", ""))
    if name and run.collective:
        assert run.collective == name
    if "expect_infer_ranks" in facts:
        assert run.ranks == facts["expect_infer_ranks"]
    if facts.get("ranks") and not run.contradictions and run.ranks is not None:
        assert run.ranks == facts["ranks"]
    if facts.get("nodes") and run.nodes is not None and not run.contradictions:
        assert run.nodes == facts["nodes"]
    if run.hardware:
        words = re.findall(r"[A-Z]+\d{2,}\w*", run.hardware)
        assert not words or any(word[:4] in facts.get("hardware", word) for word in words)
    check = facts.get("check", {})
    if "rows" in check:
        assert len(run.rows) == check["rows"]
    unit = run.bytes_per_unit
    for side, key in (("out", "peak_busbw_out"), ("in", "peak_busbw_in")):
        if check.get(key) is not None:
            assert run.peak_of(side) / unit == pytest.approx(check[key], abs=0.006)
    if check.get("avg_printed") is not None:
        assert run.average_printed / unit == pytest.approx(check["avg_printed"], rel=1e-9)
    if check.get("mean_of_printed_rows") is not None:
        assert run.si("average") / unit == pytest.approx(check["mean_of_printed_rows"], abs=0.002)
    if check.get("algbw_mismatch_rows") == 0:
        assert not any(item.name == "size over time" for item in run.contradictions)


@of_folder("perftest")
def test_perftest(path):
    facts = sidecar(path)
    run = sm.read(path).main
    assert all(check.passed for check in run.checks), run.checks
    expected = facts.get("expected_Gbps", facts.get("Gbps"))
    if expected is not None and not run.latency_test:
        rates = run.rows.si("bandwidth") * 8e-9
        both = (1.0, 2.0) if run.bidirectional else (1.0,)
        assert any(abs(n * rate / expected - 1.0) < 0.005 for rate in rates for n in both)


@of_folder("xml", "topo")
def test_machines(path):
    facts = sidecar(path)
    found = sm.read(path)
    if found.kind == "nccl_graph":
        assert found.graphs
        return
    hardware = facts.get("hardware", "")
    families = r"(?:NVIDIA |AMD )?(?:G?[ABHV]\d{2,3}|MI\d|RTX|L40|L4|T4|A10)"
    count = re.search(rf"(?<![\w.])(\d{{1,2}})x {families}", hardware)
    if count:
        assert len(found.gpus) == int(count[1])
    interfaces = re.search(
        r"(\d{1,2})x (?:CX|ConnectX|HDR|NDR|EDR|EFA|ENA)|(\d{1,2}) NICs", hardware
    )
    if interfaces:
        assert len(found.nics) == int(interfaces[1] or interfaces[2])
    assert found.node().accelerators == len(found.gpus)


@of_folder("links")
def test_links(path):
    facts = sidecar(path)
    found = sm.read(path)
    told = json.dumps(facts)
    if found.kind == "nvlink" and (match := re.search(r"\((\d+) x (\d+) = (\d+)", told)):
        links, _, total = map(int, match.groups())
        assert set(found.active().values()) == {links}
        assert found.si("rate") == pytest.approx(total * 1e9, rel=0.01)
    if found.kind in ("ibstat", "ethtool", "sysfs") and "one physical port" in told:
        assert len(found.usable) == 1
    if found.kind == "sysfs" and "8 NDR ports" in told:
        assert found.si("rate") == pytest.approx(8 * 50e9)
    if found.kind == "lspci":
        assert not [d for d in found.suspicious if d.accelerator]
