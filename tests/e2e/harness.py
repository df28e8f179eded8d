"""The vocabulary of the end-to-end tests: accounts, fabrics, programs.

Waiting is reading until a line or an exit status comes, with a deadline that only
a fault reaches.  Where a state gives no sign, until() asks for it again and again.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import subprocess
import tempfile
import threading
import time
import uuid
from signal import SIGKILL, SIGSTOP, SIGTERM

import pytest

DEADLINE = 300  # seconds; generous: CI machines are slow and shared
ROOT = pathlib.Path(__file__).resolve().parents[2]
# What `tools/dev deep sanitized` has to say to the programs that it watches.
FOR_SANITIZERS = {name: text for name, text in os.environ.items()
                  if name == "ASAN_OPTIONS"}
MARK = "IBEMU_TEST_PROGRAM"  # in the environment of what a test starts
SYSFS_PORT = "/sys/class/infiniband/ibemu0/ports/1"
SENT = f"{SYSFS_PORT}/counters/port_xmit_data"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def deep(*cases):
    """Cases of parametrize() that are left to the deep run."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)),
                         marks=pytest.mark.deep) for case in cases]


def first(count, cases):
    """Cases of parametrize(), of which the gate has the first COUNT."""
    cases = list(cases)
    return [*cases[:count], *deep(*cases[count:])]


@dataclasses.dataclass
class Account:
    """Who runs the programs: root, or a plain user without any capability."""

    name: str
    prefix: list  # what goes before a command
    home: pathlib.Path  # also the working directory; writable
    programs: pathlib.Path  # where ibemu and ibemud are

    @property
    def environment(self):
        return {
            "PATH": f"{self.programs}:{PATH}",
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "LC_ALL": "C",
            "TERM": "dumb",
            # Where opensm keeps its files: /var belongs to root.
            "OSM_CACHE_DIR": str(self.home),
            "OSM_TMP_DIR": str(self.home),
            **FOR_SANITIZERS,
        }

    def popen(self, arguments, **options):
        options.setdefault("cwd", self.home)
        options.setdefault("env", self.environment)
        return subprocess.Popen(self.prefix + [str(a) for a in arguments],
                                **options)

    def run(self, *arguments, check=True, timeout=DEADLINE, **options):
        """Runs a program to its end; output is text, stderr apart."""
        options.setdefault("cwd", self.home)
        options.setdefault("env", self.environment)
        done = subprocess.run(self.prefix + [str(a) for a in arguments],
                              capture_output=True, text=True, errors="replace",
                              timeout=timeout, check=False, **options)
        if check:
            assert done.returncode == 0, describe(done)
        return done


# Seconds from a question to the next one.  Most questions start a program, for
# which the tests beside this one would have to wait.
SOONEST, LATEST = 0.005, 0.2


def until(condition, timeout=DEADLINE):
    """Asks until the answer is true; returns it."""
    deadline = time.monotonic() + timeout
    pause = SOONEST
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(pause)
        pause = min(2 * pause, LATEST)
    return answer


def gone(pid_fd):
    """Waits until a process has ended."""
    poller = select.poll()
    poller.register(pid_fd, select.POLLIN)
    return bool(poller.poll(DEADLINE * 1000))


@contextlib.contextmanager
def process(pid):
    """A process that is watched; safe against reuse of its number."""
    pid_fd = os.pidfd_open(pid)
    yield pid_fd
    os.close(pid_fd)


def with_environment(**variables):
    """What goes before a command."""
    return ["env", *[f"{name}={value}" for name, value in variables.items()]]


def describe(done):
    return (f"{' '.join(map(str, done.args))}\nexit status {done.returncode}\n"
            f"stdout:\n{done.stdout[-4000:]}\nstderr:\n{done.stderr[-4000:]}")


