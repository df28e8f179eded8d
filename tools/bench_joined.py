"""Two hosts that have a daemon each: by leases, by encrypted ones, through the
daemon that has the subnet (--exact), and TCP beside them."""

import random
import re
import subprocess

from bench_lab import (BUILD, LONGEST, Ibemu, Server, head, interleaved, pinned,
                       report_runs)
from bench_verbs import SIZES, perftest, ucx_tcp

HOSTS = ["node-1", "node-2"]


class JoinedIbemu(Ibemu):
    """A daemon has the subnet, and each host another, which joins it over TCP."""

    def __init__(self, scratch, options=()):
        certificates = scratch / "certificates"
        if not certificates.exists():
            subprocess.run([BUILD / "cli/ibemu", "certs", certificates,
                            "localhost,127.0.0.1", *HOSTS], check=True)
        super().__init__(scratch, "single-switch:hosts=4", None, sm="static",
                         options=["--listen=127.0.0.1:0", *options,
                                  f"--certs={certificates}/localhost"])
        port = re.search(r"for other machines at \S+:(\d+)",
                         self.server.said[-1])[1]
        self.joined = [Server(None, [
            BUILD / "cli/ibemud", f"--join=127.0.0.1:{port}", f"--host={host}",
            f"--certs={certificates}/{host}", f"--socket={self.socket_of(host)}"],
            r"\bready\b") for host in HOSTS]

    def socket_of(self, host):
        return self.scratch / f"{host}.sock"

    def command(self, host, cpu, *arguments, options=()):
        return pinned(cpu, [BUILD / "cli/ibemu", "run",
                            f"--fabric={self.socket_of(host)}", *options, "--",
                            *arguments])

    def stop(self):
        for server in self.joined:
            server.stop()
        self.server.stop()


def iperf():
    """MB/s of one TCP connection."""
    port = str(random.randrange(20000, 60000))
    server = Server(None, ["iperf3", "-s", "-1", "--forceflush", "-p", port], "listening")
    output = subprocess.run(
        ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "2", "-f", "m"],
        check=True, text=True, stdout=subprocess.PIPE, timeout=LONGEST).stdout
    server.stop()
    return float(re.search(r"(\S+) Mbits/sec .*receiver", output)[1]) / 8


def bench_joined(scratch, _hosts):
    def measure(options):
        """What perftest says, by name."""
        lab = JoinedIbemu(scratch, options)
        got = {"send, 8 bytes, one way":
               perftest(lab, "ib_send_lat", "-s", 8, "-n", 500)[4]}
        for size in SIZES:
            got[f"write, {size >> 10} KiB"] = perftest(
                lab, "ib_write_bw", "-s", size, "-n", 300, "-t", 32)[3]
        lab.stop()
        return got

    runs = interleaved({
        "leases": lambda: measure([]), "exact": lambda: measure(["--exact"]),
        "encrypted": lambda: measure(["--encrypt"]),
        "iperf3": iperf,
        "ucx": lambda: ucx_tcp("tag_lat", 8, 5000, r"Final: +\d+ +(\S+)")})

    def of(kind, what):
        return [run[what] for run in runs[kind]]

    for other in ("exact", "encrypted", "TCP"):
        head(f"Two hosts with a daemon each, against {other}", other)
        for what in runs["leases"][0]:
            sends = what.startswith("send")
            theirs = (of(other, what) if other != "TCP" else
                      runs["ucx"] if sends else runs["iperf3"])
            limits = {("exact", True): 0.8, ("exact", False): 1.2,
                      ("encrypted", True): 1, ("encrypted", False): 1,
                      ("TCP", True): 1, ("TCP", False): 0.8}
            report_runs(what, of("leases", what), theirs,
                        "us" if sends else "MB/s", "less" if sends else "more",
                        limits[other, sends])
