"""Where opensm and its kind keep their files, in a run; and runs without an
adapter."""

import os
import pathlib

import pytest

from harness import until

pytestmark = pytest.mark.both_accounts

plain_alone = pytest.mark.parametrize("account", ["plain"], indirect=True)

# Bare, as a newcomer starts it, until it has swept.
OPENSM = ("opensm > /dev/null & "
          "until test -s /var/log/opensm-subnet.lst -a "
          "-s /var/cache/opensm/guid2lid; do sleep 0.1; done; "
          "kill $!; wait $!; "
          "ls /var/cache/opensm; ls -A /var/log")


def run_opensm(account, *options):
    """What is in the directories of opensm then."""
    environment = {name: value for name, value in account.environment.items()
                   if not name.startswith("OSM_")}
    return account.run("ibemu", "run", "--sm=none", *options, "--", "sh", "-c",
                       OPENSM, env=environment).stdout.split()


def machine():
    """What others change, too: for tests that run alone."""
    cache = pathlib.Path("/var/cache/opensm")
    return (sorted(os.listdir("/var/log")), sorted(os.listdir("/var/cache")),
            sorted(os.listdir(cache)) if cache.is_dir() else None)


@plain_alone  # root may write where opensm does
@pytest.mark.alone
def test_the_first_opensm_comes_up(account):
    before = machine()
    names = run_opensm(account)
    assert {"guid2lid", "opensm.log"} <= set(names)
    assert set(before[0]) <= set(names)  # the machine's logs
    assert machine() == before


@plain_alone
def test_ibdiagnet_has_a_place_for_what_it_writes(account):
    names = account.run("ibemu", "run", "--", "sh", "-c",
                        "ibdiagnet > /dev/null && ls /var/cache/ibutils")
    assert "ibdiagnet.lst" in names.stdout.split()


@pytest.mark.alone
def test_what_opensm_writes_is_kept(account):
    before = machine()
    state = account.home / "state"
    for _ in range(2):
        assert "guid2lid" in run_opensm(account, f"--state={state}")
        listed = account.run("find", state, "-printf", "%P\n").stdout.split()
        assert {"cache/opensm/guid2lid", "log/opensm.log"} <= set(listed)
        assert not [name for name in listed if "/." in f"/{name}"]
    assert machine() == before


def test_what_a_run_leaves_behind_keeps_its_directories(account):
    state = account.home / "state"
    late = ("until test -e go; do sleep 0.1; done; "
            "echo late > /var/log/part; mv /var/log/part /var/log/late")
    account.run("ibemu", "run", f"--state={state}", "--", "sh", "-c",
                f"(setsid sh -c '{late}' > /dev/null 2>&1 &)")
    (account.home / "go").touch()
    until((state / "log" / "late").exists)
    assert account.run("ibemu", "run", f"--state={state}", "--", "cat",
                       "/var/log/late").stdout == "late\n"


def test_a_state_that_is_no_directory_is_refused(account):
    done = account.run("ibemu", "run", "--state=/dev/null", "--", "true",
                       check=False)
    assert done.returncode == 125
    assert "/dev/null" in done.stderr


# Without an adapter ---------------------------------------------------------


LOOK = ("ls -A /dev/infiniband /sys/class/infiniband /sys/class/infiniband_mad "
        "/sys/class/infiniband_verbs; ibv_devices; ibstat -l; exit 3")


def test_no_adapter_hides_those_of_the_machine(account):
    """An outer run plays the machine."""
    done = account.run("ibemu", "run", "--", "ibemu", "run", "--no-adapter",
                       "--", "sh", "-c", LOOK, check=False)
    assert done.returncode == 3, done.stderr
    assert "ibemu0" not in done.stdout + done.stderr
    assert "umad0" not in done.stdout
    assert "/sys/class/infiniband_verbs:" in done.stdout


def test_no_adapter_needs_no_machine_with_one(account):
    done = account.run("ibemu", "run", "--no-adapter", "--", "sh", "-c",
                       "ls /sys/class/net; exit 4", check=False)
    assert done.returncode == 4, done.stderr
    assert "lo" in done.stdout.split()


@pytest.mark.parametrize("option", [
    "--topology=back-to-back", "--fabric=lab", "--host=node-1", "--hostname=a",
    "--state=here"])
def test_no_adapter_goes_alone(account, option):
    done = account.run("ibemu", "run", "--no-adapter", option, "--", "true",
                       check=False)
    assert done.returncode == 125
    assert "--no-adapter" in done.stderr
