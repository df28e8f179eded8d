"""Interfaces in further partitions: ib0.8001 beside ib0."""

import json
import re

import pytest

from by_address import status
from harness import Fabric, started_by, two_rails, until
from net import on

HOSTS = "single-switch:hosts=5"

# node-1 to node-4 are in partition 1, the last two as limited members; everybody
# is in the default one, whose key comes first.
PARTITIONS = """
Default=0x7fff, ipoib : ALL=full, ALL_SWITCHES=full ;
Blue=0x0001, ipoib : {1}=full, {2}=full, {3}=limited, {4}=limited ;
"""

BLUE = {f"node-{n}": f"100.65.0.{n}" for n in range(1, 5)}


def port_guid(lab, host):
    text = lab.run(host, "ibstat").stdout
    return re.search(r"Port GUID: (0x[0-9a-f]+)", text)[1]


@pytest.fixture(scope="module")
def lab(module_account):
    made = Fabric(module_account, "blue", HOSTS)
    conf = module_account.home / "blue.conf"
    conf.write_text(PARTITIONS.format(
        *[None, *[port_guid(made, f"node-{n}") for n in range(1, 5)]]))
    conf.chmod(0o644)
    made.start_opensm("node-5", "-P", conf)
    yield made
    made.stop()


@pytest.fixture
def rails(lab):
    """Two hosts with two ports each, which are in the partition."""
    made = Fabric(lab.account, "rails", two_rails(lab.account))
    guids = [guid for host in ("node-1", "node-2") for guid in re.findall(
        r"Port GUID: (0x[0-9a-f]+)", made.run(host, "ibstat").stdout)]
    conf = lab.account.home / "rails.conf"
    conf.write_text("Default=0x7fff, ipoib : ALL=full, ALL_SWITCHES=full ;\n"
                    "Blue=0x0001, ipoib : "
                    + ", ".join(f"{guid}=full" for guid in guids) + " ;\n")
    conf.chmod(0o644)
    made.start_opensm("node-2", "-P", conf)
    yield made
    made.stop()


@pytest.fixture
def background(lab):
    """As elsewhere, by the account whose fabric it is."""
    yield from started_by(lab.account)


def blue(lab, host, *command, net="--net=8001"):
    return [net if word == "--net" else word
            for word in [*on(lab, host), *command]]


def idle(lab, host, background):
    program = background(*blue(lab, host, "sh", "-c",
                               "echo is there; exec sleep 1000"))
    program.wait_for("is there")
    return program


def test_hosts_of_a_partition_reach_each_other_by_its_interface(
        lab, background):
    idle(lab, "node-2", background)
    idle(lab, "node-3", background)
    said = lab.account.run(*blue(
        lab, "node-1", "sh", "-c",
        "ip -br address show ib0.8001; ping -c 1 -W 30 node-2.8001;"
        " ping -c 1 -W 30 node-3.8001; ping -6 -c 1 -W 30 -I ib0.8001"
        " fd1b:e000:1:1::2")).stdout
    assert re.search(r"^ib0\.8001 .* 100\.65\.0\.1/16 fd1b:e000:1:1::1/64 ",
                     said, re.M), said
    assert said.count(" 1 received") == 3
    assert ("  0x8001  100.65.0.2/16, fd1b:e000:1:1::2/64 (answers)\n"
            in lab.ibemu("status", "node-2").stdout)
    listed = json.loads(lab.ibemu("status", "--json").stdout)["networks"]
    assert sorted((net["node"], net["name"], net["p_key"]) for net in listed) \
        == [(host, name, pkey) for host in ("node-2", "node-3")
            for name, pkey in (("ib0", "0xffff"), ("ib0.8001", "0x8001"))]


def test_an_interface_of_a_partition_looks_like_linuxs(lab):
    files = "pkey parent mode mtu type carrier"
    said = lab.account.run(*blue(
        lab, "node-1", "sh", "-c",
        f"cd /sys/class/net/ib0.8001 && cat {files}; "
        "cat ../ib0/parent; ls -d ../ib0*")).stdout.splitlines()
    assert said == ["0x8001", "ib0", "datagram", "2044", "32", "1",
                    "../ib0", "../ib0.8001"], said