class Background:
    """A program that runs while the test goes on; its output is collected."""

    def __init__(self, account, arguments, **options):
        self.arguments = [str(a) for a in arguments]
        self._mark = str(uuid.uuid4())
        options["env"] = {**options.get("env", account.environment),
                          MARK: self._mark}
        self.process = account.popen(arguments, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True,
                                     errors="replace", start_new_session=True,
                                     **options)
        self.lines = []
        self._news = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    def _collect(self):
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    @property
    def output(self):
        with self._news:
            return "".join(self.lines)

    def wait_for(self, pattern, since=0, timeout=DEADLINE):
        """Waits for a line that matches; returns the match.  `since` is the
        number of lines to pass over."""
        deadline = time.monotonic() + timeout
        with self._news:
            while True:
                for line in self.lines[since:]:
                    match = re.search(pattern, line)
                    if match:
                        return match
                since = max(since, len(self.lines))
                left = deadline - time.monotonic()
                assert not self._ended and left > 0, (
                    f"{' '.join(self.arguments)}: no line matched {pattern!r}:\n"
                    + "".join(self.lines)[-4000:])
                self._news.wait(left)

    def mark(self):
        """The number of lines so far, for wait_for(since=...)."""
        with self._news:
            return len(self.lines)

    def signal(self, number):
        """Who was told to stop has stopped then, with all its threads."""
        self.process.send_signal(number)
        if number == SIGSTOP:
            os.waitid(os.P_PID, self.process.pid,
                      os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def wait(self, timeout=DEADLINE):
        """The exit status, when all that the program wrote was read, too."""
        deadline = time.monotonic() + timeout
        status = self.process.wait(timeout)
        with self._news:
            read = self._news.wait_for(lambda: self._ended,
                                       deadline - time.monotonic())
        assert read, f"{' '.join(self.arguments)}: its stdout is still open"
        return status

    def stop(self, number=SIGTERM):
        """Ends the program, and what it has left behind; a program that ignores
        the signal is a fault.  SIGKILL reaches what it started, too."""
        if self.process.poll() is None and number == SIGKILL:
            os.killpg(self.process.pid, number)
        elif self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(DEADLINE)
        finally:
            self._kill_what_is_left()

    def _kill_what_is_left(self):
        """Its group, while one of it is there.  When all have ended, the number
        may be that of another test's."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 0)
            if any(map(self._is_left, pathlib.Path("/proc").glob("[0-9]*"))):
                os.killpg(self.process.pid, SIGKILL)

    def _is_left(self, process):
        try:
            return (os.getpgid(int(process.name)) == self.process.pid and
                    f"{MARK}={self._mark}".encode() in
                    (process / "environ").read_bytes().split(b"\0"))
        except OSError:  # it has just ended
            return False


def started_by(account):
    """Yields what starts programs, then ends them: the body of a fixture."""
    running = []

    def start(*arguments, **options):
        running.append(Background(account, arguments, **options))
        return running[-1]

    yield start
    for program in reversed(running):
        program.stop()


_TWO_RAILS = """\
switchguid=0x100(100)
Switch 4 "S-1" # "sw1"
[1] "H-1"[1](11)
[2] "H-1"[2](12)
[3] "H-2"[1](21)
[4] "H-2"[2](22)

caguid=0x10
Ca 2 "H-1" # "node-1"
[1](11) "S-1"[1]
[2](12) "S-1"[2]

caguid=0x20
Ca 2 "H-2" # "node-2"
[1](21) "S-1"[3]
[2](22) "S-1"[4]
"""


def two_rails(account):
    """A topology: node-1 and node-2 with two ports each, on one switch."""
    path = account.home / "two-rails.net"
    path.write_text(_TWO_RAILS)
    path.chmod(0o644)
    return str(path)


class RunFabric:
    """A running ibemud and the programs on its hosts, by `ibemu run`."""

    front_end = []

    def __init__(self, account, name, topology, sm="none", options=()):
        self.account = account
        self.socket = account.home / f"{name}.sock"
        self._running = []
        # opensm remembers LIDs and neighbours: of this fabric alone.
        cache = tempfile.mkdtemp(prefix=f"{name}.", dir=account.home)
        os.chmod(cache, 0o777)
        self._environment = {**account.environment, "OSM_CACHE_DIR": cache}
        self.daemon = self._start(
            ["ibemud", f"--topology={topology}", f"--sm={sm}",
             f"--socket={self.socket}", *self.front_end, *options])
        self.daemon.wait_for(r"\bready\b")

    def _start(self, arguments, **options):
        program = Background(self.account, arguments, **options)
        self._running.append(program)
        return program

    def on(self, *hosts):
        """The command line prefix that runs a program on these hosts."""
        return ["ibemu", "run", f"--fabric={self.socket}",
                *[f"--host={host}" for host in hosts], "--"]

    def run(self, host, *command, **options):
        return self.account.run(*self.on(host), *command, **options)

    def start(self, host, *command, **options):
        options.setdefault("env", self._environment)
        return self._start([*self.on(host), *command], **options)

    def ibemu(self, *arguments, **options):
        """ibemu COMMAND --fabric=... ARGUMENTS"""
        command, *rest = arguments
        return self.account.run("ibemu", command, f"--fabric={self.socket}",
                                *rest, **options)

    def faults(self):
        """Those that were added, as `ibemu fault ls` lists them."""
        return json.loads(self.ibemu("fault", "ls", "--json").stdout)

    def sent_bytes(self, host):
        """What its port has sent, by the counter in sysfs."""
        return 4 * int(self.run(host, "cat", SENT).stdout)

    def hw_counter(self, host, name):
        """One that its adapter counts, by sysfs."""
        return int(self.run(host, "cat", f"{SYSFS_PORT}/hw_counters/{name}").stdout)

    def start_opensm(self, host, *arguments):
        """opensm on `host`, its log on stdout; returns when it swept once."""
        opensm = self.start(host, "opensm", "--log_file", "stdout",
                            "--pidfile", self.account.home / f"{host}.pid",
                            *arguments)
        opensm.wait_for("SUBNET UP")
        return opensm

    def stop(self):
        for program in reversed(self._running):
            program.stop()


class FabricOfDaemons(RunFabric):
    """The same, but each host's adapter is in an ibemud of its own."""

    def __init__(self, account, name, topology, **options):
        super().__init__(account, name, topology, **options)
        self.drivers = {}  # of hosts, as on() names them

    def drive(self, *hosts, options=()):
        """Takes their adapters over, with one more ibemud."""
        socket = self.account.home / f"{self.socket.stem}.{hosts[0]}.sock"
        driver = self._start(["ibemud", *self.taking(*hosts),
                              f"--socket={socket}", *options])
        driver.wait_for(r"\bready\b")
        driver.socket = socket
        self.drivers[hosts] = driver
        return driver

    def on(self, *hosts):
        driver = next((driver for driven, driver in self.drivers.items()
                       if set(hosts) <= set(driven)), None)
        driver = driver or self.drive(*hosts)
        return ["ibemu", "run", f"--fabric={driver.socket}",
                *[f"--host={host}" for host in hosts], "--"]


class HcaFabric(FabricOfDaemons):
    """Each host is a modelled adapter that our driver drives."""

    def taking(self, *hosts):
        return ["--backend=hca", *[f"model={self.socket}/{host}" for host in hosts]]


class JoinedFabric(FabricOfDaemons):
    """Each host has joined the fabric, as one of another machine."""

    # How it sounds where nobody serves the fabric.
    nobody = "no daemon listens there"

    def joining(self):
        """The options by which a daemon, or a run, reaches the fabric."""
        return [f"--join={self.socket}"]

    def taking(self, *hosts):
        return [*self.joining(), *[f"--host={host}" for host in hosts]]

    def again(self, topology, **options):
        """Another fabric in the same place."""
        return type(self)(self.account, self.socket.stem, topology, **options)


class ListeningFabric(JoinedFabric):
    """The same over TCP, as between machines.  A machine's name is that of its
    certificate."""

    nobody = "Connection refused"
    own_address, called = "127.0.0.1", "localhost"  # of the head

    def __init__(self, account, name, topology, port=0, options=(), **others):
        self.certificates = account.home / f"{name}.certs"
        if not self.certificates.exists():
            account.run("ibemu", "certs", self.certificates,
                        f"head,{self.called},{self.own_address}", "pc7")
        super().__init__(account, name, topology, options=[
            *options, f"--listen={self.own_address}:{port}",
            f"--certs={self.certificates}/head"], **others)
        self.port = int(re.search(r"for other machines at \S+:(\d+)",
                                  self.daemon.output)[1])

    def joining(self, machine="pc7"):
        return [f"--join={self.called}:{self.port}",
                f"--certs={self.certificates}/{machine}"]

    def again(self, topology, **options):
        return super().again(topology, port=self.port, **options)


class SystemFabric(RunFabric):
    """The same in system mode: the machine has the adapters of all hosts that
    the test uses, and each program is shown those of its own."""

    front_end = ["--front-end=cuse"]

    def on(self, *hosts):
        devices = [self._device(host) for host in hosts]
        # As our udev rules have it.
        nodes = pathlib.Path("/dev/infiniband")
        for node in (*nodes.glob("uverbs*"), *nodes.glob("rdma_cm")):
            node.chmod(0o666)
        return ["unshare", "-m", ROOT / "tests/uml/guest/one_host.sh",
                ",".join(devices)]

    def _device(self, host):
        status = json.loads(self.ibemu("status", "--json").stdout)
        for device in status["views"][0]["devices"]:
            if host in (device["node"], device["node_guid"]):
                return device["name"]
        self.ibemu("host", host, "add")
        return self._device(host)


FRONT_END = os.environ.get("IBEMU_FRONT_END", "run")
Fabric = {"run": RunFabric, "cuse": SystemFabric}[FRONT_END]
# Nodes of system mode are root's where there is no udev.
ACCOUNTS = {"run": ["root", "plain"], "cuse": ["root"]}[FRONT_END]
# Who runs a body that both back ends must pass, and what stands behind it.  A
# modelled adapter needs no right; once is enough.
STANDS = {"run": [("root", RunFabric), ("plain", JoinedFabric),
                  ("plain", RunFabric), ("plain", HcaFabric)],
          "cuse": [("root", SystemFabric)]}[FRONT_END]
