#!/usr/bin/python3
"""ibemu against ibsim, on one machine, in one run, placed alike.

    tools/bench.py [micro] [rate] [messages] [tools] [memory] [idle] [system]
    tools/bench.py --hosts 648,3888 tools

All suites, unless some are named.

Figures are medians of several runs; each ratio says which way is better.
"""

import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("IBEMU_BUILD", "build/bench")
SHIM = next(pathlib.Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), "")
# ibsim holds fixed tables; these hold the largest topology below.
IBSIM_LIMITS = ["-N", "16384", "-S", "2048", "-P", "131072"]
TOPOLOGIES = {648: "fat-tree:radix=36,levels=2",
              3888: "fat-tree:radix=36,levels=3,hosts=3888",
              11664: "fat-tree:radix=36,levels=3"}
RUNS = 3
MESSAGES = 12
# Where the server and its client run: CPU numbers.
PLACES = {"sharing a CPU": (0, 0), "on two CPUs": (0, 1)}


def pinned(cpu, arguments):
    return ["taskset", "-c", str(cpu), *map(str, arguments)]


class Server:
    """A simulator that was started and says when it is ready."""

    def __init__(self, cpu, arguments, ready, **options):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            pinned(cpu, arguments), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, bufsize=1, **options)
        for line in self.process.stdout:
            if re.search(ready, line):
                break
        else:
            raise SystemExit(f"{arguments[0]} ended before it was ready")
        self.load_seconds = time.monotonic() - self.began

    def _mib(self, field):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024

    def memory_mib(self):
        return self._mib("VmRSS")

    def peak_mib(self):
        return self._mib("VmHWM")

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.communicate()


class Ibemu:
    def __init__(self, scratch, net, cpu, sm="none"):
        self.scratch = scratch
        self.socket = scratch / "bench.sock"
        self.server = Server(
            cpu, [BUILD / "daemon/ibemud", f"--topology={net}", f"--sm={sm}",
                  f"--socket={self.socket}"], r"\bready\b")

    def command(self, host, cpu, *arguments):
        return pinned(cpu, [BUILD / "daemon/ibemu", "run",
                            f"--fabric={self.socket}", f"--host={host}", "--",
                            *arguments])

    environment = None


class SystemIbemu(Ibemu):
    """The same by character devices, for the whole machine."""

    def __init__(self, scratch, net, cpu, host):
        self.scratch = scratch
        self.server = Server(
            cpu, [BUILD / "daemon/ibemud", "--front-end=cuse", "--sm=none",
                  f"--topology={net}", f"--host={host}"], r"\bready\b")

    def command(self, host, cpu, *arguments):
        return pinned(cpu, arguments)


class Ibsim:
    def __init__(self, scratch, net, cpu):
        self.scratch = scratch  # its shim leaves a tree where a client runs
        self.server = Server(cpu, ["ibsim", *IBSIM_LIMITS, "-s", net],
                             r"Network simulator ready",
                             stdin=subprocess.PIPE, cwd=scratch)

    def command(self, host, cpu, *arguments):
        self.environment = dict(os.environ, LD_PRELOAD=SHIM, SIM_HOST=host)
        return pinned(cpu, arguments)


