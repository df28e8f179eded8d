"""rping: two hosts connect by address, write, read and disconnect."""

import re
import signal

import pytest

from by_address import CLIENT, LINES, PAIR, SERVER, meet, serve
from harness import Fabric

COUNT = 5
SERVE = ["rping", "-s", "-v", "-C", COUNT]
ASK = ["rping", "-c", "-v", "-C", COUNT]
IPV6 = "fd1b:e000:0:1::1"


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "rping", PAIR, sm="builtin")
    yield made
    made.stop()


def check(told):
    server, client = told
    pings = re.findall(r"^ping data: rdma-ping-(\d+): ", client, re.M)
    served = re.findall(r"^server ping data: rdma-ping-(\d+): ", server, re.M)
    assert pings == served == [str(n) for n in range(COUNT)]


@pytest.mark.both_accounts
def test_two_hosts_ping_by_address(fabric):
    lab = fabric(PAIR, sm="builtin")
    check(meet(lab, SERVE, [*ASK, "-a", SERVER]))
    # ib_cm counts them.
    for host, message in (("node-1", "req"), ("node-2", "rep"),
                          ("node-1", "rtu")):
        path = f"/sys/class/infiniband/ibemu0/ports/1/cm_rx_msgs/{message}"
        assert int(lab.run(host, "cat", path).stdout) > 0
    assert lab.run("node-1", "cat",
                   "/sys/class/misc/rdma_cm/abi_version").stdout == "4\n"


@pytest.mark.parametrize("serve, ask", [
    ([], ["-a", "node-1"]),
    (["-a", "::0"], ["-a", IPV6]),
    (["-a", SERVER], ["-a", SERVER, "-I", CLIENT]),
    (["-q"], ["-q", "-a", SERVER]),
    (["-V"], ["-V", "-S", 60000, "-a", SERVER]),
], ids=["name", "ipv6", "source", "own-queue-pair", "validated"])
def test_each_way_to_say_where_to_leads_there(pair, serve, ask):
    if "-S" in ask:
        serve = [*serve, "-S", ask[ask.index("-S") + 1]]
    check(meet(pair, [*SERVE, *serve], [*ASK, *ask]))


def test_a_server_that_stays_serves_one_client_after_another(pair):
    server = serve(pair, "rping", "-s", "-v", "-P")
    for _ in range(2):
        client = pair.run("node-2", *ASK, "-a", SERVER).stdout
        assert client.count("ping data: rdma-ping-") == COUNT
    server.stop()


def test_where_nobody_listens_a_client_is_rejected(pair):
    # Of another port; a host that never opened rdma_cm has no address yet.
    server = serve(pair, "rping", "-s", "-v")
    client = pair.run("node-2", *ASK, "-a", SERVER, "-p", 9, check=False)
    assert "cma event RDMA_CM_EVENT_REJECTED, error 8" in client.stderr
    assert client.returncode != 0
    server.stop()


def test_an_address_of_nobody_is_an_error_of_the_address(pair):
    client = pair.run("node-2", *ASK, "-a", "198.18.9.9", check=False)
    assert "cma event RDMA_CM_EVENT_ADDR_ERROR, error -110" in client.stderr
    assert client.returncode != 0


def test_a_client_is_disconnected_when_its_server_is_killed(pair):
    server = serve(pair, "rping", "-s", "-v")
    client = pair.start("node-2", *LINES, "rping", "-c", "-v", "-a", SERVER)
    client.wait_for("ping data: rdma-ping-3:")
    server.stop(signal.SIGKILL)
    client.wait()
    assert "client DISCONNECT EVENT" in client.output
    check(meet(pair, SERVE, [*ASK, "-a", SERVER]))  # its port is free again
