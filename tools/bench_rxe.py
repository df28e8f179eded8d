"""Verbs against rdma_rxe, the kernel's own software adapter: the same perftest
over either, in one Debian under QEMU, in pairs of runs that follow one another."""

import os
import pathlib
import subprocess

from bench_lab import ROOT, Ibemu, head, interleaved, report_runs
from bench_verbs import perftest

GUEST = pathlib.Path("/dev/virtio-ports/out")  # as of tests/qemu/init.sh
SECONDS = 7200  # that the guest may take, emulated on a busy machine
RUNS = 5
# Programs, the sizes they are run with, and which column of theirs is shown.
LATENCIES = ("ib_send_lat", "ib_write_lat", "ib_read_lat"), (2, 4096)
RATES = ("ib_send_bw", "ib_write_bw"), (2, 4096, 65536, 1 << 20)
BELOW, ABOVE = 2, 1  # times rxe's time that is wanted, below 64 KiB and from it on


class Rxe:
    """Both sides are one adapter, over an interface without a wire; its MTU is
    the largest that InfiniBand has, as our links' is."""

    environment = None

    def __init__(self):
        for command in ("modprobe -a rdma_rxe dummy",
                        "ip link add rxe-wire mtu 9000 type dummy",
                        "ip address add 192.0.2.1/24 dev rxe-wire",
                        "ip link set rxe-wire up",
                        "rdma link add rxe0 type rxe netdev rxe-wire"):
            subprocess.run(command.split(), check=True)

    @staticmethod
    def command(_host, _cpu, *arguments, options=()):
        assert not options  # they are ibemu's
        # The GID of the IPv4 address.
        program, *options = map(str, arguments)
        return [program, "-d", "rxe0", "-x", "1", *options]


def in_guest(scratch):
    ours = Ibemu(scratch, "single-switch:hosts=2", None, sm="static")
    rxe = Rxe()

    def compare(program, size, count, unit, better):
        def of(lab):
            columns = perftest(lab, program, "-s", size, "-n", count)
            return columns[4] * (1 if unit == "us" else 1e6)  # messages: millions

        got = interleaved({"ours": lambda: of(ours), "rxe": lambda: of(rxe)},
                          RUNS)
        factor = BELOW if size < 65536 else ABOVE
        wanted = factor if better == "less" else 1 / factor
        report_runs(f"{program} {size} B", got["ours"], got["rxe"], unit, better,
                    wanted)

    head(f"Against rdma_rxe, Linux {os.uname().release}, {os.cpu_count()} CPUs,"
         f" medians of {RUNS}", "rxe")
    programs, sizes = LATENCIES
    for program in programs:
        for size in sizes:
            compare(program, size, 500, "us", "less")
    programs, sizes = RATES
    for program in programs:
        for size in sizes:
            count = max(100, min(5000, (32 << 20) // size))
            compare(program, size, count, "/s", "more")
    ours.server.stop()


def bench_rxe(scratch, _hosts):
    if GUEST.exists():
        in_guest(scratch)
        return
    environment = {**os.environ, "IBEMU_QEMU_CPUS": "2",
                   "IBEMU_QEMU_SECONDS": str(SECONDS),
                   # Emulated, HPET is slow and no clock that perftest, which
                   # counts cycles, agrees with.
                   "IBEMU_QEMU_APPEND": "tsc=reliable clocksource=tsc"}
    subprocess.run(
        [ROOT / "tools/qemu", "env",
         f"IBEMU_BUILD={os.environ.get('IBEMU_BUILD', 'build/bench')}",
         "tools/bench.py", "rxe"], stdin=subprocess.DEVNULL, env=environment,
        check=True)
