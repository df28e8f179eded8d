"""umad and issm, case by case, as Linux does them: see abi.py."""

import shutil

import pytest

import abi
from accounts import make_account
from harness import HcaFabric

@pytest.fixture(scope="module")
def umad_abi(build, scratch):
    program = scratch / "umad_abi"
    shutil.copy(build / abi.PROGRAM, program)
    return program


# How calls may go: past FUSE, past FUSE more often, and never.
WAYS = [([], {}), ([], {"UMAD_ABI_WARM": "1"}), (["--no-fast-path"], {})]


def start(background, account, program, number):
    # A directory each: the runs share nothing.
    home = account.home / f"run-{number}"
    account.run("mkdir", "--mode=700", home)
    options, more = WAYS[number % len(WAYS)]
    environment = {**account.environment, **abi.ADAPTER, **more,
                   "XDG_RUNTIME_DIR": str(home)}
    return background("ibemu", "run", *options, "--topology=back-to-back",
                      "--sm=static", "--host=node-1", "--host=node-2", "--",
                      program, env=environment)


def test_the_devices_do_what_linux_does(account, background, umad_abi,
                                        pytestconfig):
    """In the deep run on a machine with much to do."""
    times = 7 if pytestconfig.getoption("--deep") else 1
    expected = abi.expected("run_mode.txt")
    runs = [start(background, account, umad_abi, n)
            for n in range(times * len(WAYS))]
    for run in runs:
        assert run.wait() == 0, run.output
        assert abi.observed(run.output) == expected


@pytest.mark.deep
def test_our_driver_does_what_linux_does_on_such_an_adapter(
        scratch, programs, umad_abi):
    """An adapter that can't be pulled out has no case of that."""
    lab = HcaFabric(make_account("plain", scratch, programs), "lab",
                    "back-to-back", sm="static")
    try:
        done = lab.account.run(*lab.on("node-1", "node-2"), umad_abi)
        expected = {**abi.expected("run_mode.txt"), **abi.transcript("hca.txt")}
        del expected["removal"]
        assert abi.observed(done.stdout) == expected
    finally:
        lab.stop()


def test_what_differs_from_linux_stands_in_the_readme():
    linux, here = abi.transcript("linux.txt"), abi.transcript("run_mode.txt")
    assert here.keys() <= linux.keys()
    assert all(here[name] != linux[name] for name in here)
    readme = (abi.HERE.parents[2] / "README.md").read_text()
    assert [name for name in here if f"`{name}`" not in readme] == []
