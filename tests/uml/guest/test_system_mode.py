"""Devices for a whole machine: real character devices, made through CUSE."""

import os
import pathlib
import re
import signal
import stat

import pytest

import abi
from accounts import PRELOAD
from harness import DEADLINE, deep, until

NODES = ("umad0", "umad1", "issm0", "issm1")


@pytest.fixture
def cable(system):
    """Two adapters and a cable between them, no manager on either."""
    return system("back-to-back", ["node-1", "node-2"], "--sm=static")


def is_clean():
    mounts = pathlib.Path("/proc/mounts").read_text()
    return "ibemu" not in mounts and not any(
        os.path.exists(f"/dev/infiniband/{name}") for name in NODES)


@pytest.mark.deep
@pytest.mark.parametrize("preload", [False, True])
def test_the_devices_do_what_linux_does(cable, build, preload):
    """With the library that a run has by itself, too."""
    environment = {**cable.account.environment, **abi.ADAPTER}
    if preload:
        environment |= {"LD_PRELOAD": str(build / PRELOAD),
                        "UMAD_ABI_WARM": "1"}
    # A minute by itself, four beside two busy programs.
    told = cable.run(build / abi.PROGRAM, env=environment,
                     timeout=3 * DEADLINE).stdout
    expected = abi.expected("cuse.txt")
    # Without /proc/TID/syscall nobody tells that more was to be written.
    expected["write_faults"] = "50 EINVAL, 80 EINVAL, 200 200, 319 319"
    # Nor that the next piece of a long write is still to come, if it takes more
    # than 100 ms: ten writers at once may need so long on a busy machine.
    seen = abi.observed(told)
    assert seen.pop("many_writers").startswith("written ")
    del expected["many_writers"]
    assert seen == expected


def test_ibstat_and_ibnetdiscover_find_the_devices(cable):
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    assert "State: Active" in cable.run("ibstat", "ibemu1").stdout
    found = cable.run("ibnetdiscover", "-C", "ibemu1").stdout
    assert re.search(r'Ca\s+1 .*# "node-1"', found)


def test_two_hosts_ping_each_other(cable):
    server = cable.start("ibping", "-S", "-C", "ibemu1")
    until(lambda: cable.run("ibping", "-C", "ibemu0", "-c", "1", "2",
                            check=False).returncode == 0)
    done = cable.run("ibping", "-C", "ibemu0", "-c", "3", "2")
    assert "3 packets transmitted, 3 received, 0% packet loss" in done.stdout
    server.stop()


def test_opensm_brings_up_a_fat_tree_and_saquery_lists_it(system):
    tree = system("fat-tree:radix=8,levels=2", ["node-1", "node-32"],
                  "--sm=none")
    opensm = tree.start("opensm", "-f", "stdout")
    opensm.wait_for("SUBNET UP")
    records = tree.run("saquery", "-C", "ibemu1", "NodeRecord").stdout
    assert records.count("NodeRecord dump") == 32 + 12
    opensm.stop()


def test_the_nodes_are_roots_alone(cable):
    for name in NODES:
        status = os.stat(f"/dev/infiniband/{name}")
        assert stat.S_ISCHR(status.st_mode)
        assert stat.S_IMODE(status.st_mode) == 0o600
    plain = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = cable.run(*plain, "cat", "/dev/infiniband/umad0", check=False)
    assert "Permission denied" in done.stderr
    # Everybody may look at what sysfs tells.
    assert cable.run(*plain, "ibstat", "-l").stdout.split() == ["ibemu0",
                                                                 "ibemu1"]


CLIENTS = """
import os, select, sys
way = sys.argv[1]
umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
print("waits", flush=True)
try:
    if way == "read":
        os.read(umad, 320)
    elif way == "poll":
        poll = select.poll()
        poll.register(umad, select.POLLPRI)
        print(poll.poll())
    else:
        os.open("/dev/infiniband/issm0", os.O_RDWR)
        os.open("/dev/infiniband/issm0", os.O_RDWR)
except OSError as error:
    print(error)
"""


