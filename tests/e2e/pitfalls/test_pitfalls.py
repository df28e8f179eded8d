"""What `ibemu run --lint` tells of programs that work here, and that it tells
nothing of those that would work on hardware, too."""

import pathlib
import re
import subprocess

import pytest

from harness import deep, describe, first
from perftest import LOST_CLOCK, free_port, ucx_perftest

PROGRAM = pathlib.Path(__file__).resolve().parent / "pitfalls.py"
RULES = ["no-retries", "rd-atomic-differs", "never-signaled", "late-arm", "ah-leak",
         "used-after-fork", "no-timeout", "hidden-stall", "never-polled",
         "fork-after-registration", "events-not-acknowledged"]
# What fails here as on hardware has no rule, but a reason.
MISTAKES = {
    "inline-beyond-the-granted":
        r"process \d+: POST_SEND was refused with EINVAL: a work request has 64 "
        r"bytes of inline data: its queue pair takes at most 0",
    "key-of-memory-that-is-gone":
        r"queue pair 0x2: work request 0 \(RDMA WRITE\) ended with "
        r"REM_ACCESS_ERR: node-2 queue pair 0x2 refused it: no region has the "
        r"key 0x1\w* any more: it was deregistered",
    "lid-that-is-gone":
        r"queue pair 0x2: work request 0 \(SEND\) ended with RETRY_EXC_ERR: "
        r".*, none answered: dropped at node-2/1: it was for another LID: the "
        r"port has 77 \(16 times\)",
    "error-that-nobody-polls":
        r"queue pair 0x2: work request 0 \(RDMA WRITE\) ended with "
        r"REM_ACCESS_ERR: node-2 queue pair 0x2 refused it: no region has the "
        r"key 0x101",
    "more-than-the-device-says":
        r"process \d+: CREATE_CQ was refused with EINVAL: cqe is 196608: there "
        r"may be 1 to 196607",
}
# Of a queue pair, of an adapter that was closed, or of a process on these hosts.
PITFALL = re.compile(r"(?m)^ibemu run: ([a-z-]+): node-[12](?:,node-2)? "
                     r"(?:queue pair 0x[0-9a-f]+ of )?process \d+: ")


def run(account, rule, form, *options):
    return account.run(
        "ibemu", "run", "--topology=single-switch:hosts=2", "--sm=static",
        "--host=node-1", "--host=node-2", *options, "--",
        "/usr/bin/python3", "-B", PROGRAM, rule, form)


@pytest.mark.parametrize("rule", first(6, RULES))
def test_what_works_here_alone_is_told_in_a_line(account, rule):
    broken = run(account, rule, "broken", "--lint")
    assert PITFALL.findall(broken.stderr) == [rule], broken.stderr
    assert broken.stdout == f"{rule} broken\n", "as without --lint"
    mended = run(account, rule, "mended", "--lint")
    assert not PITFALL.search(mended.stderr), mended.stderr
    assert mended.stdout == f"{rule} mended\n"


@pytest.fixture(scope="module")
def regions(scratch):
    made = scratch / "regions"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", made,
                    PROGRAM.with_name("regions.c"), "-libverbs"], check=True)
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("kept, told", [
    (0, []), (1, ["1 region of memory was"]), (2, ["2 regions of memory were"])])
def test_a_fork_is_told_of_while_memory_is_registered(account, regions, kept,
                                                      told):
    """And not the child's own, whose pages no adapter knows."""
    done = account.run("ibemu", "run", "--lint", "--", regions, str(kept))
    assert re.findall(r"fork-after-registration: .* while (.*) registered,",
                      done.stderr) == told, done.stderr


PARTITIONS = """
Default=0x7fff : ALL=full ;
Blue=0x0001 : ALL=full ;
"""