def test_each_port_has_an_interface_in_the_partition(rails, background):
    idle(rails, "node-2", background)
    said = rails.account.run(*blue(
        rails, "node-1", "sh", "-c",
        "ip -br address show ib1.8001; ping -c 1 -W 30 100.97.0.2;"
        " ping -6 -c 1 -W 30 -I ib1.8001 fd1b:e000:1:2::2")).stdout
    assert re.search(r"^ib1\.8001 .* 100\.97\.0\.1/16 fd1b:e000:1:2::1/64 ",
                     said, re.M), said
    assert said.count(" 1 received") == 2


def test_limited_members_do_not_reach_each_other_by_it(lab, background):
    idle(lab, "node-3", background)
    idle(lab, "node-1", background)
    said = lab.account.run(*blue(
        lab, "node-4", "sh", "-c", f"ping -c 1 -W 30 {BLUE['node-1']};"
        f" ping -c 1 -W 30 {BLUE['node-3']}"), check=False).stdout
    assert said.count(" 1 received") == said.count(" 0 received") == 1
    assert said.index(" 1 received") < said.index("Host Unreachable")


def test_programs_connect_in_the_partition_of_the_address(lab, background):
    server = background(*blue(lab, "node-1", "rping", "-s", "-a",
                              BLUE["node-1"]))
    until(lambda: status(lab, "node-1")["listeners"])
    # By its other address, nobody listens: node-1's ib0 is not the interface.
    refused = lab.account.run(*blue(
        lab, "node-2", "rping", "-c", "-d", "-C", "1", "-a", "198.18.0.1"),
        check=False)
    assert refused.returncode != 0
    assert "RDMA_CM_EVENT_REJECTED" in refused.stdout + refused.stderr
    said = lab.account.run(*blue(
        lab, "node-2", "sh", "-c",
        f"rping -c -v -C 2 -a {BLUE['node-1']}")).stdout
    assert said.count("ping data: rdma-ping-") == 2
    server.stop()


def test_a_queue_pair_of_such_a_connection_has_the_partitions_key(
        lab, background):
    server = background(*blue(lab, "node-1", "rping", "-s", "-P"))
    until(lambda: status(lab, "node-1")["listeners"])
    client = background(*blue(lab, "node-2", "stdbuf", "-oL", "rping", "-c",
                              "-v", "-a", BLUE["node-1"]))
    client.wait_for("ping data: rdma-ping-3:")
    pairs = json.loads(lab.ibemu("qp", "ls", "node-2", "--json").stdout)
    pair, = [pair for pair in pairs if pair["pid"] is not None]
    shown = json.loads(lab.ibemu("qp", "show", f"node-2/{pair['qpn']}",
                                 "--json").stdout)
    index = shown["attributes"]["pkey_index"]
    assert lab.run("node-2", "cat", "/sys/class/infiniband/ibemu0/ports/1/"
                   f"pkeys/{index}").stdout == "0x8001\n"
    client.stop()
    server.stop()


@pytest.mark.parametrize("host, net, why", [
    ("node-5", "--net=8001",
     'port 1 of "node-5" is not in partition 8001: its P_Keys are ffff; the '
     "subnet manager gives others (of opensm, see partitions.conf)"),
    ("node-1", "--net=7fff",
     'port 1 of "node-1": its first interface is in partition ffff already, '
     "so --net without a P_Key gives it"),
    ("node-1", "--net=8001,blue",
     '"blue" is no P_Key of a partition: write four hexadecimal digits, as in '
     "8001"),
], ids=["not a member", "the first", "no P_Key"])
def test_a_partition_that_can_not_be_is_refused(lab, host, net, why):
    done = lab.account.run(*blue(lab, host, "true", net=net), check=False)
    assert done.returncode == 125
    assert done.stderr == f"ibemu run: {why}\n"