def test_a_killed_daemon_leaves_neither_nodes_nor_mounts_nor_waiting_programs(
        system):
    first = system("back-to-back", ["node-1", "node-2"])
    clients = [first.start("/usr/bin/python3", "-c", CLIENTS, way)
               for way in ("read", "poll", "issm")]
    for client in clients:
        client.wait_for("waits")
    first.daemon.signal(signal.SIGKILL)
    first.daemon.wait()
    for client in clients:
        assert client.wait() == 0, client.output
    # The process that mounts needs a moment.
    until(is_clean)
    second = system("back-to-back", ["node-1", "node-2"])
    assert second.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]


def child_of(process):
    """Its only one."""
    child, = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")
              if is_child(path, process)]
    return child


def is_child(path, process):
    try:
        return f"\nPPid:\t{process}\n" in (path / "status").read_text()
    except OSError:  # it has ended
        return False


@pytest.mark.parametrize("end", [signal.SIGKILL, *deep(signal.SIGTERM)])
def test_what_a_killed_mount_process_leaves_the_next_daemon_takes_away(
        system, end):
    first = system("back-to-back", ["node-1", "node-2"])
    os.kill(child_of(first.daemon.process.pid), signal.SIGKILL)
    first.daemon.wait_for("the process that unmounts was killed")
    # The devices are as they were, and nobody else's.
    assert first.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    refused = first.run("ibemud", "--front-end=cuse", "--name=other",
                        "--topology=back-to-back", check=False)
    assert (refused.returncode, "in use" in refused.stderr) == (1, True)
    first.daemon.signal(end)
    first.daemon.wait()
    until(lambda: not any(os.path.exists(f"/dev/infiniband/{name}")
                          for name in NODES))
    assert not is_clean()
    second = system("back-to-back", ["node-1"])
    assert second.run("ibstat", "-l").stdout.split() == ["ibemu0"]
    second.daemon.signal(signal.SIGTERM)
    assert second.daemon.wait() == 0
    until(is_clean)


def test_a_terminated_daemon_leaves_nothing(system):
    one = system("back-to-back", ["node-1"])
    assert not is_clean()
    one.daemon.signal(signal.SIGTERM)
    assert one.daemon.wait() == 0
    until(is_clean)


def test_an_adapter_goes_and_comes_back(cable):
    cable.run("ibemu", "device", "node-2", "remove")
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0"]
    assert not os.path.exists("/dev/infiniband/umad1")
    cable.run("ibemu", "device", "node-2", "add")
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    assert stat.S_ISCHR(os.stat("/dev/infiniband/umad1").st_mode)


def test_without_sysfs_the_entries_are_in_run(system):
    one = system("back-to-back", ["node-1"], "--sysfs=none")
    assert not os.path.exists("/sys/class/infiniband")
    assert os.listdir("/run/ibemu/sys/sys/class/infiniband") == ["ibemu0"]
    assert stat.S_ISCHR(os.stat("/dev/infiniband/umad0").st_mode)
    del one


def test_a_second_daemon_is_refused_in_one_sentence(cable):
    done = cable.run("ibemud", "--front-end=cuse", "--topology=back-to-back",
                     "--name=other", check=False)
    assert done.returncode == 1
    assert "/run/ibemu/sys is in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]


def test_a_missing_module_is_named_with_the_cure(account):
    account.run("busybox", "rmmod", "cuse")
    try:
        done = account.run("ibemud", "--front-end=cuse",
                           "--topology=back-to-back", check=False)
    finally:
        account.run("busybox", "insmod", f"/usr/lib/uml/modules/"
                    f"{os.uname().release}/kernel/fs/fuse/cuse.ko")
    assert done.returncode == 1
    assert "modprobe cuse" in done.stderr
    assert len(done.stderr.splitlines()) == 1