def test_who_takes_the_first_of_several_p_keys_unseen_is_told_so(fabric):
    lab = fabric("single-switch:hosts=2")
    conf = lab.account.home / "partitions.conf"
    conf.write_text(PARTITIONS)
    lab.start_opensm("node-1", "-P", conf)

    def told(form):
        command = lab.on("node-1", "node-2")
        done = lab.account.run(*command[:-1], "--lint", "--", "/usr/bin/python3",
                               "-B", PROGRAM, "pkey-index-assumed", form)
        assert done.stdout == f"pkey-index-assumed {form}\n"
        return PITFALL.findall(done.stderr)
    assert told("broken") == ["pkey-index-assumed"]
    assert told("mended") == []


@pytest.mark.parametrize("mistake", first(2, MISTAKES))
def test_what_fails_here_as_well_is_explained(account, mistake):
    broken = run(account, mistake, "broken", "--explain", "--lint")
    assert re.search(f"(?m)^ibemu run: node-1 {MISTAKES[mistake]}$",
                     broken.stderr), broken.stderr
    assert not PITFALL.search(broken.stderr), broken.stderr
    mended = run(account, mistake, "mended", "--explain", "--lint")
    assert mended.stderr == ""


@pytest.mark.deep
def test_the_way_past_fuse_changes_nothing(account):
    for rule in ("late-arm", "ah-leak", "used-after-fork"):
        broken = run(account, rule, "broken", "--lint", "--no-fast-path")
        assert PITFALL.findall(broken.stderr) == [rule], broken.stderr


def test_a_program_prints_the_same(account):
    assert (run(account, "late-arm", "broken", "--lint").stdout ==
            run(account, "late-arm", "broken").stdout == "late-arm broken\n")
    assert run(account, "late-arm", "broken").stderr == ""


def told(account, server, client, sm="static"):
    """The rules that --lint names of a server at node-1 and a client at node-2,
    which tries until the server listens."""
    done = account.run(
        "ibemu", "run", "--topology=single-switch:hosts=2", f"--sm={sm}",
        "--host=node-1", "--host=node-2", "--lint", "--", "sh", "-c",
        f"({server}) > server.log 2>&1 & server=$!; "
        f"until ({client}) > client.log 2>&1 || ! kill -0 $server; "
        "do sleep 0.1; done; wait $server; ended=$?; "
        "cat server.log client.log; exit $ended", check=False)
    assert done.returncode == 0 or LOST_CLOCK in done.stdout, describe(done)
    return PITFALL.findall(done.stdout + done.stderr)


@pytest.mark.parametrize("program", [
    "ibv_rc_pingpong -e",
    *deep("ibv_rc_pingpong", "ibv_ud_pingpong -e", "ibv_srq_pingpong -e")])
def test_rdma_cores_examples_are_not_told_of(account, program):
    assert told(account, f"{program} -d ibemu0",
                f"{program} -d ibemu1 localhost") == []


@pytest.mark.parametrize("program", [
    "ib_send_bw -n 500",
    *deep("ib_send_lat -e -n 500", "ib_write_bw -n 500", "ib_send_bw -c UD -n 500")])
def test_perftest_is_not_told_of(account, program):
    program = f"{program} -F -p {free_port()}"
    assert told(account, f"{program} -d ibemu0",
                f"{program} -d ibemu1 localhost") == []


@pytest.mark.parametrize("transport, options", [
    ("rc_v", "-t tag_lat -E sleep"),
    *deep(("rc_v", "-t tag_lat"), ("ud_v", "-t tag_bw"))])
def test_ucx_is_not_told_of(account, transport, options):
    program = " ".join([*ucx_perftest(), f"-p {free_port()} -n 200", options])
    def at(device):
        return (f"UCX_TLS={transport},self UCX_NET_DEVICES={device}:1 "
                f"exec {program}")
    assert told(account, at("ibemu0"), f"{at('ibemu1')} localhost") == []


def test_ucmatose_is_not_told_of(account):
    """Its client leaves the last completions in a queue that they fill."""
    assert told(account, "ucmatose", "ucmatose -s 198.18.0.1",
                sm="builtin") == []
