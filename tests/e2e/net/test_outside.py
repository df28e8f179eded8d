"""`ibemu run --net --outside=PROGRAM`: the way to the machine's own network."""

import os
import pathlib
import re
import signal
import socket
import subprocess

import pytest

from harness import until
from net import ONE, PAIR, idle, on, run

PROGRAMS = "pasta", "slirp4netns"


@pytest.fixture(scope="module", autouse=True)
def default_route(own_network_beside_others):
    """pasta wants one, of an interface of Ethernet.  It leads nowhere."""
    is_bare = [name for _, name in socket.if_nameindex()] == ["lo"]

    def ip(*words):
        if is_bare:  # else the machine has a route of its own
            subprocess.run(["ip", *words], check=True)
    ip("tuntap", "add", "out", "mode", "tap")
    ip("address", "add", "192.0.2.1/24", "dev", "out")
    ip("link", "set", "out", "up")
    ip("route", "add", "default", "via", "192.0.2.9", "dev", "out")
    yield
    ip("tuntap", "del", "out", "mode", "tap")


@pytest.fixture(params=PROGRAMS)
def program(request, account):
    """For root slirp4netns alone."""
    return "slirp4netns" if account.name == "root" else request.param


@pytest.fixture
def website(account, background):
    """The port at which the machine serves a file, on its loopback alone."""
    place = account.home / "site"
    place.mkdir()
    (place / "page").write_text("from the machine\n")
    server = background("/usr/bin/python3", "-u", "-m", "http.server", "0",
                        "--bind", "127.0.0.1", "--directory", place)
    return server.wait_for(r"port (\d+)")[1]


FETCH = """
gateway=$(ip route show default | sed 's/.* via \\([^ ]*\\).*/\\1/')
curl -s --max-time 30 http://$gateway:%s/page
"""


@pytest.mark.both_accounts
def test_a_run_reaches_the_machine_and_other_runs(fabric, background, program,
                                                  website):
    lab = fabric(PAIR, sm="builtin")
    idle(lab, "node-1", background)
    done = lab.account.run(
        *on(lab, "node-2", f"--outside={program}"), "sh", "-c",
        FETCH % website + f"ping -c 1 {ONE}; cat /etc/resolv.conf; "
        "ip -br link")
    assert done.stdout.startswith("from the machine\n")
    assert " 1 received" in done.stdout
    server = {"pasta": "169.254.1.1", "slirp4netns": "10.0.2.3"}[program]
    assert re.findall(r"(?m)^nameserver (.*)$", done.stdout) == [server]
    # The state beside the name comes up to a second later than the flag.
    assert set(re.findall(r"(?m)^(\w+) .*\bLOWER_UP\b", done.stdout)) == {
        "lo", "ib0", "tap0"}
    assert done.stderr == ""


def test_without_it_the_machine_is_out_of_reach(fabric, website):
    lab = fabric(PAIR, sm="builtin")
    told = run(lab, "node-1", "sh", "-c", "ip route show default; "
               f"curl -s --max-time 1 http://10.0.2.2:{website}/page",
               check=False)
    assert told.returncode != 0 and told.stdout == ""


def helpers(launcher):
    """Numbers of the processes that have joined that one's network."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (pathlib.Path(os.fsdecode(words[0])).name in PROGRAMS and
                str(launcher).encode() in words):
            found.append(int(entry.name))
    return found


def the_helper(launcher):
    """Its number, when the processes have gone that it forks at its start."""
    until(lambda: len(helpers(launcher)) == 1)
    return helpers(launcher)[0]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_program_ends_with_the_run(fabric, background, program, how):
    lab = fabric(PAIR, sm="builtin")
    command = background(*on(lab, "node-1", f"--outside={program}"), "sh", "-c",
                         "echo is there; exec sleep 1000")
    command.wait_for("is there")
    the_helper(command.process.pid)
    command.process.send_signal(how)
    until(lambda: helpers(command.process.pid) == [])
    command.stop(signal.SIGKILL)


def test_a_command_goes_on_when_the_program_has_ended(fabric, background,
                                                      program):
    lab = fabric(PAIR, sm="builtin")
    idle(lab, "node-2", background)
    command = background(
        *on(lab, "node-1", f"--outside={program}"), "sh", "-c",
        "echo is there; while ip link show tap0; do sleep 0.1; done; "
        "ping -c 1 198.18.0.2")
    command.wait_for("is there")
    os.kill(the_helper(command.process.pid), signal.SIGKILL)
    assert command.wait() == 0, command.output
    assert " 1 received" in command.output


@pytest.mark.both_accounts
def test_root_alone_is_told_that_pasta_is_not_for_him(fabric):
    lab = fabric(PAIR, sm="builtin")
    done = lab.account.run(*on(lab, "node-1", "--outside=pasta"), "echo", "began",
                           check=False)
    if lab.account.name == "plain":
        assert (done.stdout, done.stderr) == ("began\n", "")
        return
    assert done.returncode == 125 and done.stdout == ""
    assert done.stderr == (
        "ibemu run: --outside=pasta: it gives up root's rights, so it can't join "
        "a network that root has made: --outside=slirp4netns can\n")


def test_what_the_program_says_is_told_if_it_fails(account):
    fake = account.home / "bin"
    fake.mkdir()
    (fake / "slirp4netns").write_text("#!/bin/sh\necho no way >&2\n"
                                      "echo 'child failed(1)' >&2\nexit 1\n")
    (fake / "slirp4netns").chmod(0o755)
    done = account.run(
        "sh", "-c", f"PATH={fake}:$PATH exec ibemu run --net "
        "--outside=slirp4netns touch began", check=False)
    assert done.returncode == 125
    assert done.stderr == "ibemu run: --outside=slirp4netns: no way; child failed(1)\n"


@pytest.mark.parametrize("options, told", [
    (["--outside=pasta"],
     "--outside is a way out of the network that --net makes: give both"),
    (["--net", "--outside=past"],
     '--outside=past: there are "pasta", "slirp4netns" and "none": did you mean '
     '"pasta"?'),
    (["--no-adapter", "--outside=slirp4netns"],
     "--no-adapter starts and joins nothing: no option of a subnet, a daemon or "
     "a host goes together with it")])
def test_what_does_not_go_together_is_told(account, options, told):
    done = account.run("ibemu", "run", *options, "true", check=False)
    assert done.returncode == 125
    assert done.stderr == f"ibemu run: {told}\n"


def test_a_program_that_is_not_installed_is_named_with_its_package(account):
    done = account.run("sh", "-c", "ibemu=$(command -v ibemu); PATH=/nowhere; "
                       "$ibemu run --net --outside=pasta true", check=False)
    assert done.returncode == 125
    assert done.stderr == ("ibemu run: --outside=pasta: it is not installed: "
                           "Debian's \"passt\" has it\n")
