"""What the benchmarks share: simulators, places, and how figures are shown."""

import os
import pathlib
import re
import signal
import statistics
import subprocess
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
    """On that CPU; None: wherever the kernel likes."""
    place = [] if cpu is None else ["taskset", "-c", str(cpu)]
    return [*place, *map(str, arguments)]


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
            cpu, [BUILD / "cli/ibemud", f"--topology={net}", f"--sm={sm}",
                  f"--socket={self.socket}"], r"\bready\b")

    def command(self, host, cpu, *arguments, options=()):
        return pinned(cpu, [BUILD / "cli/ibemu", "run",
                            f"--fabric={self.socket}", f"--host={host}",
                            *options, "--", *arguments])

    environment = None


class SystemIbemu(Ibemu):
    """The same by character devices, for the whole machine."""

    def __init__(self, scratch, net, cpu, host):
        self.scratch = scratch
        self.server = Server(
            cpu, [BUILD / "cli/ibemud", "--front-end=cuse", "--sm=none",
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
