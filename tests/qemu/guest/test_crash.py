"""A daemon that dies or stands still, while fifty clients use its devices."""

import pathlib
import re

from clients import CLIENTS
from harness import until
from service import leftovers

PROGRAM = pathlib.Path(__file__).with_name("clients.py")
# What /proc/PID/syscall begins with when a client is where it should be.
BLOCKED = {"read": "0 ", "poll": "7 ", "ioctl": "", "issm": "257 "}


def start_clients(service):
    clients = service.background("/usr/bin/python3", PROGRAM)

    def started():
        return re.findall(r"^(\d+) (\w+)$", clients.output, re.MULTILINE)

    until(lambda: len(started()) == CLIENTS)
    for pid, way in started():
        call = pathlib.Path(f"/proc/{pid}/syscall")
        until(lambda: call.read_text().startswith(BLOCKED[way]))
    return clients


def has_ended(clients):
    """All of them, and each by itself."""
    assert clients.wait() == 0, clients.output
    assert len(re.findall(r"^\d+ \w+: .", clients.output, re.MULTILINE)) == CLIENTS
    return True


def test_a_killed_daemon_leaves_neither_nodes_nor_mounts_nor_waiting_programs(
        cable):
    cable.change("Restart=no")
    clients = start_clients(cable)
    cable.kill("KILL")
    assert has_ended(clients)
    until(lambda: cable.show("ActiveState") == "failed")
    assert leftovers() == []
    cable.systemctl("start", "ibemud")
    assert answers(cable)


def answers(service):
    """A program that opens the devices now gets what it asks for."""
    asked = ("smpquery", "-C", "ibemu0", "-D", "nodedesc", "0,1")
    return "node-2" in service.run(*asked).stdout


def was_restarted(service):
    until(lambda: service.show("NRestarts") == "1"
          and service.show("ActiveState") == "active")
    return answers(service)


def test_systemd_starts_a_killed_daemon_again(cable):
    clients = start_clients(cable)
    cable.kill("KILL")
    assert has_ended(clients)
    assert was_restarted(cable)


def test_the_watchdog_ends_a_daemon_that_stands_still(cable):
    cable.change("WatchdogSec=10")
    cable.systemctl("restart", "ibemud")
    clients = start_clients(cable)
    cable.kill("STOP")
    assert has_ended(clients)
    assert was_restarted(cable)
