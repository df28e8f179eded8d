"""Clients of every make: traced, debugged, static, with many threads."""

import pathlib
import re
import subprocess
import time

import pytest

from harness import deep
from perftest import free_port, ucx_perftest

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def pair(fabric):
    return fabric("single-switch:hosts=2", sm="static")


@pytest.fixture(scope="module")
def raw_uverbs(scratch):
    program = scratch / "raw_uverbs"
    if not program.exists():
        subprocess.run(["gcc", "-static", "-pthread", "-Wall", "-Werror", "-o",
                        program, HERE / "raw_uverbs.c"], check=True)
    return program


def test_a_static_program_with_two_threads_uses_one_context(account,
                                                            raw_uverbs):
    told = account.run("ibemu", "run", "--", raw_uverbs).stdout
    assert told == "device 231:192, events at a descriptor\n"


def test_threads_of_a_context_get_what_is_theirs(account, scratch):
    """Some talk, over one queue of completions, others make and destroy."""
    program = scratch / "threads"
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
                    "-o", program, HERE / "threads.c", "-libverbs"], check=True)
    told = account.run("ibemu", "run", "--", "timeout", 60, program).stdout
    assert told == "500 500 500 and more\n"


OPENS = """if True:
    import ctypes, os, select, stat
    opened = []
    while True:
        fd = ctypes.CDLL(None).open(b"/dev/infiniband/uverbs0",
                                    os.O_RDWR | os.O_CLOEXEC)
        if fd < 0:
            break
        assert stat.S_ISCHR(os.fstat(fd).st_mode)
        opened.append(fd)
    usable = [fd for fd in opened if fd < 1024]
    select.select(usable, [], [], 0)
    print(len(opened), len(usable))
"""


@pytest.mark.parametrize("limit,count", [
    (200, 64), (1025, 512), *deep((1024, 512), (20000, 512))])
def test_any_limit_leaves_descriptors_that_select_takes(account, limit, count):
    hard = account.run("sh", "-c", "ulimit -Hn").stdout.strip()
    if hard != "unlimited" and int(hard) < limit:
        pytest.skip(f"the machine allows {hard}")
    told = account.run("sh", "-c", f'ulimit -Sn {limit}; exec ibemu run -- '
                       'python3 -c "$0"', OPENS).stdout
    opened, usable = map(int, told.split())
    assert opened == usable == count


@pytest.fixture(scope="module")
def descriptors(scratch):
    program = scratch / "uverbs_descriptors"
    if not program.exists():
        subprocess.run(["gcc", "-Wall", "-Werror", "-o", program,
                        HERE / "uverbs_descriptors.c", "-libverbs"], check=True)
    return program


def test_a_signal_interrupts_no_request_for_events(account, descriptors):
    """No driver of Linux answers them with EINTR, so no program expects it."""
    told = account.run("ibemu", "run", "--", descriptors, "signals").stdout
    assert told == "0 of 20000 failed\n"


def test_opening_and_closing_a_device_leaves_no_descriptor(account,
                                                           descriptors):
    told = account.run("ibemu", "run", "--", descriptors, "opens").stdout
    assert told == "0 more\n"


def test_channels_beside_queues_have_no_limit_and_others_say_theirs(
        account, descriptors):
    told = account.run("ibemu", "run", "--", descriptors, "channels").stdout
    assert told == ("100 with a queue, 5 alone, then: Too many open files\n"
                    "after a queue: another\n")


@pytest.mark.parametrize("tool", [
    ["strace", "-f", "-o", "/dev/null"],
    ["gdb", "-batch", "-ex", "run", "--args"]], ids=["strace", "gdb"])
def test_messages_are_exchanged_under_a_tracer_and_a_debugger(pair, tool):
    """With completion events: their descriptor is given to a traced thread."""
    program = [*tool, "ibv_rc_pingpong", "-n", "50", "-c", "-e"]
    server = pair.start("node-1", *program)
    while server.process.poll() is None:
        client = pair.account.run(*pair.on("node-2"), *program, "localhost",
                                  check=False)
        if "Couldn't connect" not in client.stdout + client.stderr:
            break
        time.sleep(0.1)
    server.wait()
    for told in server.output, client.stdout:
        assert "50 iters in" in told, told + client.stderr
        assert "invalid data" not in told


def test_two_threads_of_one_process_post_and_poll(pair):
    program = ["env", "UCX_TLS=rc_v,self", "UCX_NET_DEVICES=ibemu0:1",
               *ucx_perftest(), "-p", free_port(), "-T", "2", "-M", "multi"]
    server = pair.start("node-1", *program)
    while server.process.poll() is None:
        client = pair.account.run(*pair.on("node-2"), *program, "127.0.0.1",
                                  "-t", "tag_bw", "-n", "300", "-w", "10",
                                  check=False)
        if "Connection refused" not in client.stdout + client.stderr:
            break
        time.sleep(0.1)
    assert client.returncode == 0, client.stdout + client.stderr
    assert re.search(r"Final: +\d+ ", client.stdout), client.stdout
    assert server.wait() == 0, server.output
