"""What the units keep a daemon from, and how much they let it take.

What a unit says, and what that comes to: for the daemon itself, and for programs
that its unit starts beside it, in the same sandbox.
"""

import pathlib
import re
import socket

import pytest

from service import OPTIONS, Service

PROGRAM = pathlib.Path(__file__).with_name("datagrams.py")
LAB = "--topology=back-to-back"
BOUNDS = {
    "MemoryMax": str(2 << 30),
    "TasksMax": "512",
    "ProtectHome": "yes",
    "ProtectSystem": "strict",
    "NoNewPrivileges": "yes",
    "RestrictAddressFamilies": "AF_UNIX",
    "CapabilityBoundingSet": "cap_dac_override cap_sys_ptrace",
}
NO_NETWORK = {
    "ibemud": {"IPAddressDeny": "::/0 0.0.0.0/0"},
    "ibemud@lab": {"PrivateNetwork": "yes"},
}
SOCKETS_OF_ALL = "RestrictAddressFamilies="
# What a program gets that may make sockets, and is still kept from the network.
KEPT = {"ibemud": "EPERM", "ibemud@lab": "ECONNREFUSED"}
LET = {"ibemud": "IPAddressDeny=", "ibemud@lab": "PrivateNetwork=no"}


@pytest.fixture(params=["ibemud", "ibemud@lab"])
def unit(request, root, package):
    made = Service(root, request.param)
    yield made
    made.stop()
    OPTIONS[request.param].unlink(missing_ok=True)


def test_units_say_what_a_daemon_may_take_and_reach(unit):
    expected = BOUNDS | NO_NETWORK[unit.unit]
    # systemd tells the words of a list in any order.
    assert ({name: set(unit.show(name).split()) for name in expected}
            == {name: set(value.split()) for name, value in expected.items()})


def test_the_kernel_has_the_bounds_of_the_unit(unit):
    unit.start(LAB)
    process = pathlib.Path("/proc", unit.show("MainPID"))
    group = pathlib.Path("/sys/fs/cgroup") / (
        process / "cgroup").read_text().strip().split("::/")[1]
    assert group.name == f"{unit.unit}.service"
    assert (group / "memory.max").read_text() == f"{2 << 30}\n"
    assert (group / "pids.max").read_text() == "512\n"


def test_a_daemon_does_not_see_what_users_have_at_home(unit):
    """A topology there is not found; the same one elsewhere is taken."""
    text = unit.run("ibemu", "topology", "generate", "back-to-back").stdout
    homes = [pathlib.Path(home, "sandbox.net") for home in ("/home", "/root")]
    elsewhere = pathlib.Path("/etc/ibemu/sandbox.net")
    unit.change("Restart=no")
    try:
        for path in (*homes, elsewhere):
            path.write_text(text)
        for path in homes:
            failed = unit.start(f"--topology={path}", check=False)
            assert failed.returncode != 0
            assert f"{path}: no such file" in unit.journal()
        unit.start(f"--topology={elsewhere}")
    finally:
        for path in (*homes, elsewhere):
            path.unlink(missing_ok=True)


@pytest.fixture
def sending(unit):
    """What a program in the unit, some lines of which are changed, is told that
    sends to a port of this machine; and what comes there."""
    def attempt(*changes):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            server.setblocking(False)
            port = server.getsockname()[1]
            unit.change(f"ExecStartPost=/usr/bin/python3 {PROGRAM} {port}",
                        *changes)
            unit.start(LAB)
            told, = re.findall("^probe: (.*)$", unit.journal(), re.MULTILINE)
            unit.systemctl("stop", unit.unit)
            try:
                return told, server.recv(1)
            except BlockingIOError:
                return told, b""
    return attempt


def test_a_unit_reaches_no_network(unit, sending):
    """By two barriers, each of which does by itself."""
    assert sending() == ("EAFNOSUPPORT", b"")
    assert sending(SOCKETS_OF_ALL) == (KEPT[unit.unit], b"")
    assert sending(LET[unit.unit]) == ("EAFNOSUPPORT", b"")
    # Without them it is reached.
    assert sending(SOCKETS_OF_ALL, LET[unit.unit]) == ("sent", b"1")
