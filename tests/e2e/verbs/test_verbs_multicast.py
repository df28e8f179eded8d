"""Datagrams to a group: joined by perftest, routed by opensm, copied by
switches."""

import re
import subprocess

import pytest

from harness import Fabric
from perftest import check, play


@pytest.fixture(scope="module")
def tree(module_account):
    made = Fabric(module_account, "tree", "fat-tree:radix=4,levels=2")
    made.start_opensm("node-1")
    # opensm answers who joins before it sets the switches' tables, and perftest
    # sends at once: so the answers cross the last link later than the tables.
    for host in HOSTS:
        made.ibemu("fault", "add", "link", f"{host}/1", "delay", "300ms", "attr",
                   "MCMemberRecord", "dir", "rx")
    yield made
    made.stop()


def version():
    told = subprocess.run(["ib_send_lat", "--version"], capture_output=True,
                          text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", told)))


def ends_of(program):
    """ib_send_lat of Debian 13 leaves its group twice, the second time at a
    device by a name that it has freed."""
    return (0, 1) if program == "ib_send_lat" and version() >= (6, 24) else (0,)


PROGRAMS = pytest.mark.parametrize("program", ["ib_send_bw", "ib_send_lat"])
HOSTS = "node-2", "node-3", "node-8"
OPTIONS = ["-c", "UD", "-g", "-n", "50", "-s", "1024"]


@PROGRAMS
def test_a_group_hears_what_comes_over_switches(tree, program):
    client, server = play(tree, program, *OPTIONS, hosts=(HOSTS[0], HOSTS[2]),
                          ends=ends_of(program))
    check(client, 50)
    check(server, 50)


@PROGRAMS
def test_a_group_hears_its_own_host(tree, program):
    """A port leaves a group once: the second who tries is told so."""
    client, server = play(tree, program, *OPTIONS, hosts=(HOSTS[1], HOSTS[1]),
                          ends=(0, 1))
    check(client, 50)
    check(server, 50)
