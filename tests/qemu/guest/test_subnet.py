"""Real programs on the machine's devices, and a subnet of 648 hosts behind."""

import re

import pytest

from harness import until

HOSTS, SWITCHES = 648, 54
LONG = 900  # seconds: the processor is emulated


def test_ibstat_and_ibnetdiscover_find_the_devices(cable):
    assert "State: Active" in cable.run("ibstat", "ibemu1").stdout
    found = cable.run("ibnetdiscover", "-C", "ibemu1").stdout
    assert re.search(r'Ca\s+1 .*# "node-1"', found)


def test_two_hosts_ping_each_other(cable):
    cable.background("ibping", "-S", "-C", "ibemu1")
    ping = ("ibping", "-C", "ibemu0", "2", "-c")
    until(lambda: cable.run(*ping, "1", check=False).returncode == 0)
    assert ("3 packets transmitted, 3 received, 0% packet loss"
            in cable.run(*ping, "3").stdout)


@pytest.fixture
def fat_tree(service):
    service.start("--topology=fat-tree:radix=36,levels=2 --sm=none "
                  "--host=node-1 --host=node-648")
    return service


def test_opensm_brings_up_a_fat_tree_and_saquery_lists_it(fat_tree):
    opensm = fat_tree.background("opensm", "--log_file", "stdout")
    opensm.wait_for("SUBNET UP", timeout=LONG)
    # From the other host: a message of many segments through the subnet.
    records = fat_tree.run("saquery", "-C", "ibemu1", "NodeRecord", timeout=LONG)
    assert records.stdout.count("NodeRecord dump") == HOSTS + SWITCHES
    assert "State: Active" in fat_tree.run("ibstat", "ibemu1").stdout


def test_opensm_outlives_a_restart_or_says_why_it_ends(fat_tree):
    opensm = fat_tree.background("opensm", "--log_file", "stdout")
    opensm.wait_for("SUBNET UP", timeout=LONG)
    seen = opensm.mark()
    fat_tree.systemctl("restart", "ibemud")
    until(lambda: opensm.process.poll() is not None
          or "SUBNET UP" in "".join(opensm.lines[seen:]))
    assert re.search("SUBNET UP|ERR|Exiting", "".join(opensm.lines[seen:]))
    assert fat_tree.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
