"""Fixtures of the tests that run inside a User-Mode Linux, as its root."""

import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
E2E = TESTS / "e2e"
sys.path[:0] = [str(E2E), str(TESTS / "containers")]  # kubelet.py

from accounts import build, make_account, programs, scratch  # noqa: E402,F401
from harness import Background  # noqa: E402


@pytest.fixture
def account(scratch, programs):  # noqa: F811
    return make_account("root", scratch, programs)


class System:
    """An ibemud --front-end=cuse and the machine that it serves."""

    def __init__(self, account, topology, hosts, *options):
        self.account = account
        self.daemon = Background(
            account, ["ibemud", "--front-end=cuse", f"--topology={topology}",
                      *[f"--host={host}" for host in hosts], *options])
        self.daemon.wait_for(r"\bready\b")

    def run(self, *command, **options):
        return self.account.run(*command, **options)

    def start(self, *command):
        return Background(self.account, command)


@pytest.fixture
def system(account):
    running = []

    def start(*arguments):
        running.append(System(account, *arguments))
        return running[-1]

    yield start
    for one in running:
        one.daemon.stop()
