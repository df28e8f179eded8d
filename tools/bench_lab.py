"""What the benchmarks share: simulators, places, and how figures are shown."""

import os
import pathlib
import re
import queue
import shutil
import signal
import statistics
import subprocess
import threading
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
LONGEST = 900  # seconds that a program may take: for the bench, not a yardstick
# Where the server and its client run: CPU numbers.
PLACES = {"sharing a CPU": (0, 0), "on two CPUs": (0, 1)}


def pinned(cpu, arguments):
    """On that CPU; None: wherever the kernel likes."""
    place = [] if cpu is None else ["taskset", "-c", str(cpu)]
    return [*place, *map(str, arguments)]


def end(process):
    """Asks it to end, and ends it where it does not."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Server:
    """A simulator that was started and says when it is ready; `said` is what
    it has said until then."""

    def __init__(self, cpu, arguments, ready, **options):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            pinned(cpu, arguments), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, bufsize=1, **options)
        lines = queue.SimpleQueue()
        # To its end: a server whose output nobody reads stands still.
        threading.Thread(target=self._collect, daemon=True,
                         args=(self.process.stdout, lines)).start()
        self.said = said = []
        while not said or not re.search(ready, said[-1]):
            try:
                line = lines.get(timeout=LONGEST)
            except queue.Empty:
                line = None
            if line is None:
                self.process.kill()
                raise SystemExit(f"{arguments[0]} was not ready, but said:\n"
                                 + "".join(said[-20:]))
            said.append(line)
        self.load_seconds = time.monotonic() - self.began

    @staticmethod
    def _collect(output, lines):
        for line in output:
            lines.put(line)
        lines.put(None)

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
        threads = pathlib.Path(f"/proc/{self.process.pid}/task")
        return sum(int((thread / "schedstat").read_text().split()[0])
                   for thread in threads.iterdir()) / 1e9

    def stop(self):
        end(self.process)


class Ibemu:
    def __init__(self, scratch, net, cpu, sm="none", options=()):
        self.scratch = scratch
        self.socket = scratch / "bench.sock"
        self.server = Server(
            cpu, [BUILD / "cli/ibemud", f"--topology={net}", f"--sm={sm}",
                  f"--socket={self.socket}", *options], r"\bready\b")

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
        # Another ibsim of this machine is none of ours.
        self.environment = dict(os.environ, IBSIM_SOCKNAME=f"bench{os.getpid()}")
        self.server = Server(cpu, ["ibsim", *IBSIM_LIMITS, "-s", net],
                             r"Network simulator ready",
                             stdin=subprocess.PIPE, cwd=scratch,
                             env=self.environment)

    def command(self, host, cpu, *arguments, options=()):
        assert not options  # they are ibemu's
        self.environment |= {"LD_PRELOAD": str(SHIM), "SIM_HOST": host}
        return pinned(cpu, arguments)


def generate(scratch, hosts):
    net = scratch / f"{hosts}.net"
    if not net.exists():
        with net.open("w") as file:
            subprocess.run([BUILD / "cli/ibemu", "topology", "generate",
                            TOPOLOGIES[hosts]], stdout=file, check=True)
    return net


def rate(simulator, command):
    done = subprocess.run(
        command, env=simulator.environment, cwd=simulator.scratch, check=False,
        capture_output=True, text=True, timeout=LONGEST)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")
    return float(done.stdout)


def timed(simulator, command):
    began = time.monotonic()
    subprocess.run(command, env=simulator.environment, cwd=simulator.scratch,
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=LONGEST)
    return time.monotonic() - began


def subnet_up(simulator, command):
    """Seconds until opensm logs SUBNET UP.  It begins with no file of an
    earlier one, whose neighbours are another subnet's."""
    kept = simulator.scratch / "opensm"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    environment = {**(simulator.environment or os.environ),
                   "OSM_CACHE_DIR": str(kept), "OSM_TMP_DIR": str(kept)}
    began = time.monotonic()
    opensm = subprocess.Popen(command, env=environment, cwd=simulator.scratch,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True)
    watchdog = threading.Timer(LONGEST, opensm.kill)
    watchdog.start()
    took = None
    for line in opensm.stdout:
        if "SUBNET UP" in line:
            took = time.monotonic() - began
            break
    # What it still says is read, or it would not end.
    threading.Thread(target=opensm.stdout.read, daemon=True).start()
    end(opensm)
    watchdog.cancel()
    if took is None:
        raise SystemExit("opensm ended before SUBNET UP")
    return took


def opensm(scratch):
    return ["opensm", "-f", "stdout", "--pidfile", scratch / "opensm.pid",
            "--once"]


def interleaved(measures, times=RUNS):
    """What each of these functions returned, by name: all of them once, then
    all of them again.  What else the machine does falls on each alike."""
    got = {name: [] for name in measures}
    for _ in range(times):
        for name, measure in measures.items():
            got[name].append(measure())
    return got


def report_runs(what, ours, theirs, unit, better, limit):
    """Medians of what interleaved() returned, and that of the runs' ratios."""
    report(what, statistics.median(ours), statistics.median(theirs), unit,
           better, limit,
           statistics.median(a / b for a, b in zip(ours, theirs)))


def report(what, ours, theirs, unit, better, limit, ratio=None):
    ratio = ours / theirs if ratio is None else ratio
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
