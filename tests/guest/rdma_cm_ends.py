"""The two ends of a connection by address: a guest, whose kernel has rdma_cm,
and a host of ours.  Each starts programs and tells what they say."""

import contextlib
import dataclasses
import itertools
import os
import re
import shlex
import signal
import time

from harness import DEADLINE
from mlx4_guest import CLASS, load
from mlx4_guest import MODULES as DRIVERS

MODULES = [*DRIVERS, "rdma_ucm"]
LINES = ["stdbuf", "-oL"]  # tell at once what is printed
# What a client says that came before its server listened.
TOO_EARLY = r"REJECTED|CM event.* 8\b|Connection refused"
# The addresses that the plan has for them.
HOST, GUEST = 1, 2


@dataclasses.dataclass
class Said:
    """What a program said until it ended."""

    status: int
    output: str


class End:
    """Node `number` of the subnet, with the addresses of the plan."""

    def __init__(self, number):
        self.node = f"node-{number}"
        self.ipv4 = f"198.18.0.{number}"
        self.ipv6 = f"fd1b:e000:0:1::{number}"

    def run(self, *command):
        return self.start(*command).wait()


def meet(serves, asks, server, client, by_ip=True):
    """Runs a server at one end and a client at the other, by addresses of IP or
    of InfiniBand; the server, and what the client said.  Both once more if the
    client came before the server listened: some of its connections may have
    been in time."""
    deadline = time.monotonic() + DEADLINE
    while True:
        serving = (serves.serve if by_ip else serves.start)(*server)
        said = asks.run(*client)
        if said.status == 0 or not re.search(TOO_EARLY, said.output):
            return serving, said
        serving.kill()
        serving.wait()
        assert time.monotonic() < deadline, said.output


class HostEnd(End):
    """A host of ours."""

    name = "host"

    def __init__(self, lab):
        super().__init__(HOST)
        self._lab = lab

    def start(self, *command):
        # The program's own number, not that of what runs it.
        program = self._lab.start(self.node, "sh", "-c", 'echo $$; exec "$@"',
                                  "sh", *LINES, *command)
        return HostProgram(program)

    def serve(self, *command):
        """Returns at once: nothing tells when a program listens here."""
        return self.start(*command)

    def gid(self):
        return self._lab.run(
            self.node, "cat",
            "/sys/class/infiniband/ibemu0/ports/1/gids/0").stdout.strip()

    @staticmethod
    def path(program):
        """Where a program of ours is."""
        return program


class HostProgram:
    """A program on a host of ours."""

    def __init__(self, program):
        self._program = program
        self._number = int(program.wait_for(r"^(\d+)$")[1])

    @property
    def output(self):
        return self._program.output.partition("\n")[2]

    def until(self, pattern):
        self._program.wait_for(pattern)

    def wait(self):
        status = self._program.wait()
        return Said(status, self.output)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.kill(self._number, signal.SIGKILL)

    def stop(self):
        """Ends all of its run."""
        self._program.stop(signal.SIGKILL)


class GuestEnd(End):
    """The guest."""

    name = "guest"
    _numbers = itertools.count()

    def __init__(self, guest, number=GUEST):
        super().__init__(number)
        self.guest = guest

    def bring_up(self):
        """Loads rdma_cm and gives ib0 its addresses."""
        guest = self.guest
        load(guest)
        for module in ("ib_ipoib", "rdma_ucm"):
            guest.load(module)
        # Before, the kernel would try to join, and wait longer each time.
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        guest.until("[ -e /sys/class/net/ib0 ] &&"
                    " [ -e /dev/infiniband/rdma_cm ]")
        # Nobody else has its address of IPv6, so it need not ask.
        guest.say("echo 0 > /proc/sys/net/ipv6/conf/ib0/accept_dad;"
                  f" ip addr add {self.ipv4}/16 dev ib0 &&"
                  f" ip addr add {self.ipv6}/64 dev ib0 &&"
                  " ip link set ib0 up")
        guest.until("grep 1 /sys/class/net/ib0/carrier")

    def start(self, *command):
        words = [str(word) for word in command]
        file = f"/tmp/said{next(self._numbers)}"
        self.guest.say(f"({shlex.join([*LINES, *words])} > {file} 2>&1;"
                       f" echo exit status $? >> {file}) & true")
        return GuestProgram(self.guest, words[0], file)

    def serve(self, *command):
        """Starts a server; returns when it listens at an address of IP, for
        `rdma` knows no others."""
        program = self.start(*command)
        self.guest.until("rdma resource show cm_id | grep 'state LISTEN'")
        return program

    def gid(self):
        return self.guest.say(f"cat {CLASS}/ports/1/gids/0")

    @staticmethod
    def path(program):
        return f"/bin/{os.path.basename(program)}"


class GuestProgram:
    """A program in the guest; there is only one of its name."""

    def __init__(self, guest, name, file):
        self._guest, self._name, self._file = guest, name, file

    @property
    def output(self):
        return self._guest.say(f"cat {self._file}")

    def until(self, pattern):
        self._guest.until(f"grep -E {shlex.quote(pattern)} {self._file} ||"
                          f" grep '^exit status' {self._file}")
        assert re.search(pattern, self.output, re.M), self.output

    def wait(self):
        self._guest.until(f"grep '^exit status' {self._file}")
        output, _, status = self.output.rpartition("exit status ")
        return Said(int(status), output)

    def kill(self):
        # It may have ended.
        self._guest.run(f"kill -9 $(pidof {self._name})", check=False)
