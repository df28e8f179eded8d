"""Connections by address, TCP/IP over the fabric, and what addresses cost."""

import json
import re
import subprocess
import time

from bench_lab import (BUILD, LONGEST, Ibemu, end, figure, head, interleaved,
                       report_runs)
from bench_verbs import fuse_write

SERVER = "198.18.0.1"
CONNECTIONS = 1000
# What a client of cmtime goes through; each step with all connections at once.
STEPS = ("create id", "resolve addr", "resolve route", "create qp", "connect",
         "disconnect", "destroy")
HOSTS = 65536
SECONDS = 5


def listeners(lab):
    told = subprocess.run([BUILD / "cli/ibemu", "status", "--json",
                           f"--fabric={lab.socket}", "node-1"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    return json.loads(told)["adapters"][0]["listener_count"]


def cmtime(lab, *before):
    """Seconds by step, of all connections; `before`: goes before the client."""
    server = subprocess.Popen(lab.command("node-1", None, "cmtime"),
                              stdout=subprocess.DEVNULL)
    try:
        while listeners(lab) == 0:
            time.sleep(0.05)
        told = subprocess.run(
            lab.command("node-2", None, *before, "cmtime", "-s", SERVER, "-c",
                        CONNECTIONS),
            check=True, text=True, capture_output=True, timeout=LONGEST).stdout
    finally:
        end(server)
    rows = re.findall(r"^(?:cm )?([a-z ]+?) *:? +([\d.]+) ", told, re.M)
    took = {step: float(ms) / 1000 for step, ms in rows}
    return {step: took[step] for step in STEPS if step in took}


def calls(lab, scratch):
    """System calls of a client, all connections together, that go to a device."""
    log = scratch / "calls"
    cmtime(lab, "strace", "-f", "-c", "-o", log, "-e", "trace=write,ioctl,poll")
    return sum(int(row.split()[3]) for row in log.read_text().splitlines()
               if row.split()[-1] in ("write", "ioctl", "poll"))


def bench_connections(scratch):
    lab = Ibemu(scratch, "single-switch:hosts=2", None, sm="builtin")
    head(f"{CONNECTIONS} connections at once (cmtime)",
         other="")
    took = interleaved({"cmtime": lambda: cmtime(lab)})["cmtime"]
    steps = {step: sorted(run[step] for run in took)[len(took) // 2]
             for step in took[0]}
    for step, seconds in steps.items():
        figure(f"{step}, each", seconds / CONNECTIONS * 1e6, "us")
    total = sum(steps.values())
    figure("set up and torn down", CONNECTIONS / total, "/s")
    each = calls(lab, scratch) / CONNECTIONS
    figure("calls of the client to devices, each", each, "")
    figure("share of FUSE: as many by a server that does nothing",
           each * fuse_write(scratch) / 1e6 * CONNECTIONS / total, "")
    lab.server.stop()


def received(told):
    """Mbit/s of iperf3."""
    return json.loads(told)["end"]["sum_received"]["bits_per_second"] / 1e6


def by_fabric(lab, net):
    server = subprocess.Popen(
        lab.command("node-1", None, "sh", "-c",
                    "iperf3 -s -1 > /dev/null & "
                    "until ss -Hltn sport = 5201 | grep -q .; do :; done; "
                    "echo listens; wait", options=[net]),
        stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        return received(subprocess.run(
            lab.command("node-2", None, "iperf3", "--json", "-t", SECONDS, "-c",
                        SERVER, options=[net]),
            check=True, text=True, stdout=subprocess.PIPE,
            timeout=LONGEST).stdout)
    finally:
        end(server)


def by_relay(mtu):
    client = ("for i in 1 2 3 4 5 6 7 8 9; do "
              f"told=$(iperf3 --json -t {SECONDS} -c 10.1.0.1) && break; "
              "sleep 0.1; done; echo \"$told\"")
    return received(subprocess.run(
        [BUILD / "bench/tun_relay", str(mtu), "exec iperf3 -s > /dev/null 2>&1",
         client], check=True, text=True, stdout=subprocess.PIPE,
        timeout=LONGEST).stdout)


def bench_network(scratch):
    lab = Ibemu(scratch, "single-switch:hosts=2", None, sm="builtin")
    head("TCP of --net against packets that a process hands from one TUN device "
         "to another (iperf3)", "relay")
    for mode, net, mtu in (("datagram", "--net", 2044),
                           ("connected", "--net=connected", 65520)):
        got = interleaved({"ibemu": lambda net=net: by_fabric(lab, net),
                           "relay": lambda mtu=mtu: by_relay(mtu)})
        report_runs(f"{mode} mode, packets of {mtu} bytes", got["ibemu"],
                    got["relay"], "Mbit/s", "more", 0.4)
    lab.server.stop()


def bench_plan(scratch):
    head(f"An idle fabric of {HOSTS} hosts", other="")
    topology = f"fat-tree:radix=64,levels=3,hosts={HOSTS}"
    nobody = scratch / "addresses"
    nobody.write_text("")
    without = Ibemu(scratch, topology, None, options=[f"--addresses={nobody}"])
    bare = without.server.memory_mib()
    without.server.stop()
    lab = Ibemu(scratch, topology, None)
    figure("memory of the addresses", lab.server.memory_mib() - bare, "MiB",
           ("less", 20))
    before = lab.server.cpu_seconds()
    time.sleep(SECONDS)
    figure(f"CPU in {SECONDS} s", lab.server.cpu_seconds() - before, "s",
           ("less", 0.001))
    lab.server.stop()


def bench_addresses(scratch, _hosts):
    bench_connections(scratch)
    bench_network(scratch)
    bench_plan(scratch)
