"""Small invented outputs of the shapes that the readers read; no number is measured."""

from __future__ import annotations

SIZES = [2**k for k in range(10, 31, 2)]


def collective(
    ranks: int = 8,
    factor: float | None = None,
    rate: float = 100.0,
    start: float = 20.0,
    operation: str = "sum",
    share: int = 1,
    layout: str = "new",
    hosts: int = 1,
    devices: bool = True,
    name: str = "",
    wrong: str = "0",
    wrong_in: str | None = None,
) -> str:
    """Return a log of a test that follows one line of latency and bandwidth."""
    factor = 2 * (ranks - 1) / ranks if factor is None else factor
    lines = []
    if name:
        lines.append(f"# Collective test starting: {name}_perf")
    lines.append(
        "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1073741824 step: 4(factor) "
        "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
    )
    lines += ["#", "# Using devices"]
    if devices:
        each = ranks // hosts
        lines += [
            f"#  Rank {r:2d} Group  0 Pid {1000 + r} on host{r // each} device {r % each:2d} "
            f"[0000:{16 + r % each:02x}:00] Test GPU"
            for r in range(ranks)
        ]
    lines.append("#")
    old = layout == "old"
    root = "" if old else "    root"
    last = " error" if old else "#wrong"
    lines.append(
        f"#  size  count  type  redop{root}  time algbw busbw {last} time algbw busbw {last}"
    )
    for asked in SIZES:
        size = asked // (4 * share) * 4 * share
        time = start + size / (rate * 1e3)
        alg = size / time / 1e3
        half = f"{time:9.2f} {alg:7.2f} {alg * factor:7.2f}"
        number = "" if old else "   -1"
        lines.append(
            f"{size:12d} {size // 4 // share:12d}   float  {operation:>5s}{number} "
            f"{half} {wrong:>5s} {half} {wrong if wrong_in is None else wrong_in:>5s}"
        )
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 30.0", "#", ""]
    return "\n".join(lines)


NCCOM = """nccom-test -r 4 --minbytes 1kb --maxbytes 1gb allr
     size(B)    count(elems)     type    time(us)    algbw(GB/s)    busbw(GB/s)
    33554432         8388608     fp32         800          39.06          58.59
  1073741824       268435456     fp32       20000          50.00          75.00
Avg bus bandwidth:      66.80GB/s
"""

PERFTEST = """------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 Link type       : IB
------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             20000.00           19800.00             0.316800
 1048576    5000             21000.00           20900.00             0.020900
------------------------------------------------------------
"""

PERFTEST_BOTH = PERFTEST.replace("RDMA_Write BW", "RDMA_Write Bidirectional BW")

PERFTEST_LATENCY = """                    RDMA_Write Latency Test
 Dual-port       : OFF          Device         : mlx5_0
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1.10           4.20         1.20                1.25             0.10            1.60                    3.00
 4       1000          1.12           4.30         1.22                1.26             0.11            1.61                    3.10
"""  # noqa: E501

OSU = """# OSU MPI Bandwidth Test v7.1
# Size      Bandwidth (MB/s)
1                       2.50
1048576             12000.00
"""

OSU_BOTH = """# OSU MPI Bi-Directional Bandwidth Test v7.1
# Size      Bandwidth (MB/s)
1048576             24000.00
"""

OSU_ALLGATHER = """
# OSU MPI Allgather Latency Test v7.1
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       4.10              4.00              4.30        1000
16                      4.20              4.05              4.40        1000
"""

MATRIX = """        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    CPU Affinity    NUMA Affinity
GPU0     X      NV12    NV12    NV12    PXB     SYS     0-31    0
GPU1    NV12     X      NV12    NV12    PXB     SYS     0-31    0
GPU2    NV12    NV12     X      NV12    SYS     PXB     32-63   1
GPU3    NV12    NV12    NV12     X      SYS     PXB     32-63   1
NIC0    PXB     PXB     SYS     SYS      X      SYS
NIC1    SYS     SYS     PXB     PXB     SYS      X

Legend:

  X    = Self
  SYS  = path between sockets

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""

ROCM = """============================ ROCm System Management Interface ==========================
================================ Weight between two GPUs ===============================
       GPU0         GPU1         GPU2
GPU0   0            15           40
GPU1   15           0            40
GPU2   40           40           0

=============================== Link Type between two GPUs =============================
       GPU0         GPU1         GPU2
GPU0   0            XGMI         PCIE
GPU1   XGMI         0            PCIE
GPU2   PCIE         PCIE         0

