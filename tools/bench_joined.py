"""Two hosts that have a daemon each: by leases, by encrypted ones, through the
daemon that has the subnet (--exact), and TCP beside them."""

import contextlib
import os
import random
import re
import subprocess

from bench_lab import (BUILD, LONGEST, Ibemu, Server, end, head, interleaved,
                       pinned, report_runs)
from bench_verbs import SIZES, libfabric_tcp, perftest, ucx_tcp

HOSTS = ["node-1", "node-2"]
VETH = ["10.98.0.1", "10.98.0.2"]
LONG = 1 << 30  # bytes: half a second or more, so that the start does not count


class Machines:
    """Two network namespaces with a pair of veth devices between them, as two
    machines have a cable; for who is not root, or with `one`, one machine's
    loopback."""

    def __init__(self, one=False):
        if one or os.geteuid() != 0:
            self.addresses, self._inside = ["127.0.0.1"] * 2, [[], []]
            self._keepers = []
            return
        self.addresses = VETH
        # Each says that it is in its namespace.
        self._keepers = [Server(None, [
            "unshare", "--net", "sh", "-c",
            "ip link set lo up; echo is there; exec sleep infinity"], "is there")
            for _ in VETH]
        pids = [keeper.process.pid for keeper in self._keepers]
        self._inside = [["nsenter", f"--net=/proc/{pid}/ns/net"] for pid in pids]
        self._ip(0, f"link add wire type veth peer name wire netns {pids[1]}")
        for number, address in enumerate(VETH):
            self._ip(number, f"address add {address}/24 dev wire")
            self._ip(number, "link set wire up")

    def on(self, number, *command):
        """The command, on this machine."""
        return [*self._inside[number], *map(str, command)]

    def _ip(self, number, words):
        subprocess.run(self.on(number, "ip", *words.split()), check=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for keeper in self._keepers:
            keeper.stop()


class JoinedIbemu(Ibemu):
    """A daemon has the subnet, and each host another, which joins it over TCP:
    the first host is on its machine, and the other on the other."""

    def __init__(self, scratch, machines, options=()):
        certificates = scratch / "certificates"
        [address, _] = machines.addresses
        if not certificates.exists():
            subprocess.run([BUILD / "cli/ibemu", "certs", certificates,
                            f"head,{address}", *HOSTS], check=True)
        self.scratch = scratch
        self.server = Server(None, machines.on(
            0, BUILD / "cli/ibemud", "--topology=single-switch:hosts=4",
            "--sm=static", f"--socket={scratch}/bench.sock",
            f"--listen={address}:0", *options, f"--certs={certificates}/head"),
            r"\bready\b")
        port = re.search(r"for other machines at \S+:(\d+)",
                         self.server.said[-1])[1]
        self.joined = [Server(None, machines.on(
            number, BUILD / "cli/ibemud", f"--join={address}:{port}",
            f"--host={host}", f"--certs={certificates}/{host}",
            f"--socket={self.socket_of(host)}"), r"\bready\b")
            for number, host in enumerate(HOSTS)]

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


def iperf(machines, *options):
    """MB/s of one TCP connection."""
    port = str(random.randrange(20000, 60000))
    server = Server(None, machines.on(1, "iperf3", "-s", "-1", "--forceflush",
                                      "-p", port), "listening")
    output = subprocess.run(
        machines.on(0, "iperf3", "-c", machines.addresses[1], "-p", port, "-t",
                    "2", "-f", "m", *options),
        check=True, text=True, stdout=subprocess.PIPE, timeout=LONGEST).stdout
    server.stop()
    return float(re.search(r"(\S+) Mbits/sec .*receiver", output)[1]) / 8


@contextlib.contextmanager
def qperf_server(machines):
    """qperf asks for its port again and again until it is there."""
    port = random.randrange(20000, 60000)
    server = subprocess.Popen(machines.on(1, "qperf", "-lp", port))
    try:
        yield lambda *words: subprocess.run(
            machines.on(0, "qperf", "-lp", port, "--wait_server", 10,
                        machines.addresses[1], "-t", 2, "-vvu", *words),
            check=True, text=True, stdout=subprocess.PIPE, timeout=LONGEST).stdout
    finally:
        end(server)


def tcp_latency(machines, size):
    """Microseconds of so many bytes, one way."""
    with qperf_server(machines) as ask:
        told = ask("-m", size, "tcp_lat")
    return float(re.search(r"latency += +([\d.]+) us", told)[1])


def tcp_bandwidth(machines, size):
    """MB/s of send() and recv() of so many bytes each."""
    with qperf_server(machines) as ask:
        told = ask("-m", size, "tcp_bw")
    number, unit = re.search(r"bw += +([\d.]+) (MB|GB)/sec", told).groups()
    return float(number) * {"MB": 1, "GB": 1000}[unit]


def bench_transports():
    """What might carry packets between daemons, with nothing around it."""
    head("TCP, on one machine, against UCX and libfabric over it", "theirs")
    with Machines(one=True) as machines:
        runs = interleaved({
            "lat": lambda: tcp_latency(machines, 8),
            "bw": lambda: tcp_bandwidth(machines, 4096),
            "ucx lat": lambda: ucx_tcp("tag_lat", 8, 5000,
                                       r"Final: +\d+ +(\S+)"),
            "ucx bw": lambda: ucx_tcp("tag_bw", 4096, 50000,
                                      r"Final: +\d+ +(?:\S+ +){4}(\S+)"),
            "libfabric lat": lambda: libfabric_tcp(64, 1)})
    report_runs("8 bytes one way, UCX", runs["lat"], runs["ucx lat"], "us", "less",
                1)
    report_runs("8 bytes one way, libfabric (64)", runs["lat"],
                runs["libfabric lat"], "us", "less", 1)
    report_runs("4 KiB messages, UCX", runs["bw"], runs["ucx bw"], "MB/s", "more",
                1)


def bench_joined(scratch, _hosts):
    with Machines() as machines:
        bench_on(machines, scratch)
    bench_transports()


def bench_on(machines, scratch):
    def measure(options):
        """What perftest says, by name."""
        lab = JoinedIbemu(scratch, machines, options)
        got = {"send, 8 bytes, one way":
               perftest(lab, "ib_send_lat", "-s", 8, "-n", 500)[4]}
        for size in SIZES:
            got[f"write, {size >> 10} KiB"] = perftest(
                lab, "ib_write_bw", "-s", size, "-n", LONG // size, "-t", 32)[3]
        lab.stop()
        return got

    runs = interleaved({
        "leases": lambda: measure([]), "exact": lambda: measure(["--exact"]),
        "encrypted": lambda: measure(["--encrypt"]),
        "iperf3": lambda: iperf(machines),
        "unpaced": lambda: iperf(machines, "-C", "reno"),
        "qperf": lambda: tcp_latency(machines, 8)})

    def of(kind, what):
        return [run[what] for run in runs[kind]]

    for other in ("exact", "encrypted", "TCP", "TCP by Reno"):
        head(f"Two hosts with a daemon each, against {other}", other)
        for what in runs["leases"][0]:
            sends = what.startswith("send")
            if sends and other == "TCP by Reno":
                continue
            theirs = (of(other, what) if not other.startswith("TCP") else
                      runs["qperf"] if sends else
                      runs["iperf3" if other == "TCP" else "unpaced"])
            limits = {("exact", True): 0.8, ("exact", False): 1.2,
                      ("encrypted", True): 1, ("encrypted", False): 1,
                      ("TCP", True): 1, ("TCP", False): 0.8,
                      # What TCP does that nothing paces: for comparison.
                      ("TCP by Reno", False): 0.2}
            report_runs(what, of("leases", what), theirs,
                        "us" if sends else "MB/s", "less" if sends else "more",
                        limits[other, sends])
