#!/usr/bin/python3
"""ibemu against ibsim, on one machine, in one run, placed alike.

    tools/bench.py [micro] [rate] [messages] [tools] [memory] [idle] [scale]
                   [system] [page] [verbs] [addresses] [hca]
                   [joined] [machines] [rxe]
    tools/bench.py --hosts 648,3888 tools

All suites, unless some are named.

Figures are medians of several runs; each ratio says which way is better.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from bench_addresses import bench_addresses
from bench_hca import bench_hca
from bench_ibsim import bench_rate, bench_tools
from bench_joined import bench_joined
from bench_lab import (BUILD, MESSAGES, PLACES, ROOT, RUNS, Ibemu, Ibsim,
                       SystemIbemu, figure, generate, head, median, rate,
                       report, timed)
from bench_machines import bench_machines
from bench_page import bench_page
from bench_rxe import bench_rxe
from bench_scale import bench_scale
from bench_verbs import bench_verbs


def bench_micro(_scratch, _hosts):
    for program in sorted((BUILD / "bench").glob("*_bench")):
        print(f"\n{program.name}", flush=True)
        subprocess.run([program, "--benchmark_color=false"], check=True)


def bench_messages(scratch, _hosts):
    """Two clients on two hosts; the kernel's RMPP does the segments."""
    program = BUILD / "bench/umad_message"
    for place, (server_cpu, client_cpu) in PLACES.items():
        head(f"RMPP messages, write() to read(), {place};"
             " ibsim has no kernel RMPP to compare with", "")
        ours = Ibemu(scratch, "back-to-back", server_cpu, sm="static")
        answers = subprocess.Popen(
            ours.command("node-2", client_cpu, program, "--serve"),
            stdout=subprocess.PIPE, text=True)
        ask = ours.command("node-1", client_cpu, program,
                           f"--ask={answers.stdout.readline().strip()}")
        others = ours.command("node-1", client_cpu, BUILD / "bench/umad_rate",
                              "--seconds=3")

        def times(kind):
            output = subprocess.run(others, check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
            for name, value in zip(("median", "99 %", "longest"),
                                   output.split()):
                figure(f"another client's round trip, {kind}: {name}",
                       float(value), "us")

        times("alone")
        for mib in (16, 64):
            size = f"--bytes={mib << 20}"
            before = ours.server.memory_mib()
            ours.server.forget_peak()
            rates = [float(line) for line in subprocess.run(
                [*ask, size, f"--count={MESSAGES}"], check=True, text=True,
                stdout=subprocess.PIPE).stdout.split()]
            growth = (ours.server.peak_mib() - before) / mib
            wanted = ("more", 200) if mib == 16 else None
            figure(f"{mib} MiB: best of {MESSAGES}", max(rates), "MB/s", wanted)
            figure(f"{mib} MiB: median", statistics.median(rates), "MB/s",
                   wanted)
            figure(f"{mib} MiB: memory that the daemon takes", growth,
                   "x size", ("less", 4))
            stream = subprocess.Popen([*ask, size, "--count=1000000"],
                                      stdout=subprocess.PIPE, text=True)
            stream.stdout.readline()
            times(f"beside {mib} MiB")
            stream.terminate()
            stream.communicate()
        answers.terminate()
        answers.communicate()
        ours.server.stop()


def bench_memory(scratch, hosts):
    for count in hosts:
        head(f"Loading {count} hosts")
        net = generate(scratch, count)
        loaded = {}
        for kind in (Ibemu, Ibsim):
            simulator = kind(scratch, net, 0)
            loaded[kind] = (simulator.server.load_seconds,
                            simulator.server.memory_mib())
            simulator.server.stop()
        report("time", loaded[Ibemu][0], loaded[Ibsim][0], "s", "less", 0.25)
        # The program itself outweighs a small fabric.
        report("memory", loaded[Ibemu][1], loaded[Ibsim][1], "MiB", "less",
               0.5 if count > 4000 else 1)


def bench_idle(scratch, _hosts):
    head("CPU seconds in five idle ones, a program attached")
    net = generate(scratch, 648)
    used = {}
    for kind in (Ibemu, Ibsim):
        simulator = kind(scratch, net, 0)
        command = simulator.command("node-1", 1, "ibping", "-S")
        client = subprocess.Popen(command, env=simulator.environment,
                                  cwd=simulator.scratch,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(1)  # both settle
        before = simulator.server.cpu_seconds()
        time.sleep(5)
        used[kind] = simulator.server.cpu_seconds() - before
        client.terminate()
        client.wait()
        simulator.server.stop()
    print(f"{'':<58} {used[Ibemu]:>10.4g} {used[Ibsim]:>10.4g} s")


def bench_system(scratch, _hosts):
    """In one kernel that has CUSE: this one, or a User-Mode Linux."""
    if not os.path.exists("/dev/cuse"):
        subprocess.run([ROOT / "tools/uml", ROOT / "tools/bench.py", "system"],
                       stdin=subprocess.DEVNULL, check=True)
        return
    net = generate(scratch, 648)
    client = BUILD / "bench/umad_rate"
    head(f"System mode against run mode, Linux {os.uname().release}",
         "run mode")
    got = []
    for kind in (lambda: SystemIbemu(scratch, net, 0, "node-1"),
                 lambda: Ibemu(scratch, net, 0)):
        simulator = kind()
        got.append({
            **{f"{n} outstanding": median(lambda: rate(
                simulator, simulator.command(
                    "node-1", 0, client, f"--outstanding={n}",
                    "--count=5000"))) for n in (1, 32)},
            "ibnetdiscover": median(lambda: timed(
                simulator, simulator.command("node-1", 0, "ibnetdiscover")))})
        simulator.server.stop()
    for what, ours in got[0].items():
        unit = "s" if what == "ibnetdiscover" else "/s"
        print(f"{what:<58} {ours:>10.4g} {got[1][what]:>10.4g} {unit:<6}"
              f" {ours / got[1][what]:5.2f}", flush=True)


def main():
    suites = {"micro": bench_micro, "rate": bench_rate,
              "messages": bench_messages, "tools": bench_tools,
              "memory": bench_memory, "idle": bench_idle,
              "scale": bench_scale, "system": bench_system, "page": bench_page,
              "verbs": bench_verbs, "addresses": bench_addresses,
              "hca": bench_hca, "joined": bench_joined,
              "machines": bench_machines, "rxe": bench_rxe}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default="648,3888,11664")
    parser.add_argument("suites", nargs="*", choices=[*suites, []])
    options = parser.parse_args()
    hosts = [int(count) for count in options.hosts.split(",")]
    print(f"{os.cpu_count()} CPUs, medians of {RUNS} runs")
    with tempfile.TemporaryDirectory(prefix="ibemu-bench-") as scratch:
        for name in options.suites or suites:
            suites[name](pathlib.Path(scratch), hosts)


if __name__ == "__main__":
    sys.exit(main())
