"""Daemons that are killed while their hosts talk to each other by leases."""

import contextlib
import random
import signal

import pytest

from harness import JoinedFabric, ListeningFabric, until
from pairs import counts, leases, numbered, start_numbered, state

pytestmark = pytest.mark.deep

HOSTS = ["node-1", "node-2"]
HEAD = "head"
ROUNDS = 50  # for each of two ways of joining and two accounts: 200 deaths
TOPOLOGY = "single-switch:hosts=3"
BRIEF = 16  # 0.27 s for an acknowledgement, eight times


def check_who_lives_was_told(counted):
    """Whose peer is gone sends in vain, until its queue pair gives up."""
    assert counted["failure"] == "transport retry counter exceeded"
    assert counted["sends_failed"] > 0


def check_adapter_is_gone(end):
    """A call has failed, unless `ibemu run` was faster to end the program."""
    assert end.wait() in (4, 125), end.output


def check_nothing_was_lost_or_invented(one, other):
    """What one knows to have arrived did, and no more than was sent."""
    for sender, receiver in (one, other), (other, one):
        assert (sender["sent"] <= receiver["received"]
                <= sender["sent"] + sender["sends_failed"])


@pytest.mark.parametrize("made_by", [JoinedFabric, ListeningFabric],
                         ids=["socket", "tcp"])
def test_whoever_is_killed_the_others_are_told_and_he_comes_back(
        module_account, scratch, made_by):
    with contextlib.ExitStack() as until_the_end:
        kill_and_revive(made_by(module_account, "deaths", TOPOLOGY, sm="builtin"),
                        numbered(scratch), until_the_end)


def kill_and_revive(lab, program, until_the_end):
    chance = random.Random(21)
    until_the_end.callback(lab.stop)
    for host in HOSTS:
        lab.drive(host)
    for _ in range(ROUNDS):
        until(lambda: [state(lab, host) for host in HOSTS] == ["ACTIVE"] * 2)
        ends = dict(zip(HOSTS, start_numbered(lab, program, *HOSTS, count=0,
                                              ack_timeout=BRIEF)))
        until(lambda: [leases(lab, host) for host in HOSTS] == [1, 1])
        assert [end.process.poll() for end in ends.values()] == [None, None]
        victim = chance.choice([*HOSTS, HEAD])
        if victim == HEAD:
            lab.daemon.stop(signal.SIGKILL)
            both = [counts(end) for end in ends.values()]
            for one in both:
                check_who_lives_was_told(one)
            check_nothing_was_lost_or_invented(*both)
            until(lambda: [state(lab, host) for host in HOSTS] == ["DOWN"] * 2)
            again = lab.again(TOPOLOGY, sm="builtin")
            again.drivers, lab = lab.drivers, again
            until_the_end.callback(lab.stop)
        else:
            [other] = set(HOSTS) - {victim}
            lab.drivers[(victim,)].stop(signal.SIGKILL)
            check_who_lives_was_told(counts(ends[other]))
            until(lambda: leases(lab, other) == 0)
            assert state(lab, other) == "ACTIVE"
            check_adapter_is_gone(ends[victim])
            lab.drive(victim)
