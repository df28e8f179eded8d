"""Management against ibsim, in pairs of runs that follow one another: MAD round
trips, and the real tools to their end."""

import functools
import subprocess
import time

from bench_lab import (BUILD, PLACES, RUNS, Ibemu, Ibsim, end, generate, head,
                       interleaved, median, opensm, pinned, rate, report_runs,
                       subnet_up, timed)

BY_FILE = ["--no-fast-path"]
BATCH = ["--sched=batch"]


class NullServer:
    """A FUSE server that only echoes."""

    environment = None

    def __init__(self, scratch, cpu):
        self.scratch = scratch
        self._mount = scratch / "null"
        self._mount.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            pinned(cpu, [BUILD / "bench/null_fuse", self._mount]))
        while not self._mount.is_mount():
            if self._process.poll() is not None:
                raise SystemExit("null_fuse ended before it was ready")
            time.sleep(0.01)

    def command(self, _host, cpu, *arguments, options=()):
        assert not options
        return pinned(cpu, [*arguments, f"--file={self._mount}/echo"])

    def stop(self):
        end(self._process)


def bench_rate(scratch, _hosts):
    net = generate(scratch, 648)
    for place, (server_cpu, client_cpu) in PLACES.items():
        head(f"MAD round trips per second, {place}")
        ours, ibsim = Ibemu(scratch, net, server_cpu), Ibsim(scratch, net, server_cpu)
        null = NullServer(scratch, server_cpu)
        alike = server_cpu == client_cpu
        for outstanding, wanted in ((1, 3 if alike else 4),
                                    (32, 6 if alike else 2.5)):
            def of(simulator, *options):
                return rate(simulator, simulator.command(
                    "node-1", client_cpu, BUILD / "bench/umad_rate",
                    f"--outstanding={outstanding}", "--count=50000",
                    options=options))

            got = interleaved({"ours": lambda: of(ours),
                               "ibsim": lambda: of(ibsim),
                               "by file": lambda: of(ours, *BY_FILE),
                               "null": lambda: of(null)})
            name = f"{outstanding} outstanding"
            report_runs(f"{name}, against ibsim", got["ours"], got["ibsim"],
                        "/s", "more", wanted)
            report_runs(f"{name}, against --no-fast-path", got["ours"],
                        got["by file"], "/s", "more", 3)
            report_runs(f"{name}, --no-fast-path against a null FUSE server",
                        got["by file"], got["null"], "/s", "more", 0.8)
        ours.server.stop()
        ibsim.server.stop()
        null.stop()


WANTED = {"ibnetdiscover": 0.75, "iblinkinfo": 0.75, "opensm to SUBNET UP": 0.85,
          "the simulator's own CPU for opensm": 1}


def one_round(kind, scratch, net, cpus, options=()):
    """All tools, on a simulator that begins anew: seconds, by what took them."""
    server_cpu, client_cpu = cpus
    simulator = kind(scratch, net, server_cpu)
    server = simulator.server

    def command(*tool):
        return simulator.command("node-1", client_cpu, *tool, options=options)

    def discovered(tool):
        # The first of them finds caches cold.
        return median(lambda: timed(simulator, command(tool)))

    found = {"ibnetdiscover": discovered("ibnetdiscover")}
    before = server.cpu_seconds()
    found["opensm to SUBNET UP"] = subnet_up(simulator, command(*opensm(scratch)))
    found["the simulator's own CPU for opensm"] = server.cpu_seconds() - before
    found["iblinkinfo"] = discovered("iblinkinfo")
    server.stop()
    return found


def bench_tools(scratch, hosts):
    for place, cpus in PLACES.items():
        for count in hosts:
            head(f"{count} hosts, {place}: seconds", "ibsim")
            net = generate(scratch, count)
            ways = {"ours": (Ibemu, ()), "ibsim": (Ibsim, ()),
                    "batch": (Ibemu, BATCH)}
            rounds = interleaved(
                {name: functools.partial(one_round, kind, scratch, net, cpus,
                                         options)
                 for name, (kind, options) in ways.items()},
                RUNS if count < 1000 else 1)
            for what, limit in WANTED.items():
                took = {way: [found[what] for found in rounds[way]]
                        for way in ways}
                report_runs(what, took["ours"], took["ibsim"], "s", "less",
                            limit)
                report_runs(f"{what}, {BATCH[0]}", took["batch"],
                            took["ibsim"], "s", "less", limit)
