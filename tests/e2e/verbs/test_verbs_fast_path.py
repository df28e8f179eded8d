"""Verbs past FUSE: which commands go by memory that a program shares with the
daemon, and what it is told when that does not work any more."""

import textwrap

import pytest

from test_verbs_semantics import PRELUDE

# What a RingControl counts, by Way: those that went by the ring come first.
COUNTS = """
import ctypes, os, sys

def rings():
    with open("/proc/self/maps") as maps:
        return [int(line.split("-")[0], 16) for line in maps
                if "memfd:ibemu-rings" in line]

def counts():
    return list((ctypes.c_uint32 * 7).from_address(rings()[0] + 192))
"""

PAIR = """
here, there = CQ(context, 10), CQ(context, 10)
a, b = make(here), make(there)
connect(a, b)

def message():
    receive(b)
    send(a)
    assert poll(here, 1) + poll(there, 1) == [0, 0]
"""


@pytest.fixture
def lab(fabric):
    return fabric("single-switch:hosts=1", sm="static")


def script(text):
    return ["timeout", "60", "/usr/bin/python3", "-c",
            PRELUDE + COUNTS + PAIR + textwrap.dedent(text)]


def test_messages_go_by_the_ring(lab):
    told = lab.run("node-1", *script("""
        while True:
            message()
            if counts()[0] > 100:
                break
        print("done")
    """)).stdout
    assert told == "done\n"


def test_what_was_sent_arrives(lab):
    told = lab.run("node-1", *script("""
        inbox = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
        i = 0
        while i == 0 or counts()[0] < 100:
            text = b"%08d" % i
            mr.write(text.decode(), 8)
            b.post_recv(RecvWR(1, 1, [SGE(inbox.buf, 64, inbox.lkey)]))
            send(a)
            assert poll(here, 1) + poll(there, 1) == [0, 0]
            assert inbox.read(8, 0) == text
            i += 1
        print("done")
    """)).stdout
    assert told == "done\n"


@pytest.mark.parametrize("way", ["option", "variable"])
def test_who_does_not_want_rings_has_none(lab, way):
    text = "message(); print(rings())"
    if way == "variable":
        told = lab.run("node-1", "env", "IBEMU_FAST_PATH=0", *script(text))
    else:
        told = lab.account.run(*lab.on("node-1")[:-1], "--no-fast-path", "--",
                               *script(text))
    assert told.stdout == "[]\n"


def test_a_forked_child_uses_the_file(lab):
    """Its addresses are those of other memory, and so it has no rings."""
    told = lab.run("node-1", *script("""
        message()
        receive(b)
        before = counts()[0]
        if os.fork() == 0:
            send(a)
            assert poll(here, 1) + poll(there, 1) == [0, 0]
            os._exit(len(rings()))
        print(os.wait()[1])
        while counts()[0] == before:  # by the file as long as the daemon sleeps
            message()
        print("done")
    """)).stdout
    assert told == "0\ndone\n"


# It polls an empty queue, which its own library answers.
WAITING = """
print("waits", flush=True)
try:
    while True:
        here.poll()
except PyverbsRDMAError as error:
    print("failed", flush=True)
"""


def test_a_poll_fails_when_the_adapter_is_pulled_out(lab):
    waiting = lab.start("node-1", *script("message()\n" + WAITING))
    waiting.wait_for("waits")
    lab.ibemu("device", "node-1", "remove")
    waiting.wait_for("failed")
