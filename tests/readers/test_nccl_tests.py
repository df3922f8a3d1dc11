"""Every layout of collective tests met in the wild, on invented numbers."""

import math
import time

import numpy as np
import pytest
from helpers.reader_fixtures import NCCOM, SIZES, collective

import scalemath as sm

RATE = 100e9


def ring(ranks):
    return 2 * (ranks - 1) / ranks


def whole(ranks):
    return (ranks - 1) / ranks


def test_columns_and_units():
    log = sm.read.nccl_tests(collective())
    run = log.main
    out = run.out_of_place
    assert list(out.si("size")) == SIZES
    assert run.out_of_place["time"][0].to("us").magnitude == pytest.approx(20.01, abs=0.01)
    assert out.units["bus_bandwidth"] == "byte/s"
    expected = RATE * ring(8) * SIZES[-1] / (SIZES[-1] + 20e-6 * RATE)
    assert out.si("bus_bandwidth")[-1] == pytest.approx(expected, rel=1e-3)
    row = out[-1]
    assert row.size.to("MiB").magnitude == 1024
    assert "bus_bandwidth" in dir(row)
    assert str(row).startswith("size")
    with pytest.raises(AttributeError, match="there are"):
        _ = row.nothing
    assert log.ranks == 8
    assert log.nodes == 1
    assert log.collective == "allreduce"
    assert log.hardware == "Test GPU"
    assert run.parameters["warmup iters"] == "5"
    assert run.parameters["iters"] == "20"


@pytest.mark.parametrize("layout", ["new", "old"])
@pytest.mark.parametrize(
    ("operation", "ranks", "share", "factor", "name"),
    [
        ("sum", 2, 1, ring(2), "allreduce"),
        ("sum", 8, 1, ring(8), "allreduce"),
        ("sum", 96, 1, ring(96), "allreduce"),
        ("sum", 16, 16, whole(16), "reduce_scatter"),
        ("none", 72, 72, whole(72), "all_gather"),
    ],
)
def test_collective_and_ranks_come_from_the_columns(layout, operation, ranks, share, factor, name):
    text = collective(
        ranks, factor, 300.0, operation=operation, share=share, layout=layout, devices=False
    )
    log = sm.read(text)
    assert (log.collective, log.ranks) == (name, ranks)
    assert log.collective_from == "columns"
    assert not log.contradictions


def test_all_to_all_is_told_from_all_gather_by_missing_in_place_checks():
    text = collective(8, whole(8), operation="none", share=8, wrong="0", wrong_in="N/A")
    assert sm.read(text).collective == "all_to_all"


@pytest.mark.parametrize(
    ("name", "public"),
    [("alltoall", "all_to_all"), ("all_gather", "all_gather"), ("scatter", "scatter")],
)
def test_header_names_the_collective(name, public):
    text = collective(8, whole(8), operation="none", share=8, name=name)
    log = sm.read(text)
    assert (log.collective, log.collective_from) == (public, "header")


def test_header_that_contradicts_the_columns():
    text = "mpirun -np 8 all_gather_perf -b 8\n" + collective(8)
    log = sm.read(text)
    assert log.collective == "allreduce"
    assert any("command says all_gather" in caution for caution in log.cautions)


def test_wrong_rank_count_in_the_device_list_is_reported():
    text = collective(ranks=16, factor=ring(8))
    log = sm.read(text)
    assert log.ranks == 8
    assert any("device list gives 16 ranks" in check.text for check in log.contradictions)


def test_ranks_are_processes_times_devices():
    text = "mpirun -np 2 build/all_reduce_perf -g 2\n" + collective(4, devices=False)
    log = sm.read(text)
    assert (log.ranks, log.ranks_from) == (4, "command")


def test_time_that_does_not_fit_is_reported():
    lines = collective().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(f"{SIZES[-1]:12d}"))
    lines[place] = lines[place].replace("10757", "20757")
    checks = sm.read("\n".join(lines) + "\n").contradictions
    assert [check.name for check in checks] == ["size over time"]


def tagged(text):
    return "\n".join(f"[1,0]<stdout>:{line}" for line in text.splitlines()) + "\n"


def labelled(text):
    return "\n".join(f" 0: {line}" for line in text.splitlines()) + "\n"


def stamped(text):
    return "\n".join(f"2024-05-01T10:00:00.1Z {line}" for line in text.splitlines()) + "\n"


def without_hashes(text):
    return text.replace("#wrong", "@wrong").replace("#", " ").replace("@wrong", "#wrong")


def squeezed(text):
    return "\n".join(" ".join(line.split()) for line in text.splitlines()) + "\n"


def with_hashed_row(text):
    return text.replace(f"{SIZES[3]:12d} ", f"# {SIZES[3]:10d} ", 1)


def coloured(text):
    return "\x1b[32m" + text.replace("float", "\x1b[1mfloat\x1b[0m") + "\x1b[0m"


def with_debug(text):
    noise = "host:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
    return noise.join(line + "\n" for line in text.splitlines())


def with_carriage_returns(text):
    return text.replace("\n", "\r\n")


def without_header(text):
    return text[text.index("type") :]


