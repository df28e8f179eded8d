"""1,000 hosts of one subnet by eight daemons that join it, all on this machine."""

import json
import pathlib
import re
import subprocess
import threading
import time

from bench_lab import (BUILD, LONGEST, Server, end, figure, head, timed)

HOSTS, DAEMONS = 1000, 8
TREE = f"fat-tree:radix=16,levels=3,hosts={HOSTS}"
IDLE = 10  # seconds
NAMES = [f"node-{number}" for number in range(1, HOSTS + 1)]
# Each has one of the eight hosts of a leaf switch.
OF_DAEMON = [NAMES[number::DAEMONS] for number in range(DAEMONS)]


class Machines:
    """The subnet's daemon, and those that have its hosts."""

    environment = None

    def __init__(self, scratch):
        self.scratch = scratch
        certificates = scratch / "machines.certificates"
        subprocess.run([BUILD / "cli/ibemu", "certs", certificates,
                        "head,127.0.0.1", "host"], check=True)
        began = time.monotonic()
        self.head = Server(None, [
            BUILD / "cli/ibemud", f"--topology={TREE}", "--sm=static",
            f"--socket={scratch}/head.sock", "--listen=127.0.0.1:0",
            f"--certs={certificates}/head"], r"\bready\b")
        port = re.search(r"for other machines at \S+:(\d+)",
                         self.head.said[-1])[1]
        self.others = [Server(None, [
            BUILD / "cli/ibemud", f"--join=127.0.0.1:{port}",
            f"--certs={certificates}/host", f"--socket={scratch}/{number}.sock",
            *[f"--host={host}" for host in hosts]], r"\bready\b")
            for number, hosts in enumerate(OF_DAEMON)]
        self.seconds = time.monotonic() - began

    def command(self, number, host, *arguments):
        """On a host of this daemon."""
        return [BUILD / "cli/ibemu", "run", f"--fabric={self.scratch}/{number}.sock",
                f"--host={host}", "--", *arguments]

    def ibemu(self, command, *arguments):
        return subprocess.run(
            [BUILD / "cli/ibemu", command, f"--fabric={self.scratch}/head.sock",
             *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout

    def stop(self):
        for server in (*self.others, self.head):
            server.stop()


def descendants(pid):
    """The processes that it has started, as ibemu-peers is one."""
    children = [
        int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()]
    return children + [each for child in children for each in descendants(child)]


def cpu_seconds(pids):
    return sum(int((thread / "schedstat").read_text().split()[0])
               for pid in pids
               for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def memory_mib(pids):
    return sum(int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(
        f"/proc/{pid}/status").read_text())[1]) for pid in pids) / 1024


def idle(machines):
    """What the daemons use when nothing happens, as shares of a processor."""
    groups = {"the subnet's daemon": [machines.head.process.pid],
              "its ibemu-peers": descendants(machines.head.process.pid),
              "a daemon of hosts": [machines.others[0].process.pid],
              "that one's ibemu-peers": descendants(
                  machines.others[0].process.pid)}
    before = {name: cpu_seconds(pids) for name, pids in groups.items()}
    time.sleep(IDLE)
    for name, pids in groups.items():
        share = (cpu_seconds(pids) - before[name]) / IDLE
        figure(f"idle, {name}: of a processor", share, "")
        figure(f"idle, {name}: memory", memory_mib(pids), "MiB")


class Watch:
    """ibv_asyncwatch on a host, and when it heard of what."""

    def __init__(self, command):
        self.heard = {}
        self._process = subprocess.Popen(
            ["stdbuf", "-oL", *map(str, command)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._begun = threading.Event()
        self._cut = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        if not self._begun.wait(LONGEST):
            raise SystemExit("ibv_asyncwatch did not begin")

    def _read(self):
        for line in self._process.stdout:
            self.heard[line.strip()] = time.monotonic()
            self._begun.set()
            if "PORT_ERR" in line:
                self._cut.set()

    def heard_of_cut(self):
        """When."""
        if not self._cut.wait(LONGEST):
            raise SystemExit("a cut was not heard of")
        return next(when for line, when in self.heard.items()
                    if "PORT_ERR" in line)

    def stop(self):
        end(self._process)


def cut(machines):
    """The switch goes that one host of each daemon is at; until programs on all
    of them have heard."""
    watches = [Watch(machines.command(number, hosts[0], "ibv_asyncwatch"))
               for number, hosts in enumerate(OF_DAEMON)]
    began = time.monotonic()
    machines.ibemu("node", "pod-1-leaf-1", "down")
    heard = max(watch.heard_of_cut() for watch in watches)
    machines.ibemu("node", "pod-1-leaf-1", "up")
    for watch in watches:
        watch.stop()
    figure("a cut, until programs of all daemons have heard",
           (heard - began) * 1000, "ms", ("less", 100))


def joined(machines):
    return len(json.loads(machines.ibemu("status", "--json"))["joined"])


def bench_machines(scratch, _hosts):
    head(f"{HOSTS} hosts of one subnet, by {DAEMONS} daemons that join it", "")
    machines = Machines(scratch)
    try:
        measure(machines)
    finally:
        machines.stop()


def measure(machines):
    figure("until all have joined", machines.seconds, "s")
    figure("hosts that have", joined(machines), "", ("more", HOSTS))
    idle(machines)
    cut(machines)
    figure("ibnetdiscover from a joined host", timed(
        machines, machines.command(0, OF_DAEMON[0][1], "ibnetdiscover")), "s")
