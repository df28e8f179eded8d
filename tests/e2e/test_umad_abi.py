"""umad and issm, case by case, as Linux does them.

umad_abi (its sources stand in umad_abi/) tells what it observes; linux.txt holds
what Linux 6.1 does, after recordings of it, run_mode.txt the lines that FUSE
makes different.
"""

import pathlib
import shutil

import pytest
HERE = pathlib.Path(__file__).parent / "umad_abi"

RUNS = 20
# What pulls umad1's adapter out of its host, and plugs it in again.
ADAPTER = {"UMAD_ABI_REMOVE": "ibemu device node-2 remove",
           "UMAD_ABI_ADD": "ibemu device node-2 add"}


def transcript(name):
    lines = (HERE / name).read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


@pytest.fixture(scope="module")
def umad_abi(build, scratch):
    program = scratch / "umad_abi"
    shutil.copy(build / "tests/e2e/umad_abi/umad_abi", program)
    return program


def start(background, account, program, number):
    # A directory each: the runs share nothing.
    home = account.home / f"run-{number}"
    account.run("mkdir", "--mode=700", home)
    environment = {**account.environment, **ADAPTER,
                   "XDG_RUNTIME_DIR": str(home)}
    return background("ibemu", "run", "--topology=back-to-back", "--sm=static",
                      "--host=node-1", "--host=node-2", "--", program,
                      env=environment)


def test_the_devices_do_what_linux_does(account, background, umad_abi):
    expected = {**transcript("linux.txt"), **transcript("run_mode.txt")}
    runs = [start(background, account, umad_abi, n) for n in range(RUNS)]
    for run in runs:
        assert run.wait() == 0, run.output
        observed = dict(line.rstrip("\n").split(": ", 1) for line in run.lines)
        assert observed == expected


def test_what_differs_from_linux_stands_in_the_readme():
    linux, here = transcript("linux.txt"), transcript("run_mode.txt")
    assert here.keys() <= linux.keys()
    assert all(here[name] != linux[name] for name in here)
    readme = (HERE.parents[2] / "README.md").read_text()
    assert [name for name in here if f"`{name}`" not in readme] == []
