"""Partitions that opensm makes, with full and limited members, and switches
that enforce them."""

import pytest

import perftest
from harness import deep

TWO_SWITCHES = "fat-tree:radix=4,levels=2"

# What opensm's manual calls a partition of a storage server: only the node of
# the subnet manager is a full member.
ALL_LIMITED = "Default=0x7fff : ALL=limited, SELF=full, ALL_SWITCHES=full ;\n"


@pytest.fixture(params=["off", "both", *deep("in", "out")])
def partitioned(request, fabric):
    """A subnet on which node-1 is the one full member; opensm's -Z says where
    switches enforce that."""
    subnet = fabric(TWO_SWITCHES)
    conf = subnet.account.home / "partitions.conf"
    conf.write_text(ALL_LIMITED)
    conf.chmod(0o644)
    subnet.start_opensm("node-1", "-P", conf, "-Z", request.param)
    return subnet


def test_limited_members_ask_the_subnet_manager(partitioned):
    text = partitioned.run("node-2", "saquery", "NR").stdout
    # opensm tells a member of those alone to whom it may talk.
    assert "node-1" in text and "node-4" not in text


def test_limited_members_talk_to_full_ones_but_not_to_each_other(partitioned):
    for hosts in (("node-1", "node-2"), ("node-4", "node-1")):
        client, _ = perftest.play(partitioned, "ib_send_lat", "-n", "20",
                                  hosts=hosts)
        perftest.check(client, 20)

    command = perftest.command_of("ib_send_lat", "-n", "20", "-u", "8")
    server = partitioned.start("node-2", *command)
    server.wait_for("Waiting for client")
    client = partitioned.start("node-4", *command, "localhost")
    client.wait_for("Failed status 12")  # IBV_WC_RETRY_EXC_ERR
    assert client.wait() != 0
    server.stop()
