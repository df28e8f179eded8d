"""ibemu up on several machines: a lab has the subnet, others have hosts of it."""

import contextlib
import json
import os
import re
import signal

import pytest

from harness import started_by, until
from network import Network

# Root's fabrics have one directory, for all processes that run tests.
HEAD, PC7, PC8 = (f"{name}-{os.getpid()}" for name in ("head", "pc7", "pc8"))
STAYS = '{run: "echo is up; exec sleep 1000", ready: is up, service: true}'
SERVES = "{run: rping -s -P & echo is up; wait, ready: is up, service: true}"
CONNECTS = "until rping -c -a node-1 -C 3 2> /dev/null; do :; done"


def write(account, name, text):
    """Writes a lab of this name; the file has a line before `text`."""
    path = account.home / f"{name}.yaml"
    path.write_text(f"name: {name}\n{text}")
    path.chmod(0o644)
    return path.name


class Labs:
    """One with a subnet of six hosts, which has begun, and others to come."""

    def __init__(self, account, start, listen="127.0.0.1:0"):
        self.account = account
        own_address = listen.split(":")[0]
        account.run("ibemu", "certs", "certs", own_address, "pc7", "pc8")
        self.head = start("ibemu", "up", write(account, HEAD, f"""\
topology: single-switch:hosts=6
listen: {listen}
certs: certs/{own_address}
hosts: {{node-1: {SERVES}}}
"""))
        self.address = self.head.wait_for(r"for other machines at (\S+:\d+)")[1]
        self.head.wait_for("is up")

    def write(self, name, hosts):
        """Of a lab that joins the head, in whose file `hosts` begins at line 5."""
        return write(self.account, name, f"join: {self.address}\n"
                     f"certs: certs/{name.split('-')[0]}\nhosts:\n{hosts}")

    def up(self, name, hosts, *options, account=None):
        return (account or self.account).run(
            "ibemu", "up", self.write(name, hosts), *options, check=False)

    def joined(self):
        """Who has which host, as the head tells it."""
        status = self.account.run("ibemu", "status", f"--fabric={HEAD}", "--json")
        return {host["node"]: host["peer"].split()[0]
                for host in json.loads(status.stdout)["joined"]}


@pytest.fixture
def labs(account, background):
    return Labs(account, background)


@pytest.fixture
def pc7(labs, background):
    """A lab that has joined, with node-2."""
    made = background("ibemu", "up", labs.write(PC7, f"  node-2: {STAYS}\n"))
    made.wait_for("is up")
    assert labs.joined() == {"node-2": "pc7"}
    return made


def names(account):
    """Of the fabrics that run."""
    listed = json.loads(account.run("ibemu", "ls", "--json").stdout)
    return {fabric["fabric"] for fabric in listed}


def test_two_labs_have_hosts_of_a_third(labs, pc7):
    done = labs.up(PC8, f"""\
  node-[3-4]:
    - {CONNECTS}; hostname
    - ibstat -l
  any: {{run: hostname, after: "node-[3-4]"}}
""")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == [
        "any    | node-5", "node-3 | ibemu0", "node-3 | node-3",
        "node-4 | ibemu0", "node-4 | node-4"]
    # It has given back what it had.
    until(lambda: labs.joined() == {"node-2": "pc7"})
    pc7.signal(signal.SIGTERM)
    assert pc7.wait() == -signal.SIGTERM
    until(lambda: labs.joined() == {})
    labs.account.run("ibemu", "down", HEAD)
    assert labs.head.wait() == -signal.SIGTERM
    assert not names(labs.account) & {HEAD, PC7, PC8}


@pytest.mark.deep
def test_the_first_that_fails_gives_the_status_of_its_own_lab_alone(labs, pc7):
    done = labs.up(PC8, f"""\
  node-3: {STAYS}
  any: {{run: echo a; exit 3, after: node-3}}
""", "--json")
    assert done.returncode == 3
    reason = f"{PC8}.yaml:6: any: exit status 3"
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"host": "any", "line": "a", "stderr": False} in told
    assert told[-1] == {"state": "ended", "status": 3, "reason": reason}
    assert done.stderr.endswith(f"ibemu up: {reason}\n")
    until(lambda: labs.joined() == {"node-2": "pc7"})
    assert {HEAD, PC7} <= names(labs.account)
    assert pc7.process.poll() is None


