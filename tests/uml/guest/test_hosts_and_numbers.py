"""Hosts that come and go, and the numbers of their devices."""

import os
import pathlib
import stat

import pytest

from harness import deep

INFINIBAND = pathlib.Path("/dev/infiniband")
MAD_CLASS = pathlib.Path("/sys/class/infiniband_mad")
# Holds umad1 open, waits for events, and tells what becomes of it.
HOLDER = """
import os, select, signal
umad = os.open("/dev/infiniband/umad1", os.O_RDWR | os.O_NONBLOCK)
poll = select.poll()
poll.register(umad, select.POLLIN)
print("holds", flush=True)
print("events", poll.poll()[0][1], flush=True)
try:
    os.read(umad, 320)
except OSError as error:
    print("read", error.strerror, flush=True)
signal.pause()
"""


def names():
    return sorted(os.listdir(INFINIBAND))


def number(name):
    status = os.stat(INFINIBAND / name)
    assert stat.S_ISCHR(status.st_mode)
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"


@pytest.mark.deep
def test_a_device_that_was_removed_can_be_put_back_after_a_restart(system, account):
    options = ["back-to-back", ["node-1", "node-2"],
               f"--journal={account.home}/journal"]
    lab = system(*options)
    lab.run("ibemu", "device", "node-1", "remove")
    lab.daemon.stop()
    again = system(*options)
    assert again.run("ibstat", "-l").stdout.split() == ["ibemu1"]
    again.run("ibemu", "device", "node-1", "add")
    assert again.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]


@pytest.fixture
def lab(system):
    return system("single-switch:hosts=3", ["node-1"])


def test_a_host_comes_and_goes_while_programs_use_it(lab):
    lab.run("ibemu", "host", "node-3", "add")
    assert names() == ["issm0", "issm1", "rdma_cm", "umad0", "umad1",
                       "uverbs0", "uverbs1"]
    assert lab.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]

    holder = lab.start("/usr/bin/python3", "-c", HOLDER)
    holder.wait_for("holds")
    lab.run("ibemu", "host", "node-3", "remove")
    holder.wait_for("events 8")  # POLLERR
    holder.wait_for("read Input/output error")
    # Only a listing that asks for all shows what is put aside.
    assert [name for name in names() if name[0] != "."] == [
        "issm0", "rdma_cm", "umad0", "uverbs0"]
    assert lab.run("ibstat", "-l").stdout.split() == ["ibemu0"]
    # The adapter is where it was.
    assert "node-3" in lab.run("ibnetdiscover").stdout

    lab.run("ibemu", "host", "node-2", "add")
    assert lab.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    description = pathlib.Path("/sys/class/infiniband/ibemu1/node_desc")
    assert description.read_text() == "node-2\n"
    holder.stop()


def test_the_last_close_ends_the_device_of_a_host_that_went(lab):
    lab.run("ibemu", "host", "node-2", "add")
    umad = os.open(INFINIBAND / "umad1", os.O_RDWR)
    lab.run("ibemu", "host", "node-2", "remove")
    assert names() == [".removed-umad1", "issm0", "rdma_cm", "umad0", "uverbs0"]
    with pytest.raises(OSError):
        os.read(umad, 320)
    os.close(umad)
    assert lab.run("ibstat", "-l").stdout.split() == ["ibemu0"]
    assert names() == ["issm0", "rdma_cm", "umad0", "uverbs0"]


@pytest.mark.parametrize("arguments, sentence", [
    (["node-1", "add"], 'the devices of "node-1" are shown already'),
    (["node-2", "remove"], 'the devices of "node-2" are not shown'),
    (["nod-2", "add"], 'no node "nod-2": did you mean "node-2"?'),
])
def test_mistakes_are_named(lab, arguments, sentence):
    done = lab.run("ibemu", "host", *arguments, check=False)
    assert done.returncode == 1
    assert done.stderr == f"ibemu host: {sentence}\n"
    assert names() == ["issm0", "rdma_cm", "umad0", "uverbs0"]


@pytest.mark.parametrize("major", [0, *deep(240)])
def test_devices_may_have_other_numbers(system, major):
    one = system("back-to-back", ["node-1"], f"--major={major}")
    for name in ("umad0", "issm0"):
        told = (MAD_CLASS / name / "dev").read_text().strip()
        assert told == number(name)
        assert told != {"umad0": "231:0", "issm0": "231:64"}[name]
    if major:
        assert (number("umad0"), number("issm0")) == ("240:0", "240:64")
    assert "State: Active" in one.run("ibstat").stdout


def test_a_number_that_is_taken_is_named_with_its_owner(account):
    done = account.run("ibemud", "--front-end=cuse", "--topology=back-to-back",
                       "--major=4", check=False)
    assert done.returncode == 1
    assert 'number 4, which belongs to "tty"' in done.stderr
    assert "--major=0" in done.stderr
    assert not INFINIBAND.exists()
