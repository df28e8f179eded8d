"""Daemons that are killed while their hosts talk to each other by leases."""

import contextlib
import random
import signal

import pytest

from harness import JoinedFabric, ListeningFabric, until
from pairs import connect_by_name, leases, state

pytestmark = pytest.mark.deep

HOSTS = ["node-1", "node-2"]
HEAD = "head"
ROUNDS = 50  # for each of two ways of joining and two accounts: 200 deaths
TOPOLOGY = "single-switch:hosts=3"
# What comes back is compared with what was sent, each time.
TALK = "rping -V -S 20000 -C 1000000"


def talk_by_leases(lab):
    """Two programs that have come so far."""
    server = lab.start(HOSTS[0], *TALK.split(), "-s")
    client = lab.start(HOSTS[1], "sh", "-c",
                       f"until {TALK} -c -a {HOSTS[0]}; do :; done")
    until(lambda: [leases(lab, host) for host in HOSTS] == [1, 1])
    return server, client


def check_nothing_was_invented(*programs):
    for program in programs:
        program.stop(signal.SIGKILL)
        assert "mismatch" not in program.output, program.output


@pytest.mark.parametrize("made_by", [JoinedFabric, ListeningFabric],
                         ids=["socket", "tcp"])
def test_whoever_is_killed_the_others_go_on_and_he_comes_back(module_account,
                                                              made_by):
    with contextlib.ExitStack() as until_the_end:
        kill_and_revive(made_by(module_account, "deaths", TOPOLOGY, sm="builtin"),
                        until_the_end)


def kill_and_revive(lab, until_the_end):
    chance = random.Random(21)
    until_the_end.callback(lab.stop)
    for host in HOSTS:
        lab.drive(host)
    for _ in range(ROUNDS):
        until(lambda: [state(lab, host) for host in HOSTS] == ["ACTIVE"] * 2)
        programs = talk_by_leases(lab)
        victim = chance.choice([*HOSTS, HEAD])
        if victim == HEAD:
            lab.daemon.stop(signal.SIGKILL)
            until(lambda: [state(lab, host) for host in HOSTS] == ["DOWN"] * 2)
            again = lab.again(TOPOLOGY, sm="builtin")
            again.drivers, lab = lab.drivers, again
            until_the_end.callback(lab.stop)
        else:
            [other] = set(HOSTS) - {victim}
            lab.drivers[(victim,)].stop(signal.SIGKILL)
            until(lambda: leases(lab, other) == 0)
            assert state(lab, other) == "ACTIVE"
            lab.drive(victim)
        check_nothing_was_invented(*programs)
        until(lambda: [state(lab, host) for host in HOSTS] == ["ACTIVE"] * 2)
        connect_by_name(lab, HOSTS[0], lab.on(HOSTS[1]), count=10)
