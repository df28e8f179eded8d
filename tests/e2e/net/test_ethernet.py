"""Virtual switches of Ethernet: `--net=ether:NAME`."""

import json
import re

import pytest

from harness import Fabric, started_by, until
from net import on


@pytest.fixture(scope="module")
def lab(module_account):
    made = Fabric(module_account, "ether", "single-switch:hosts=3", sm="builtin")
    yield made
    made.stop()


@pytest.fixture
def background(lab):
    """As elsewhere, by the account whose fabric it is."""
    yield from started_by(lab.account)


def ether(lab, host, *command, net="ether:blue"):
    return [f"--net={net}" if word == "--net" else word
            for word in [*on(lab, host), *command]]


def idle(lab, host, background, **more):
    program = background(*ether(lab, host, "sh", "-c",
                                "echo is there; exec sleep 1000", **more))
    program.wait_for("is there")
    return program


def said_by(lab, host, script, **more):
    return lab.account.run(*ether(lab, host, "sh", "-c", script, **more)).stdout


def switch_port(lab, host):
    """What `ibemu status` tells of it."""
    listed = json.loads(lab.ibemu("status", "--json").stdout)["networks"]
    port, = (net for net in listed
             if net["node"] == host and "ethernet" in net)
    return port


def test_hosts_on_a_switch_find_each_other_by_arp(lab, background):
    idle(lab, "node-2", background)
    said = said_by(lab, "node-1", "ping -c 1 -W 30 -s 1900 node-2.blue; "
                   "ip neighbour show dev blue; ip -br address show blue")
    assert re.search(r"^blue .* 169\.254\.1\.0/16 fe80::", said, re.M), said
    assert " 1 received" in said
    mac = switch_port(lab, "node-2")["mac"]
    assert re.search(rf"^169\.254\.1\.1 lladdr {mac} ", said, re.M), said


def test_what_a_switch_has_learnt_is_told(lab, background):
    idle(lab, "node-2", background)
    peer = background(*ether(
        lab, "node-1", "sh", "-c",
        "ping -c 1 -W 30 node-2.blue && cat /sys/class/net/blue/address && "
        "echo is there && exec sleep 1000"))
    peer.wait_for("is there")
    mac = re.search(r"^02(:[0-9a-f]{2}){5}$", peer.output, re.M)[0]
    port = switch_port(lab, "node-2")
    assert [one["mac"] for one in port["stations"]] == [mac]
    assert port["received"] > 0 and port["up"] and port["mtu"] == 2026
    text = lab.ibemu("status").stdout
    assert re.search(rf"^blue +node-2/1 +{port['mac']} +\d+ +\d+ +\d+ +\d+$",
                     text, re.M), text
    station, = port["stations"]
    assert re.search(rf"^blue +node-2/1 +{mac} +{station['lid']} +"
                     rf"{station['qpn']} +[\d.]+ s ago$", text, re.M), text


def test_switches_of_other_names_are_other_networks(lab, background):
    idle(lab, "node-2", background, net="ether:red")
    three = background(*ether(
        lab, "node-3", "sh", "-c", "echo is there; exec sleep 1000",
        net="ether:red,ether:blue"))
    three.wait_for("is there")
    ping = "ping -c 1 -W {} node-{}.{}; true"
    assert " 1 received" in said_by(lab, "node-1", ping.format(30, 3, "red"),
                                    net="ether:red")
    assert " 0 received" in said_by(lab, "node-1", ping.format(1, 2, "blue"))


def test_a_switch_is_a_group_of_the_fabric(lab, background):
    idle(lab, "node-2", background)
    assert "ff12:4554:ffff:626c:7565::" in lab.run("node-1", "saquery", "-g").stdout


def test_its_interface_looks_like_ethernet(lab):
    said = said_by(lab, "node-1", "cd /sys/class/net/blue && cat type addr_len "
                   "mtu carrier broadcast; ls pkey mode 2>&1; "
                   "readlink device").splitlines()
    assert said[:5] == ["1", "6", "2026", "1", "ff:ff:ff:ff:ff:ff"], said
    assert sum("No such file" in line for line in said) == 2
    assert re.match(r"\.\./\.\./\.\./[0-9a-f]{4}:", said[-1]), said


def test_a_cut_link_takes_the_carrier_away(lab, background):
    idle(lab, "node-2", background)
    lab.ibemu("link", "node-2/1", "down")
    until(lambda: not switch_port(lab, "node-2")["up"])
    lab.ibemu("link", "node-2/1", "up")
    until(lambda: switch_port(lab, "node-2")["up"])
    assert " 1 received" in said_by(lab, "node-1", "ping -c 1 -W 30 node-2.blue")


@pytest.mark.parametrize("name", ["", "ib0", "tap0", "a-b", "12345678901"])
def test_a_name_that_is_none_is_refused(lab, name):
    done = lab.account.run(*ether(lab, "node-1", "true", net=f"ether:{name}"),
                           check=False)
    assert done.returncode == 125
    assert f'"{name}" is no name of a switch' in done.stderr
