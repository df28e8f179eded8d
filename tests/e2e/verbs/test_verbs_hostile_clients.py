"""Clients of verbs that do what they must not: errors to them, nothing to others.

Beside all of them two hosts play ping-pong, and go on.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import time

import pytest

from harness import Fabric, HcaFabric, deep, until

HERE = pathlib.Path(__file__).parent
SENT = "/sys/class/infiniband/ibemu0/ports/1/counters/port_xmit_packets"
ENDLESS = ["stdbuf", "-oL", "ibv_rc_pingpong", "-n", "2000000000", "-s", "64"]
GROWTH = 16 << 10  # KiB that a daemon may keep of what all this took
LONGEST = 60  # seconds for what takes one on an idle machine


def software(account):
    """A fabric, and the daemon that the clients have to do with."""
    lab = Fabric(account, "hostile", "single-switch:hosts=4", sm="static")
    return lab, lab.daemon


def adapters(account):
    """The same with four adapters that our driver drives."""
    lab = HcaFabric(account, "hostile", "single-switch:hosts=4", sm="static")
    return lab, lab.drive("node-1", "node-2", "node-3", "node-4")


class Witnesses:
    """A fabric of which node-1 and node-2 are the test's."""

    def __init__(self, account, back_end):
        self.lab, self.daemon = back_end(account)
        self.players = [self.lab.start("node-3", *ENDLESS)]
        self.players[0].wait_for("local address")
        # It prints its address just before it listens.
        self.players.append(self.lab.start(
            "node-4", "sh", "-c",
            f"until {' '.join(ENDLESS)} localhost; do sleep 0.1; done"))
        self.players[1].wait_for("remote address")

    def go_on(self):
        """They sent something since they were asked."""
        def sent():
            return int(self.lab.run("node-3", "cat", SENT).stdout)
        before = sent()
        until(lambda: sent() > before + 10, LONGEST)
        assert [player.process.poll() for player in self.players] == [None] * 2

    def run(self, *command):
        """A program on node-1 and node-2; what it printed."""
        began = time.monotonic()
        done = self.lab.account.run(*self.lab.on("node-1", "node-2"), *command)
        assert time.monotonic() - began < LONGEST
        return done.stdout

    def _memory(self):
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status")
        return int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1])

    def _files(self):
        return len(os.listdir(f"/proc/{self.daemon.process.pid}/fd"))

    @contextlib.contextmanager
    def unharmed(self, growth=GROWTH):
        """Afterwards all is as before; `growth` in KiB."""
        files, memory = self._files(), self._memory()
        yield
        assert self.daemon.process.poll() is None, (
            f"{self.daemon.process.returncode}:\n{self.daemon.output}")
        self.go_on()
        until(lambda: self._files() <= files, LONGEST)
        until(lambda: self._memory() < memory + growth, LONGEST)

    def stop(self):
        for player in self.players:
            player.process.kill()
        self.lab.stop()


@pytest.fixture(scope="module", params=[software, adapters],
                ids=lambda back_end: back_end.__name__)
def witnesses(request, module_account):
    made = Witnesses(module_account, request.param)
    yield made
    made.stop()


# An adapter of today refuses regions that peers may reach: none to attack.
with_regions = pytest.mark.parametrize("witnesses", [software], indirect=True,
                                       ids=["software"])


@pytest.fixture(scope="module")
def hostile(scratch):
    program = scratch / "hostile"
    if not program.exists():
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
                        program, HERE / "hostile.c", "-libverbs"], check=True)
    return program


@pytest.fixture
def attack(witnesses):
    with witnesses.unharmed():
        yield witnesses.run


@with_regions
@pytest.mark.parametrize("way, seen", [
    ("kill-writer", "killed"),
    ("kill-target", "transport retry counter exceeded"),
    ("kill-both", "killed"),
    ("unmap-source", "local protection error"),
    ("unmap-target", "remote operation error"),
    *deep(("stop-target", "success")),
])
def test_in_the_middle_of_a_write_of_a_gigabyte(attack, hostile, way, seen):
    assert attack(hostile, way) == f"{seen}\n"


@with_regions
@pytest.mark.parametrize("whose", ["of-other-pd", "of-other-open",
                                   "of-dead-region", "beyond-its-end"])
def test_keys_open_what_they_are_for(attack, hostile, whose):
    assert attack(hostile, f"key-{whose}") == "remote access error\n"


@pytest.mark.deep
def test_queue_pairs_are_limited_and_go_with_their_owner(witnesses, hostile):
    enough = 10000 if witnesses.lab.daemon is witnesses.daemon else 1000

    def make_all():
        made, most, why = re.fullmatch(
            r"(\d+) of (\d+): (.*)\n",
            witnesses.run(hostile, "queue-pairs")).groups()
        assert enough < int(made) <= int(most)
        assert why == "Cannot allocate memory"

    # An allocator does not give everything back to the system, and on a busy
    # machine the next client begins before the last one's are gone: of four
    # times 64 MiB two may stay.
    make_all()
    with witnesses.unharmed(growth=96 << 10):
        for _ in range(3):
            make_all()


