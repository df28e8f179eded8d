"""ibemu up: a fabric and programs on several of its hosts, from one file."""

import json
import os
import re
import signal

import pytest

from harness import gone, process
from perftest import free_port

# Root's fabrics have one directory, for all processes that run tests.
FABRIC = f"ring-{os.getpid()}"
ENDLESS = 'run: "echo is up; exec sleep 1000", ready: is up'


def write(account, text, name="ring.yaml"):
    path = account.home / name
    path.write_text(text)
    path.chmod(0o644)
    return name


def up(account, text, *options, **kinds):
    """Of a lab of one switch with four hosts."""
    file = write(account, f"topology: single-switch:hosts=4\n{text}"
                 f"name: {FABRIC}\n")
    return account.run("ibemu", "up", file, *options, check=False, **kinds)


@pytest.fixture
def lab(account, background):
    """Starts a lab of one switch with four hosts, which runs on."""
    def start(text):
        return background("ibemu", "up", write(
            account, f"topology: single-switch:hosts=4\n{text}"
            f"name: {FABRIC}\n"))
    return start


def is_there(account):
    """Whether the lab's fabric is, among those of other tests."""
    listed = json.loads(account.run("ibemu", "ls", "--json").stdout)
    return FABRIC in [fabric["fabric"] for fabric in listed]


def test_perftest_runs_between_two_hosts(account):
    # Not -R: with that it makes two connections, and a server that is late to
    # listen for the second one takes the next try for it, and both wait for ever.
    command = f"ib_write_bw -F -p {free_port()} -n 50 -s 1024"
    done = up(account, f"""\
timeout: 200s
hosts:
  node-1: {{run: {command}, ready: Waiting for client}}
  node-3:
    # It says so just before it listens.
    run: for try in $(seq 50); do {command} localhost && exit; done; exit 1
    after: node-1
""")
    lines = re.findall(r"^(\S+) \|\s+1024\s+50\s", done.stdout, re.MULTILINE)
    # perftest may fail to tell how fast the processor's clock is.
    assert sorted(lines) == ["node-1", "node-3"] or "clock" in done.stderr, done
    assert done.returncode == 0 or "clock" in done.stderr, done


def test_opensm_serves_what_waits_for_it_and_ends_well(account):
    done = up(account, """\
sm: none
hosts:
  node-4:
    - {run: "opensm --log_file stdout", service: true, ready: SUBNET UP}
  node-2: {run: "ibstat | grep State; ibnodes >&2", after: node-4}
""")
    assert done.returncode == 0, done
    assert "node-2 | \t\tState: Active\n" in done.stdout
    assert re.findall(r'^node-2 \| Ca.*"(.*)"$', done.stderr, re.MULTILINE) == [
        "node-4", "node-3", "node-1", "node-2"]
    # It has ended while its devices were there.
    assert "Exiting SM" in done.stdout
    assert "not connected" not in done.stdout + done.stderr


def test_each_host_is_told_apart_and_so_is_stderr(account):
    done = up(account, """\
hosts:
  node-1: "hostname; printf 'no end'"
  node-2:
    - {run: [sh, -c, "echo $A; ibstat -l >&2"], environment: {A: b c}}
""")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == [
        "node-1 | no end", "node-1 | node-1", "node-2 | b c"]
    assert done.stderr == "node-2 | ibemu0\n"


def test_several_hosts_run_the_same(account):
    done = up(account, "hosts:\n  node-[1-2,4]: hostname\n")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == [
        f"node-{n} | node-{n}" for n in (1, 2, 4)]


LOSES_ALL = """\
sm: static
timeout: 200s
hosts:
  node-1: {run: ibv_rc_pingpong -n 100000000, ready: local address,
           service: true}
  node-2: {run: ibemu fault add qp 'node-2/*' loss 100% &&
                ibv_rc_pingpong -n 100000000 localhost,
           after: node-1%s}
"""


@pytest.mark.parametrize("option, is_told", [("", True),
                                             (", explain: false", False)])
def test_why_work_requests_failed_is_told(account, option, is_told):
    done = up(account, LOSES_ALL.replace("%s", option))
    assert done.returncode == 1, done
    assert "Failed status transport retry counter exceeded" in done.stderr
    assert bool(re.search(
        r"^node-2 \| ibemu run: node-2 queue pair 0x\w+: work request \d+ "
        r"\(SEND\) ended with RETRY_EXC_ERR: .*: lost by fault-1", done.stderr,
        re.MULTILINE)) == is_told, done.stderr


def test_the_first_that_fails_ends_the_others_and_gives_the_status(account):
    done = up(account, f"""\
hosts:
  node-1: {{{ENDLESS}}}
  node-2: {{run: exit 3, after: node-1}}
""")
    assert done.returncode == 3
    assert done.stderr.endswith("ibemu up: ring.yaml:4: node-2: exit status 3\n")
    assert not is_there(account)


def test_a_lab_has_a_timeout(account):
    done = up(account, "timeout: 200ms\nhosts:\n  node-1: exec sleep 1000\n")
    assert done.returncode == 124
    assert done.stderr.endswith(
        "ibemu up: the lab has taken 200ms, its timeout\n")


