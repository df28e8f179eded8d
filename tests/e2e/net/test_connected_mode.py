"""IPoIB's connected mode: `--net=connected`."""

import json

import pytest

from harness import Background, Fabric
from net import ONE, ONE6, PAIR, on

LONG = 65520


@pytest.fixture(scope="module")
def lab(module_account):
    made = Fabric(module_account, "connected", PAIR, sm="builtin")
    yield made
    made.stop()


def connected(lab, host, *command):
    return ["--net=connected" if word == "--net" else word
            for word in [*on(lab, host), *command]]


@pytest.fixture(scope="module")
def server(lab):
    """node-1, in connected mode."""
    script = ("iperf3 -s > /dev/null & "
              "until ss -Hltn sport = 5201 | grep -q .; do :; done; "
              "echo serves; wait")
    made = Background(lab.account, connected(lab, "node-1", "sh", "-c", script))
    made.wait_for("serves")
    yield made
    made.stop()


def test_the_interface_says_that_it_is_connected(lab, server):
    said = lab.account.run(*connected(
        lab, "node-2", "sh", "-c", "cd /sys/class/net/ib0 && cat mode mtu &&"
        " cut -c1-2 address && ip link show ib0")).stdout
    assert said.startswith(f"connected\n{LONG}\n80\n") and f"mtu {LONG}" in said
    network, = (net for net in
                json.loads(lab.ibemu("status", "--json").stdout)["networks"]
                if net["node"] == "node-1")
    assert (network["mode"], network["mtu"]) == ("connected", LONG)


@pytest.mark.parametrize("how", [
    ["-s", "8", ONE], ["-s", str(LONG - 28), ONE], ["-s", str(LONG - 48), ONE6]],
    ids=["short", "long", "ipv6"])
def test_pings_of_one_packet_are_answered(lab, server, how):
    # One at a time: who has had an answer waits for the next no longer than for
    # the interval, which a busy machine exceeds.
    said = lab.account.run(*connected(
        lab, "node-2", "sh", "-c", 'ping "$@" && ping "$@"', "sh", "-M", "do",
        "-c", "1", "-W", "30", *how)).stdout
    assert said.count(" 1 received") == 2


def test_tcp_is_carried_in_long_packets(lab, server):
    megabytes = 50
    said = lab.account.run(*connected(
        lab, "node-2", "sh", "-c", f"iperf3 -n {megabytes}M -c {ONE} &&"
        " cd /sys/class/net/ib0/statistics && cat tx_bytes tx_packets")).stdout
    sent, packets = map(int, said.split()[-2:])
    # What waits in the socket when the client has sent all is not counted, and on
    # a busy machine TCP sends some again.
    assert sent > (megabytes << 20) / 2
    assert sent / packets > LONG / 4


def test_a_host_in_datagram_mode_is_sent_shorter_packets(lab, server):
    said = lab.account.run(*on(lab, "node-3"), "sh", "-c",
                           f"ping -c 1 -s 8 {ONE}; iperf3 -R -n 5M -c {ONE}").stdout
    assert " 1 received" in said and "iperf Done" in said
