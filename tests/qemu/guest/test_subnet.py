"""Real programs on the machine's devices, and a subnet of 648 hosts behind."""

import re
from signal import SIGKILL

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


def is_active(service):
    return "State: Active" in service.run("ibstat", "ibemu0").stdout


def test_opensm_says_that_its_device_went_and_the_next_one_takes_over(
        service, tmp_path):
    service.start("--topology=fat-tree:radix=4,levels=2 --sm=none --host=node-1")
    # A receiver without a device repeats its message as fast as it can.
    command = ("opensm", "--log_file", tmp_path / "log", "--log_limit", "10")
    opensm = service.background(*command)
    until(lambda: is_active(service))
    service.systemctl("restart", "ibemud")
    assert "ERR 5404: recv error on MAD" in (tmp_path / "log").read_text()
    # Not SIGTERM: it ends that thread, which may hold the lock of the log.
    opensm.stop(SIGKILL)
    assert not is_active(service)
    service.background(*command)
    until(lambda: is_active(service))


def test_debians_own_unit_of_opensm_serves_every_port(service):
    service.start("--topology=back-to-back --sm=none --host=node-1")
    assert not is_active(service)
    service.systemctl("start", "opensm")
    until(lambda: is_active(service))
    service.systemctl("stop", "opensm")
