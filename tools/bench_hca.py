"""Modelled adapters that our driver drives, against hosts of the software
fabric.  Driver and model are in one process, on one CPU, and what hardware does
at once the model does step by step: an upper bound of what the driver costs,
not a forecast for an adapter.  Sends alone: our driver has no regions for
peers."""

import subprocess

from bench_lab import BUILD, Ibemu, Server, head, median
from bench_verbs import best, perftest

NODES = ("node-1", "node-2")


class HcaIbemu(Ibemu):
    """Each host is an adapter, in an ibemud of its own."""

    def __init__(self, scratch, net):
        super().__init__(scratch, net, None, sm="static")
        self.drivers = {}
        self.sockets = {}
        for node in NODES:
            self.sockets[node] = scratch / f"{node}.sock"
            self.drivers[node] = Server(
                None, [BUILD / "cli/ibemud", "--backend=hca",
                       f"model={self.socket}/{node}",
                       f"--socket={self.sockets[node]}"], r"\bready\b")

    def command(self, host, cpu, *arguments, options=()):
        return [BUILD / "cli/ibemu", "run",
                f"--fabric={self.sockets[host]}", f"--host={host}", *options, "--",
                *map(str, arguments)]

    def memory_mib(self):
        return self.drivers["node-1"].memory_mib()

    def stop(self):
        for driver in self.drivers.values():
            driver.stop()
        self.server.stop()


class FabricIbemu(Ibemu):
    def __init__(self, scratch, net):
        super().__init__(scratch, net, None, sm="static")

    def memory_mib(self):
        return self.server.memory_mib()

    def stop(self):
        self.server.stop()


def mad_rate(lab, outstanding):
    return float(subprocess.run(
        lab.command("node-1", None, BUILD / "bench/umad_rate",
                    f"--outstanding={outstanding}", "--count=5000"),
        check=True, stdout=subprocess.PIPE, text=True).stdout)


def measure(lab):
    """Figures of a pair of hosts, by name: (value, unit)."""
    figures = {
        f"MAD round trips, {n} outstanding":
            (median(lambda: mad_rate(lab, n)), "/s") for n in (1, 32)}
    figures["ib_send_lat 8 B, one way"] = (
        -best(lambda: -perftest(lab, "ib_send_lat", "-s", 8, "-n", 2000)[4]),
        "us")
    for size in (4096, 65536):
        figures[f"ib_send_bw {size >> 10} KiB"] = (
            best(lambda: perftest(lab, "ib_send_bw", "-s", size, "-n",
                                  (64 << 20) // size)[3] * 1.048576), "MB/s")
    figures["memory of a daemon"] = (lab.memory_mib(), "MiB")
    return figures


def bench_hca(scratch, _hosts):
    head("Modelled adapters and our driver, against the software fabric",
         "fabric")
    got = []
    for kind in (HcaIbemu, FabricIbemu):
        lab = kind(scratch, "single-switch:hosts=2")
        got.append(measure(lab))
        lab.stop()
    for what, (ours, unit) in got[0].items():
        theirs = got[1][what][0]
        print(f"{what:<58} {ours:>10.4g} {theirs:>10.4g} {unit:<6}"
              f" {ours / theirs:5.2f}", flush=True)
