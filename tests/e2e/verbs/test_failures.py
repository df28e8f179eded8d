"""docs/examples/failures: each program fails in its broken form, for the reason
that `ibemu run --explain` then tells, and not in its mended form; and --lint
finds those whose queue pairs are set up wrongly."""

import pathlib
import re

import pytest

from harness import first

FAILURES = (pathlib.Path(__file__).resolve().parents[3] /
            "docs/examples/failures")
REASONS = {
    "receives_after_connect":
        r"RNR_RETRY_EXC_ERR: node-2 queue pair 0x2 had no receive request",
    "mixed_mtus":
        r"\(RDMA WRITE\) ended with REM_INV_REQ_ERR: node-2 queue pair 0x2 "
        r"refused it: a packet of 4096 bytes came, which the path MTU here, "
        r"1024, does not allow",
    "reconnect_storm":
        r"REM_ACCESS_ERR: .*: no region has the key 0x1\w* any more: it was "
        r"deregistered",
    "flushed_is_no_cause":
        r"REM_ACCESS_ERR: node-2 queue pair 0x2 refused it: no region has the "
        r"key 0x101",
    "post_after_error": None,  # the program put it into error
    "send_queue_never_polled":
        r"node-1 process \d+: POST_SEND was refused with ENOMEM: ",
    "one_queue_pair_refused":
        r"node-1 process \d+: CREATE_QP was refused with ENOMEM: fault-1 refuses "
        r"it",
    "key_of_another_domain":
        r"REM_ACCESS_ERR: .*: the region is of another protection domain",
    "region_without_atomics":
        r"\(FetchAdd\) ended with REM_ACCESS_ERR: .*: the region allows local "
        r"write, remote write, remote read, this needs remote atomics",
    "deregistered_too_early":
        r"REM_ACCESS_ERR: .*: no region has the key 0x1\w* any more: it was "
        r"deregistered",
    "no_room_for_the_grh":
        r"node-2 queue pair 0x2 lost a message.*: a datagram of \d+ bytes and 40 "
        r"for the GRH came, the receive request has \d+$",
    "completion_queue_too_small":
        r"went from RTS to ERR, as its completion queue is full$",
    "lost_acknowledgements":
        r"RETRY_EXC_ERR: 16 tries of PSN 0x0 in .*, none answered: the answers "
        r"of node-2 queue pair 0x2 were dropped at node-2/1: lost by lost-acks",
    "link_flap":
        r"RETRY_EXC_ERR: 16 tries of PSN 0x0 in .*, none answered: dropped at "
        r"switch-1/2: the link was down from [\d.]+m?s to [\d.]+m?s",
}
# What --lint finds in the broken form; nothing in all others, and in the mended.
PITFALLS = {
    "receives_after_connect": "late-receive",
    "mixed_mtus": "mtu-differs",
    "completion_queue_too_small": "cq-too-small",
    "send_queue_never_polled": "never-signaled",
}
PITFALL = re.compile(r"ibemu run: ([a-z-]+): node-[12] queue pair 0x2 of process "
                     r"\d+: ")


def run(account, name, form):
    return account.run(
        "ibemu", "run", "--topology=single-switch:hosts=2", "--sm=static",
        "--host=node-1", "--host=node-2", "--explain", "--lint", "--",
        "/usr/bin/python3", "-B", FAILURES / f"{name}.py", form, check=False)


def test_each_program_of_the_folder_is_tried():
    names = {path.stem for path in FAILURES.glob("*.py")} - {"pair"}
    assert names == set(REASONS)
    listed = set(re.findall(r"(?m)^\| `(\w+)`",
                            (FAILURES / "README.md").read_text()))
    assert listed == names


def test_each_program_has_thirty_lines_at_most():
    assert {name: lines for name in REASONS if (lines := len(
        (FAILURES / f"{name}.py").read_text().splitlines())) > 30} == {}


@pytest.mark.parametrize("name", first(6, REASONS))
def test_a_program_fails_in_its_broken_form_alone(account, name):
    broken = run(account, name, "broken")
    assert broken.returncode == 1 and "Traceback" not in broken.stderr
    told = [line for line in broken.stderr.splitlines()
            if line.startswith("ibemu run: ")]
    pitfalls = [line for line in told if PITFALL.match(line)]
    assert {PITFALL.match(line)[1] for line in pitfalls} == (
        {PITFALLS[name]} if name in PITFALLS else set())
    told = [line for line in told if line not in pitfalls]
    if REASONS[name] is None:
        assert told == []
    else:
        assert re.search(REASONS[name], told[0]), told
    mended = run(account, name, "mended")
    assert mended.returncode == 0, mended.stderr
    assert not PITFALL.search(mended.stderr), mended.stderr
