"""On Linux 6.1, a command that is held up in pages that never come holds up no
other of its process."""

import pathlib

import pytest

from c_programs import compiled

HELD_UP = pathlib.Path(__file__).parents[2] / "e2e/verbs/held_up.c"


@pytest.fixture
def command(scratch, account, request):
    never = account.home / "never"
    never.mkdir()
    return ("timeout", "-s", "KILL", "60", compiled(HELD_UP, scratch),
            request.param, never)


@pytest.mark.deep
@pytest.mark.parametrize("command", ["command", "answer"], indirect=True)
def test_in_a_run(account, command):
    told = account.run("ibemu", "run", "--", *command)
    assert told.stdout.splitlines()[-1] == "answered"


@pytest.mark.parametrize("command", ["command", "answer"], indirect=True)
def test_in_system_mode(system, command):
    told = system("back-to-back", ["node-1", "node-2"], "--sm=static").run(
        *command)
    assert told.stdout.splitlines()[-1] == "answered"