@pytest.mark.deep
def test_one_that_joins_goes_on_in_the_background_until_it_is_taken_down(labs):
    done = labs.up(PC7, f"  node-2: {STAYS}\n", "--detach")
    assert done.returncode == 0, done
    assert done.stdout == "node-2 | is up\n"
    inside = labs.account.run("ibemu", "run", f"--fabric={PC7}", "--host=node-2",
                              "--", "sh", "-c", f"{CONNECTS}; hostname")
    assert inside.stdout == "node-2\n"
    labs.account.run("ibemu", "down", f"{PC7}.yaml")
    assert PC7 not in names(labs.account)
    until(lambda: labs.joined() == {})


def test_hosts_that_can_not_be_had_are_told_with_their_lines(labs, background):
    done = labs.up(PC7, """\
  node-2: touch started
  node-9: touch started
  node-8: touch started
""")
    assert done.returncode == 1
    assert done.stderr == f"""\
ibemu up: {PC7}.yaml:6: no node "node-9": did you mean "node-1"?
{PC7}.yaml:7: no node "node-8": did you mean "node-1"?
"""
    # By the name of its fabric, as on the same machine.
    other = background("ibemu", "up", write(
        labs.account, PC8, f"join: {HEAD}\nhosts: {{node-3: {STAYS}}}\n"))
    other.wait_for("is up")
    done = labs.up(PC7, "  node-2: touch started\n  node-3: touch started\n")
    assert done.returncode == 1
    assert done.stderr == (
        f'ibemu up: {PC7}.yaml:6: "node-3" has an adapter elsewhere already\n')
    assert not (labs.account.home / "started").exists()


def test_what_can_not_be_joined_is_told_with_its_line(account):
    """There are no certificates, or there is no head."""
    file = write(account, PC7, "join: localhost:1\nhosts: {node-1: ibstat}\n")
    done = account.run("ibemu", "up", file, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"ibemu up: {PC7}\.yaml:2: .*ca\.crt: .*"
                        r'"ibemu certs" makes certificates\n', done.stderr), done
    account.run("ibemu", "certs", "certs", "pc7")
    write(account, PC7, "join: localhost:1\ncerts: certs/pc7\n"
          "hosts: {node-1: ibstat}\n")
    done = account.run("ibemu", "up", file, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"ibemu up: {PC7}\.yaml:2: localhost:1: .*refused\n",
                        done.stderr), done


def test_a_lab_can_not_listen_where_another_does(labs):
    done = labs.account.run("ibemu", "up", write(labs.account, PC7, f"""\
listen: {labs.address}
certs: certs/127.0.0.1
hosts: {{node-1: touch started}}
"""), check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ibemu up: {PC7}.yaml:2: listen: "
                                  f"{labs.address}: can't listen there: "), done
    assert not (labs.account.home / "started").exists()
    assert PC7 not in names(labs.account)


def test_why_a_lab_can_not_listen_is_told_with_its_line(account):
    """There are no certificates, or it is no address."""
    file = write(account, PC7, "hosts: {node-1: ibstat}\nlisten: 127.0.0.1:0\n")
    done = account.run("ibemu", "up", file, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"ibemu up: {PC7}\.yaml:3: listen: .*ca\.crt: .*"
                        r'"ibemu certs" makes certificates\n', done.stderr), done
    account.run("ibemu", "certs", "certs", "pc7")
    write(account, PC7, "hosts: {node-1: ibstat}\ncerts: certs/pc7\n"
          "listen: 127.0.0.1:99999\n")
    done = account.run("ibemu", "up", file, check=False)
    assert done.returncode == 1
    assert re.match(rf"ibemu up: {PC7}\.yaml:4: listen: .*99999", done.stderr), done


def test_a_lab_does_not_join_itself(account):
    file = write(account, PC7, f"hosts: {{node-1: ibstat}}\njoin: {PC7}\n")
    done = account.run("ibemu", "up", file, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f'ibemu up: {PC7}.yaml:3: "{PC7}" is the '
                                  "fabric that would join ("), done


@pytest.mark.deep
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_labs_are_on_machines_of_their_own(account):
    """Where port 7471 is free, so nobody names one."""
    with Network(3) as network:
        head, *others = network.machines
        with contextlib.contextmanager(started_by)(head.inside(account)) as start:
            labs = Labs(account, start, listen=head.address)
            assert labs.address == f"{head.address}:7471"
            labs.address = head.address
            for machine, name in zip(others, (PC7, PC8)):
                done = labs.up(name, f"  any: {CONNECTS}; hostname\n",
                               account=machine.inside(account))
                assert done.returncode == 0, done
                assert done.stdout == "any | node-2\n"
                until(lambda: labs.joined() == {})