def timed(simulator, command):
    began = time.monotonic()
    subprocess.run(command, env=simulator.environment, cwd=simulator.scratch,
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def subnet_up(simulator, command):
    """Seconds until opensm logs SUBNET UP."""
    began = time.monotonic()
    opensm = subprocess.Popen(command, env=simulator.environment,
                              cwd=simulator.scratch,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True)
    took = None
    for line in opensm.stdout:
        if "SUBNET UP" in line:
            took = time.monotonic() - began
            break
    opensm.send_signal(signal.SIGTERM)
    opensm.communicate()
    if took is None:
        raise SystemExit("opensm ended before SUBNET UP")
    return took


def opensm(scratch):
    return ["opensm", "-f", "stdout", "--pidfile", scratch / "opensm.pid",
            "--once"]


def report(what, ours, theirs, unit, better, limit):
    ratio = ours / theirs
    good = ratio >= limit if better == "more" else ratio <= limit
    print(f"{what:<58} {ours:>10.4g} {theirs:>10.4g} {unit:<6}"
          f" {ratio:5.2f} (wanted {'>=' if better == 'more' else '<='} {limit}"
          f"{'' if good else ': MISSED'})", flush=True)


def head(title, other="other"):
    print(f"\n{title}\n{'':<58} {'ibemu':>10} {other:>10} {'':<6}"
          f"{' ratio' if other else ''}")


def figure(what, value, unit, wanted=None):
    """One that there is nothing to compare with.  `wanted`: (better, limit)."""
    verdict = ""
    if wanted is not None:
        better, limit = wanted
        good = value >= limit if better == "more" else value <= limit
        verdict = (f" (wanted {'>=' if better == 'more' else '<='} {limit}"
                   f"{'' if good else ': MISSED'})")
    print(f"{what:<58} {value:>10.4g} {'':>10} {unit:<6}{verdict}", flush=True)


def median(measure):
    return statistics.median(measure() for _ in range(RUNS))


def generate(scratch, hosts):
    net = scratch / f"{hosts}.net"
    if not net.exists():
        with net.open("w") as file:
            subprocess.run([BUILD / "daemon/ibemu", "topology", "generate",
                            TOPOLOGIES[hosts]], stdout=file, check=True)
    return net


def bench_micro(_scratch, _hosts):
    for program in sorted((BUILD / "bench").glob("*_bench")):
        print(f"\n{program.name}", flush=True)
        subprocess.run([program, "--benchmark_color=false"], check=True)


def rate(simulator, command):
    return float(subprocess.run(
        command, env=simulator.environment, cwd=simulator.scratch, check=True,
        stdout=subprocess.PIPE, text=True).stdout)


def bench_rate(scratch, _hosts):
    net = generate(scratch, 648)
    client = BUILD / "bench/umad_rate"
    for place, (server_cpu, client_cpu) in PLACES.items():
        head(f"MAD round trips per second, {place}")
        mount = scratch / "null"
        mount.mkdir(exist_ok=True)
        null = subprocess.Popen(pinned(server_cpu,
                                       [BUILD / "bench/null_fuse", mount]))
        while not mount.is_mount():
            time.sleep(0.01)
        ours, ibsim = Ibemu(scratch, net, server_cpu), Ibsim(scratch, net, server_cpu)
        for outstanding, wanted in ((1, 0.75), (32, 0.3)):
            options = [f"--outstanding={outstanding}", "--count=50000"]

            def of(simulator):
                return median(lambda: rate(simulator, simulator.command(
                    "node-1", client_cpu, client, *options)))

            class Null:
                environment = None
                scratch = mount.parent

            mine = of(ours)
            report(f"{outstanding} outstanding, against ibsim", mine, of(ibsim),
                   "/s", "more", wanted)
            floor = median(lambda: rate(Null, pinned(client_cpu, [
                client, *options, f"--file={mount}/echo"])))
            report(f"{outstanding} outstanding, against a null FUSE server",
                   mine, floor, "/s", "more", 0.8)
        ours.server.stop()
        ibsim.server.stop()
        null.terminate()
        null.wait()


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


def bench_tools(scratch, hosts):
    for place, (server_cpu, client_cpu) in PLACES.items():
        for count in hosts:
            head(f"{count} hosts, {place}: seconds")
            net = generate(scratch, count)
            runs = {"ibnetdiscover": {}, "opensm to SUBNET UP": {},
                    "iblinkinfo": {}}
            for kind in (Ibemu, Ibsim):
                simulator = kind(scratch, net, server_cpu)

                def command(*tool):
                    return simulator.command("node-1", client_cpu, *tool)

                times = RUNS if count < 4000 else 1
                for what, measure in (
                        ("ibnetdiscover", lambda: timed(
                            simulator, command("ibnetdiscover"))),
                        ("opensm to SUBNET UP", lambda: subnet_up(
                            simulator, command(*opensm(scratch)))),
                        ("iblinkinfo", lambda: timed(
                            simulator, command("iblinkinfo")))):
                    runs[what][kind] = statistics.median(
                        measure() for _ in range(
                            1 if what.startswith("opensm") else times))
                simulator.server.stop()
            for what, result in runs.items():
                limit = (1.2 if what.startswith("opensm") or count > 4000
                         else 1.5)
                report(what, result[Ibemu], result[Ibsim], "s", "less", limit)


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
              "system": bench_system}
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