@pytest.mark.parametrize(
    "changed",
    [
        tagged,
        labelled,
        stamped,
        without_hashes,
        squeezed,
        with_hashed_row,
        coloured,
        with_debug,
        with_carriage_returns,
        without_header,
    ],
    ids=lambda f: f.__name__,
)
def test_disguises_change_nothing(changed):
    plain, other = sm.read(collective()), sm.read(changed(collective()))
    assert other.ranks == 8
    assert np.array_equal(plain.rows.si("out_time"), other.rows.si("out_time"))
    assert np.array_equal(plain.rows.si("in_bus_bandwidth"), other.rows.si("in_bus_bandwidth"))


def test_transports_from_debug_lines():
    text = with_debug(collective()) + (
        "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0\n"
        "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n"
        "h:1:2 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.\n"
    )
    run = sm.read(text).main
    assert {"peer to peer", "gpudirect", "infiniband or roce", "nvls off"} <= set(run.transports)
    assert run.nics == ("mlx5_0", "mlx5_1")
    assert all(item.reason == "NCCL_DEBUG line" for item in run.skipped)


def test_rccl_tests_are_told_apart():
    text = collective().replace("Test GPU", "AMD Instinct MI300X")
    assert sm.read(text).tool == "rccl-tests"
    assert sm.read("RCCL version 2.18.3+hip6.0\n" + collective()).version.startswith("2.18.3")


def test_several_runs_in_one_file():
    text = (
        "all_reduce_perf -b 1K\n" + collective(8) + "all_gather_perf -b 1K\n"
        + collective(8, whole(8), operation="none", share=8)
    )  # fmt: skip
    log = sm.read(text)
    assert [run.collective for run in log] == ["allreduce", "all_gather"]
    assert [len(run.rows) for run in log.runs] == [len(SIZES)] * 2
    assert [len(run.devices) for run in log.runs] == [8, 8]


def test_average_is_never_the_peak():
    log = sm.read(collective())
    assert log.average_printed == pytest.approx(30e9)
    assert log.main.si("peak") > 4 * log.average_printed
    assert log.main.si("average") == pytest.approx(
        float(np.mean(log.rows.si("out_bus_bandwidth"))), rel=1e-12
    )
    assert any("mean over all sizes" in caution for caution in log.cautions)
    assert any("not whole" in caution for caution in log.cautions)


def test_failed_runs():
    header = collective().split("#  size")[0]
    log = sm.read(header)
    assert log.main.empty
    assert log.main.failed
    crashed = header + "host: Test NCCL failure common.cu:958 'unhandled system error'\n"
    log = sm.read(crashed)
    assert log.main.failures
    assert "failed" in str(log)
    wrong = collective(wrong="3").replace("values : 0 OK", "values : 66 FAILED")
    run = sm.read(wrong).main
    assert run.failed
    assert run.wrong_results == 3 * 2 * len(SIZES)


def test_truncated_tables():
    text = collective()
    cut = text[: text.index(f"{SIZES[6]:12d}") + 85]
    run = sm.read(cut).main
    assert len(run.rows) == 7
    assert math.isnan(run.rows.si("in_time")[-1])
    assert len(run.in_place) == 6
    assert any("cut off" in item.reason for item in sm.read(cut).skipped)


def test_processes_that_ran_alone():
    text = "".join(collective(1, 0.0, devices=True) for _ in range(2))
    log = sm.read(text)
    assert log.ranks == 1
    assert any("without MPI" in caution for caution in log.cautions)


def test_containers_that_share_machines():
    text = collective(16, hosts=4)
    low, high = range(0x10, 0x14), range(0x20, 0x24)
    lines = []
    for line in text.splitlines():
        if " on host" in line:
            host = int(line.split("host")[1][0])
            device = int(line.split("device")[1].split()[0])
            bus = (low if host % 2 else high)[device]
            line = line.split("[")[0] + f"[0000:{bus:02x}:00] Test GPU"
        lines.append(line)
    run = sm.read("\n".join(lines) + "\n").main
    assert len(run.hostnames) == 4
    assert run.nodes == 2
    assert any("containers" in caution for caution in run.cautions)


def test_neuron_prints_binary_units():
    run = sm.read(NCCOM).main
    assert run.tool == "nccom-test"
    assert (run.collective, run.ranks) == ("allreduce", 4)
    assert run.si("peak") == pytest.approx(75 * 2**30, rel=1e-12)
    assert not run.contradictions
    assert not len(run.in_place)


def test_results_show_themselves():
    log = sm.read(collective())
    assert "allreduce over 8 ranks on 1 node(s) of Test GPU" in str(log)
    assert "agrees" in log.explain()
    assert log.main.to_dict()["values"]["peak"]["unit"] == "byte/s"
    assert "<table>" in log.rows._repr_html_()
    assert set(log.rows.to_dict()["size"]) == {"values", "unit"}


@pytest.mark.slow
def test_ten_megabytes_in_a_second():
    lines = collective().splitlines()
    rows = [line for line in lines if line[:12].strip().isdigit()]
    text = "\n".join(lines) + "\n" + "\n".join(rows * (10_000_000 // len("\n".join(rows)))) + "\n"
    assert len(text) > 9.9e6
    took = []
    for _ in range(3):
        began = time.process_time()
        log = sm.read(text)
        took.append(time.process_time() - began)
    assert sum(len(run.rows) for run in log.runs) > 80_000
    assert min(took) < 5.0  # half a second; reading line by line in Python takes minutes
