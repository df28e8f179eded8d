"""Adapters by MMIO for a whole machine: modelled ones, which are nodes of a
subnet that a second daemon simulates."""

import os
import re
from signal import SIGKILL

import pytest

from harness import Background, until


@pytest.fixture
def daemons(account):
    """The daemon that has the subnet, and the one that drives the adapters."""
    socket = account.home / "lab.sock"
    fabric = Background(account, ["ibemud", "--topology=single-switch:hosts=3",
                                  "--sm=static", f"--socket={socket}"])
    fabric.wait_for(r"\bready\b")
    driver = Background(account, ["ibemud", "--backend=hca",
                                  "--front-end=cuse",
                                  f"model={socket}/node-1",
                                  f"model={socket}/node-2",
                                  "--host=node-1", "--host=node-2"])
    driver.wait_for(r"\bready\b")
    yield fabric, driver
    driver.stop()
    fabric.stop()


def test_the_machine_has_them(account, daemons):
    text = account.run("ibstat").stdout
    assert re.findall(r"^CA '(.*)'$", text, re.M) == ["ibemu0", "ibemu1"]
    assert text.count("State: Active") == 2
    text = account.run("ibv_devinfo").stdout
    assert re.findall(r"hca_id:\s+(\w+)", text) == ["ibemu0", "ibemu1"]
    text = account.run("smpquery", "-C", "ibemu1", "-D", "nodeinfo", "0,1").stdout
    assert re.search(r"NodeType:\.*Switch", text)


@pytest.mark.deep
def test_when_they_die_their_devices_go_and_the_daemon_stays(account, daemons):
    fabric, driver = daemons
    held = os.open("/dev/infiniband/umad0", os.O_RDWR)
    fabric.stop(SIGKILL)
    until(lambda: not os.path.exists("/dev/infiniband/umad1"))
    until(lambda: not os.path.exists("/dev/infiniband/umad0"))
    assert os.listdir("/sys/class/infiniband") == []
    with pytest.raises(OSError, match="Input/output error"):
        os.read(held, 512)
    os.close(held)
    assert driver.process.poll() is None