====================================== Numa Nodes ======================================
GPU[0]		: (Topology) Numa Node: 0
GPU[1]		: (Topology) Numa Node: 0
GPU[2]		: (Topology) Numa Node: 1
================================== End of ROCm SMI Log =================================
"""

NVLINK = """GPU 0: Test GPU (UUID: GPU-0)
         Link 0: 26.562 GB/s
         Link 1: 26.562 GB/s
         Link 2: <inactive>
GPU 1: Test GPU (UUID: GPU-1)
         Link 0: 26.562 GB/s
         Link 1: 26.562 GB/s
         Link 2: 26.562 GB/s
"""

TOPOLOGY_XML = """<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="Test" familyid="6" modelid="1">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:40:00.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="ff00" arch="x86_64" vendor="Test" familyid="6" modelid="1">
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="2.5 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:40:00.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
    </pci>
  </cpu>
</system>
"""

GRAPH_XML = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel>
      <net dev="0"/>
      <gpu dev="0"/>
      <gpu dev="1"/>
      <net dev="0"/>
    </channel>
    <channel>
      <net dev="1"/>
      <gpu dev="1"/>
      <gpu dev="0"/>
      <net dev="1"/>
    </channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="0" speedintra="0" speedinter="0" typeintra="LOC" typeinter="LOC" samechannels="0"/>
</graphs>
"""  # noqa: E501

LSPCI = """17:01.0 PCI bridge: Test Switch (rev b0) (prog-if 00 [Normal decode])
		LnkCap:	Port #1, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (downgraded), Width x16 (ok)
19:00.0 3D controller: Test Corporation Device 2330 (rev a1)
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <4us
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16 (ok)
		LnkCap2: Supported Link Speeds: 2.5-32GT/s
		LnkSta2: Current De-emphasis Level: -3.5dB
1a:00.0 Ethernet controller: Test Interface
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s (ok), Width x8 (downgraded)
1a:00.2 Ethernet controller: Test Interface Virtual Function
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed unknown, Width x0
"""

IBSTAT = """CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Link layer: InfiniBand
CA 'mlx5_1'
	CA type: MT4129
	Number of ports: 1
	Port 1:
		State: Down
		Physical state: Disabled
		Rate: 40
		Link layer: InfiniBand
CA 'mlx5_bond_0'
	CA type: MT4125
	Number of ports: 1
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 100
		Link layer: Ethernet
"""

IBSTATUS = """Infiniband device 'mlx5_0' port 1 status:
	default gid:	 fe80:0000:0000:0000:0000:0000:0000:0001
	base lid:	 0x1
	state:		 4: ACTIVE
	phys state:	 5: LinkUp
	rate:		 200 Gb/sec (4X HDR)
	link_layer:	 InfiniBand
"""

NETDEV = """rocep1s0f0 port 1 ==> enp1s0f0np0 (Up)
roceP2p1s0f0 port 1 ==> enP2p1s0f0np0 (Up)
rocep1s0f1 port 1 ==> enp1s0f1np1 (Down)
"""

ETHTOOL = """Settings for eth0:
	Supported ports: [ FIBRE ]
	Speed: 100000Mb/s
	Duplex: Full
	Link detected: yes
Settings for eth1:
	Speed: Unknown!
	Link detected: no
"""

SYSFS = """/sys/class/infiniband/mlx5_0/hca_type: MT4129
/sys/class/infiniband/mlx5_0/ports/1/link_layer: InfiniBand
/sys/class/infiniband/mlx5_0/ports/1/phys_state: 5: LinkUp
/sys/class/infiniband/mlx5_0/ports/1/rate: 400 Gb/sec (4X NDR)
/sys/class/infiniband/mlx5_0/ports/1/state: 4: ACTIVE
/sys/class/infiniband/mlx5_1/ports/1/link_layer: InfiniBand
/sys/class/infiniband/mlx5_1/ports/1/phys_state: 3: Disabled
/sys/class/infiniband/mlx5_1/ports/1/rate: 10 Gb/sec (4X SDR)
/sys/class/infiniband/mlx5_1/ports/1/state: 1: DOWN
"""

CONFIG = """{
  "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
  "vocab_size": 1000
}
"""

FIXTURES = {
    "nccl_tests": collective(),
    "perftest": PERFTEST,
    "osu": OSU,
    "nvidia_topology": MATRIX,
    "rocm_topology": ROCM,
    "nvlink": NVLINK,
    "nccl_topology": TOPOLOGY_XML,
    "nccl_graph": GRAPH_XML,
    "lspci": LSPCI,
    "ibstat": IBSTAT,
    "ethtool": ETHTOOL,
    "sysfs": SYSFS,
    "model_config": CONFIG,
}
