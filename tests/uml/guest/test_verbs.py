"""Verbs for a whole machine: clients of uverbsN get descriptors through ptrace."""

import os
import re
import signal
import stat
import subprocess

import pytest

from harness import until

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "/dev/infiniband/uverbs0"


@pytest.fixture
def cable(system):
    """Two adapters and a cable between them."""
    return system("back-to-back", ["node-1", "node-2"], "--sm=static")


@pytest.fixture(scope="module")
def raw_uverbs(scratch):
    program = scratch / "raw_uverbs"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-pthread", "-o", program,
                    os.path.join(HERE, "raw_uverbs.c")], check=True)
    return program


def open_files(process):
    return os.listdir(f"/proc/{process}/fd")


def test_the_nodes_have_linuxs_numbers(cable):
    for name, minor in (("uverbs0", 192), ("uverbs1", 193)):
        status = os.stat(f"/dev/infiniband/{name}")
        assert stat.S_ISCHR(status.st_mode)
        assert (os.major(status.st_rdev), os.minor(status.st_rdev)) == (231, minor)
        told = cable.run("cat", f"/sys/class/infiniband_verbs/{name}/dev").stdout
        assert told == f"231:{minor}\n"


def test_programs_find_and_open_the_adapters(cable):
    lines = cable.run("ibv_devices").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["ibemu0", "ibemu1"]
    text = cable.run("ibv_devinfo", "-v").stdout
    assert re.findall(r"hca_id:\s+(\w+)", text) == ["ibemu0", "ibemu1"]
    assert re.findall(r"port_lid:\s+(\d+)", text) == ["1", "2"]


@pytest.mark.deep
def test_adapters_of_hfi1_carry_messages_too(system):
    cable = system("back-to-back", ["node-1", "node-2"], "--sm=static",
                   "--profile=hfi1")
    text = cable.run("ibv_devinfo").stdout
    assert re.findall(r"vendor_part_id:\s+(\d+)", text) == [str(0x24f0)] * 2
    pingpong = ["stdbuf", "-oL", "ibv_rc_pingpong", "-n", "20", "-c", "-d"]
    server = cable.start(*pingpong, "ibemu0")
    server.wait_for("local address")
    client = cable.start("sh", "-c", "until "
                         f"{' '.join(pingpong)} ibemu1 localhost; do sleep 0.1; "
                         "done")
    client.wait_for("20 iters in")
    assert client.wait() == server.wait() == 0, client.output + server.output
    assert "invalid data" not in client.output + server.output


@pytest.mark.deep
def test_a_thread_gets_its_descriptors_and_keeps_all_else(cable, raw_uverbs):
    """It looks at its registers, its stack, its signals and its descriptors."""
    assert cable.run(raw_uverbs, "once", NODE).stdout == "as it should be\n"


@pytest.mark.deep
def test_threads_and_processes_that_ask_at_the_same_time_get_their_own(
        cable, raw_uverbs):
    clients = [cable.start(raw_uverbs, "many", f"/dev/infiniband/uverbs{n % 2}")
               for n in range(4)]
    for client in clients:
        assert client.wait() == 0, client.output


def test_without_a_free_descriptor_the_command_says_so(cable, raw_uverbs):
    told = cable.run(raw_uverbs, "full", NODE).stdout
    assert told == "GET_CONTEXT: Too many open files\n"


def test_who_is_killed_meanwhile_leaves_nothing(cable, raw_uverbs):
    before = len(open_files(cable.daemon.process.pid))
    for _ in range(30):
        client = cable.start(raw_uverbs, "endless", NODE)
        client.wait_for("begins")
        client.stop(signal.SIGKILL)
    assert cable.run(raw_uverbs, "once", NODE).stdout == "as it should be\n"
    until(lambda: len(open_files(cable.daemon.process.pid)) <= before)


def test_a_traced_client_is_told_what_it_cannot_have(cable, raw_uverbs):
    """This kernel has no /proc/TID/syscall, so there is not even a way out."""
    told = cable.run("strace", "-o", "/dev/null", raw_uverbs, "once", NODE,
                     check=False).stdout
    assert told == "GET_CONTEXT: Too many open files\n"
    assert "ibemu0" in cable.run("ibv_devinfo").stdout


def test_a_reader_gets_events_of_nobody(cable, raw_uverbs):
    """Who opens a node to read is neither a client nor in anybody's way."""
    reader = os.open(NODE, os.O_RDONLY)
    with pytest.raises(OSError, match="Invalid argument"):
        os.read(reader, 16)
    assert cable.run(raw_uverbs, "once", NODE).stdout == "as it should be\n"
    os.close(reader)


def test_an_adapter_that_goes_takes_its_node_along(cable):
    cable.run("ibemu", "device", "node-2", "remove")
    assert not os.path.exists("/dev/infiniband/uverbs1")
    assert "ibemu1" not in cable.run("ibv_devices").stdout
    cable.run("ibemu", "device", "node-2", "add")
    assert "port_lid:\t\t2" in cable.run("ibv_devinfo", "-d", "ibemu1").stdout
