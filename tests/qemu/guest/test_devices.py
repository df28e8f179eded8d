"""The devices of the machine: who may open them, how units wait for them."""

import grp
import os
import stat

import pytest

import abi
from service import leftovers

NODES = ("umad0", "umad1", "issm0", "issm1")


def test_the_group_rdma_owns_the_devices(cable):
    for name in NODES:
        status = os.stat(f"/dev/infiniband/{name}")
        assert stat.S_ISCHR(status.st_mode)
        assert stat.S_IMODE(status.st_mode) == 0o660
        assert grp.getgrgid(status.st_gid).gr_name == "rdma"
        assert status.st_uid == 0


def test_units_can_wait_for_a_device(cable):
    for unit in ("dev-infiniband-umad1.device", "dev-infiniband-issm1.device"):
        assert cable.systemctl("is-active", unit).stdout == "active\n"
    alias = "/sys/subsystem/rdma/devices/ibemu1:1/umad"
    told = cable.run("udevadm", "info", "/dev/infiniband/umad1").stdout
    assert f"E: SYSTEMD_ALIAS={alias}" in told.splitlines()


def test_others_are_kept_out_and_may_look_at_sysfs(cable, plain):
    for name in NODES:
        refused = plain.run("cat", f"/dev/infiniband/{name}", check=False)
        assert "Permission denied" in refused.stderr
    assert plain.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]


@pytest.fixture
def expected():
    transcript = abi.expected("cuse.txt")
    # Without udev, in the User-Mode Linux, it is 0600.
    transcript["node_stat"] = transcript["node_stat"].replace("0600", "0660")
    return transcript


def test_root_gets_from_the_devices_what_linux_does(cable, build, expected):
    environment = {**cable.root.environment, **abi.ADAPTER}
    told = cable.run(build / abi.PROGRAM, env=environment).stdout
    assert abi.observed(told) == expected


def test_a_member_of_the_group_gets_the_same_and_the_length_of_what_did_not_fit(
        cable, member, build, expected):
    del expected["removal"]  # adapters are root's
    told = member.run(build / abi.PROGRAM).stdout
    assert abi.observed(told) == expected
    # What a daemon that may not look at its clients would tell otherwise.
    assert "320 ENOSPC, length 620" in expected["rmpp_recv_basic"]


def test_without_sysfs_the_entries_are_below_run(service):
    service.start("--topology=back-to-back --host=node-1 --sysfs=none")
    assert not os.path.exists("/sys/class/infiniband")
    assert os.listdir("/run/ibemu/sys/sys/class/infiniband") == ["ibemu0"]
    assert stat.S_ISCHR(os.stat("/dev/infiniband/umad0").st_mode)


@pytest.fixture
def ib_umad(root):
    root.run("modprobe", "ib_umad")
    yield
    root.run("modprobe", "--remove", "ib_umad")


def test_a_loaded_ib_umad_keeps_its_numbers_and_one_sentence_says_so(
        ib_umad, service):
    assert service.start("--topology=back-to-back --host=node-1",
                         check=False).returncode != 0
    complaints = [line for line in service.journal().splitlines()
                  if "231" in line]
    assert len(complaints) == 1
    assert "--major" in complaints[0]
    service.stop()
    assert leftovers() == []


@pytest.mark.parametrize("major", [0, 240])
def test_beside_ib_umad_other_numbers_do(ib_umad, service, major):
    service.start("--topology=back-to-back --host=node-1 --host=node-2 "
                  f"--major={major}")
    numbers = {os.stat(f"/dev/infiniband/{name}").st_rdev for name in NODES}
    assert len(numbers) == len(NODES)
    majors = {os.major(number) for number in numbers}
    assert 231 not in majors
    assert not major or majors == {major}
    assert service.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