@with_regions
def test_a_child_lets_go_of_what_its_parent_opened(attack, hostile):
    # The shell waits for the end of what is printed.
    assert attack("sh", "-c", f"{hostile} fork | cat") == "let go\n"


# Commands without libibverbs: number, body with the response first, room.
RAW = r"""
import ctypes, errno, mmap, os, random, struct, sys

GET_CONTEXT, ALLOC_PD, DEALLOC_PD, QUERY_DEVICE = 0, 3, 4, 1
DEREG_MR, DESTROY_CQ, DESTROY_QP, DESTROY_SRQ = 13, 20, 27, 35
answer = ctypes.create_string_buffer(1 << 16)
HERE = ctypes.addressof(answer)

def command(file, number, body, room):
    try:
        os.write(file, struct.pack("=IHH", number, (8 + len(body)) // 4,
                                   room // 4) + body)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]

def opened(node=0, response=HERE):
    file = os.open(f"/dev/infiniband/uverbs{node}", os.O_RDWR)
    return file, command(file, GET_CONTEXT, struct.pack("=Q", response), 8)
"""

GARBAGE = RAW + r"""
chance = random.Random(5)
file, result = opened()
blank = os.open("/dev/infiniband/uverbs1", os.O_RDWR)  # without a context
seen = set()
for _ in range(5000):
    number = chance.choice([chance.randrange(64), chance.randrange(1 << 32),
                            chance.randrange(64) | 1 << 31])
    body = chance.randbytes(chance.randrange(160))
    # Half of them name small handles, and a place that is there.
    if chance.random() < 0.5:
        body = struct.pack("=Q", HERE) + b"".join(
            struct.pack("=I", chance.choice([0, 0, 1, 2, 3, 64, 1 << 31]))
            for _ in range(chance.randrange(40)))
    words = chance.choice([(8 + len(body)) // 4, chance.randrange(1 << 16)])
    text = struct.pack("=IHH", number, words, chance.choice([0, 4, 64, 65535]))
    text = (text + body)[:chance.choice([1, 7, 8, 9, 24, 1000, 1000, 1000])]
    try:
        os.write(chance.choice([file, file, blank]), text)
    except OSError as error:
        seen.add(errno.errorcode[error.errno])
print(sorted(seen - {"EINVAL", "ENOSPC", "EFAULT", "ENOSYS", "EOPNOTSUPP",
                     "ENOMEM", "EBUSY", "EMFILE"}), "EINVAL" in seen)
print(command(file, QUERY_DEVICE, struct.pack("=QQ", HERE, 0), 176))
"""

HANDLES = RAW + r"""
(mine, _), (other, _) = opened(), opened()
print(command(mine, ALLOC_PD, struct.pack("=Q", HERE), 4))
handle, = struct.unpack_from("=I", answer)
print(command(other, DEALLOC_PD, struct.pack("=I", handle), 0))
for number, size in ((DEREG_MR, 4), (DESTROY_CQ, 16), (DESTROY_QP, 16),
                     (DESTROY_SRQ, 16)):
    body = struct.pack("=QII", HERE, handle, 0) if size == 16 else (
        struct.pack("=I", handle))
    print(command(mine, number, body, 8))
print(command(mine, DEALLOC_PD, struct.pack("=I", handle), 0))
print(command(mine, DEALLOC_PD, struct.pack("=I", handle), 0))
"""

POINTERS = RAW + r"""
def address_of(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [
    ctypes.c_long]
read_only = libc.mmap(None, 4096, mmap.PROT_READ,
                      mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
# A page that the daemon itself would have to fill.
attribute = os.open("/sys/class/infiniband/ibemu0/node_guid", os.O_RDONLY)
own = libc.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE,
                attribute, 0)
print(own not in (None, ctypes.c_void_p(-1).value))

file, result = opened(response=8)
print(result)
file, result = opened()
for place in (8, read_only, 1 << 63, (1 << 64) - 4):
    print(command(file, ALLOC_PD, struct.pack("=Q", place), 4))
for _ in range(3):
    print(command(file, ALLOC_PD, struct.pack("=Q", own), 4) in ("ok", "EFAULT"))
print(command(file, ALLOC_PD, struct.pack("=Q", HERE), 4))
"""


def test_garbage_is_refused(attack):
    assert attack("/usr/bin/python3", "-c", GARBAGE) == "[] True\nok\n"


def test_handles_belong_to_who_opened(attack):
    assert attack("/usr/bin/python3", "-c", HANDLES).split() == [
        "ok", *["EINVAL"] * 5, "ok", "EINVAL"]


def test_answers_to_nowhere_are_faults(attack):
    assert attack("/usr/bin/python3", "-c", POINTERS).split() == [
        "True", *["EFAULT"] * 5, *["True"] * 3, "ok"]