def test_all_mistakes_come_at_once_and_nothing_is_started(account):
    done = up(account, """\
hosts:
  node-1: touch started
  node-9: touch started
  switch-2: touch started
""")
    assert done.returncode == 1
    assert done.stderr == """\
ibemu up: ring.yaml:4: no node "node-9": did you mean "node-1"?
ring.yaml:5: no node "switch-2": did you mean "switch-1"?
"""
    assert not (account.home / "started").exists()
    done = up(account, "hosts:\n  node-1: {rum: a}\n", "--check")
    assert done.returncode == 1
    assert 'ring.yaml:3: a program has no key "rum" but run' in done.stderr
    done = up(account, "hosts:\n  node-1: a\n", "--check")
    assert done.stdout == "ring.yaml: no faults: 1 programs\n"


def test_files_are_found_beside_the_labs(account):
    rack = account.home / "rack"
    rack.mkdir()
    rack.chmod(0o755)
    write(account, "generator: single-switch:hosts=3\n", "rack/subnet.yaml")
    write(account, "- {at: 0s, do: link node-3/1 down}\n", "rack/cut.yaml")
    file = write(account, """\
topology: subnet.yaml
timeout: 100s
scenario: cut.yaml
hosts:
  node-1: "until ibemu health 2>&1 | grep cut; do sleep 0.1; done"
name: %s
""" % FABRIC, "rack/lab.yaml")
    done = account.run("ibemu", "up", file)
    assert "scenario |      0.000  link node-3/1 down\n" in done.stdout
    assert "node-1   | ibemu health: 1 link is cut" in done.stdout


def test_programs_read_it_as_json(account):
    done = up(account, """\
hosts:
  node-1: echo a
  node-2: {run: "echo b >&2; exit 4", after: node-1}
""", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"host": "node-1", "state": "started"},
        {"host": "node-1", "line": "a", "stderr": False},
        {"host": "node-1", "state": "ended", "status": 0},
        {"host": "node-2", "state": "started"},
        {"host": "node-2", "line": "b", "stderr": True},
        {"host": "node-2", "state": "ended", "status": 4},
        {"state": "ended", "status": 4,
         "reason": "ring.yaml:4: node-2: exit status 4"}]


def test_it_needs_no_standard_streams(account):
    write(account, "hosts: {node-1: 'echo a; echo b >&2; ls /dev/fd > fds'}")
    done = account.run("sh", "-c", "exec ibemu up ring.yaml <&- >&- 2>&-")
    assert done.returncode == 0
    # And that of /dev/fd itself.
    assert (account.home / "fds").read_text() == "0\n1\n2\n3\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(account, lab, number):
    made = lab(f"hosts:\n  node-1: {{{ENDLESS}}}\n")
    made.wait_for("is up")
    assert is_there(account)
    made.signal(number)
    assert made.wait() == -number
    assert not is_there(account)


def test_a_program_that_will_not_end_is_killed_at_the_second_signal(lab):
    made = lab("""\
hosts:
  node-1: "trap '' TERM; sleep 1000 & echo pid=$!; wait; sleep 1000"
""")
    with process(int(made.wait_for(r"pid=(\d+)")[1])) as child:
        made.signal(signal.SIGINT)
        made.signal(signal.SIGTERM)
        assert made.wait() == -signal.SIGINT
        assert gone(child)


def test_a_killed_lab_takes_all_with_it(account, lab):
    made = lab(f'hosts:\n  node-1: "echo pid=$$; exec sleep 1000"\n')
    with process(int(made.wait_for(r"pid=(\d+)")[1])) as child:
        made.signal(signal.SIGKILL)
        made.process.wait()
        assert gone(child)
    assert not is_there(account)


def test_it_goes_on_in_the_background_until_it_is_taken_down(account):
    text = f"hosts:\n  node-1: {{{ENDLESS}, service: true}}\n"
    done = up(account, text, "--detach")
    assert done.returncode == 0, done
    assert done.stdout == "node-1 | is up\n"
    log = re.fullmatch(f"ibemu up: {FABRIC} is up; from here on, (.*) has what it "
                       "prints\n", done.stderr)[1]
    again = up(account, text, "--detach")
    assert again.returncode == 1
    assert "is running already" in again.stdout + again.stderr
    inside = account.run("ibemu", "run", f"--fabric={FABRIC}", "--host=node-2", "--",
                         "ibstat", "-l")
    assert inside.stdout == "ibemu0\n"
    account.run("ibemu", "down", "ring.yaml")
    assert not is_there(account)
    with open(log, encoding="utf-8") as file:
        assert file.read().endswith("ibemu up: ended by Terminated\n")
    gone = account.run("ibemu", "down", FABRIC, check=False)
    assert gone.returncode == 1
    assert "no daemon listens there" in gone.stderr


def test_a_lab_that_fails_in_the_background_before_it_is_up_tells_why(account):
    done = up(account, """\
hosts:
  node-1: {run: "echo oh no; exit 5", ready: never}
""", "--detach")
    assert done.returncode == 5
    assert "oh no" in done.stdout


def test_only_a_lab_is_taken_down(account, fabric):
    made = fabric("back-to-back")
    done = account.run("ibemu", "down", made.socket, check=False)
    assert done.returncode == 1
    assert 'no "ibemu up" has started this fabric' in done.stderr
    assert made.run("node-1", "ibstat", "-l").stdout == "ibemu0\n"
