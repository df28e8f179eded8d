"""A real udevd and our rules: who may open the devices, and their other names."""

import grp
import os
import pathlib
import stat
import struct

import pytest

from harness import Background

RULES = "rules/udev/60-ibemu.rules"
CUSE_INIT = 4096  # <linux/fuse.h>
IN_HEADER = struct.Struct("=IIQQIIII")
OUT_HEADER = struct.Struct("=IiQ")
INIT_OUT = struct.Struct("=8I40x")


@pytest.fixture
def udev(account):
    root = pathlib.Path(__file__).resolve().parents[3]
    rules = pathlib.Path("/run/udev/rules.d/60-ibemu.rules")
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.symlink_to(root / RULES)
    daemon = Background(account, ["/lib/systemd/systemd-udevd"])
    while account.run("udevadm", "control", "--ping", check=False).returncode:
        pass  # not there yet
    yield lambda: account.run("udevadm", "settle", "--timeout=60")
    daemon.stop()
    rules.unlink()


def make_device(name, minor):
    """A CUSE device that answers nothing; closed, it is gone."""
    cuse = os.open("/dev/cuse", os.O_RDWR)
    _, opcode, unique, *_ = IN_HEADER.unpack_from(os.read(cuse, 1 << 17))
    assert opcode == CUSE_INIT
    told = (INIT_OUT.pack(7, 31, 0, 0, 4096, 4096, 0, minor)
            + f"DEVNAME={name}".encode() + b"\0")
    os.write(cuse, OUT_HEADER.pack(OUT_HEADER.size + len(told), 0, unique) + told)
    return cuse


def owner_and_mode(path):
    status = os.stat(path)
    return (status.st_uid, grp.getgrgid(status.st_gid).gr_name,
            stat.S_IMODE(status.st_mode))


def properties(account, node):
    told = account.run("udevadm", "info", "-q", "property", "-n", node).stdout
    return dict(line.split("=", 1) for line in told.splitlines())


def test_the_group_rdma_may_send_mads_and_others_may_not(udev, system):
    cable = system("back-to-back", ["node-1", "node-2"])
    udev()
    for name in ("umad0", "issm0", "umad1", "issm1"):
        assert owner_and_mode(f"/dev/infiniband/{name}") == (0, "rdma", 0o660)

    def may_open(*groups):
        someone = ["setpriv", "--reuid=65534", "--regid=65534", *groups, "--"]
        opened = cable.run(*someone, "sh", "-c", ": <> /dev/infiniband/umad0",
                           check=False)
        return opened.returncode == 0

    assert may_open("--groups=rdma")
    assert not may_open("--clear-groups")


def test_units_can_wait_for_a_port(udev, system):
    cable = system("back-to-back", ["node-1", "node-2"])
    udev()
    umad = properties(cable.account, "/dev/infiniband/umad1")
    assert umad["SYSTEMD_ALIAS"] == "/sys/subsystem/rdma/devices/ibemu1:1/umad"
    assert ":systemd:" in umad["CURRENT_TAGS"]
    assert "SYSTEMD_WANTS" not in umad


@pytest.mark.parametrize("name", ["uverbs7", "rdma_cm"])
def test_everybody_may_use_verbs_and_connections(udev, name):
    device = make_device(f"infiniband/{name}", 7)
    udev()
    assert owner_and_mode(f"/dev/infiniband/{name}") == (0, "root", 0o666)
    os.close(device)


def test_a_plainly_named_device_is_found_below_infiniband(udev):
    plain = make_device("umad7", 8)
    udev()
    assert os.readlink("/dev/infiniband/umad7") == "../umad7"
    assert owner_and_mode("/dev/umad7") == (0, "rdma", 0o660)
    os.close(plain)
    udev()
    assert not os.path.lexists("/dev/infiniband/umad7")
