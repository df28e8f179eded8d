"""Connections by address for a whole machine: /dev/infiniband/rdma_cm."""

import os
import stat

import pytest

from accounts import make_account
from harness import Background, deep

NODE = "/dev/infiniband/rdma_cm"
# Of the machine's two adapters; both ends run on it.
SERVER, CLIENT = "198.18.0.1", "198.18.0.2"
LINES = ["stdbuf", "-oL"]
SERVE = [*LINES, "rping", "-s", "-v", "-d", "-a", SERVER]
ASK = [*LINES, "rping", "-c", "-v", "-a", SERVER, "-I", CLIENT]
COUNT = 3


@pytest.fixture
def pair(system):
    made = system("single-switch:hosts=2", ["node-1", "node-2"])
    # As our udev rules have it.
    for name in ("uverbs0", "uverbs1", "rdma_cm"):
        os.chmod(f"/dev/infiniband/{name}", 0o666)
    return made


@pytest.fixture(params=["plain", *deep("root")])
def user(request, scratch, programs):
    return make_account(request.param, scratch, programs)


def serve(user, *options):
    server = Background(user, [*SERVE, *options])
    server.wait_for("rdma_listen")
    return server


def test_the_node_has_the_number_that_sysfs_tells(pair):
    status = os.stat(NODE)
    assert stat.S_ISCHR(status.st_mode)
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}\n"
    assert pair.run("cat", "/sys/class/misc/rdma_cm/dev").stdout == number
    assert pair.run("cat", "/sys/class/misc/rdma_cm/abi_version").stdout == "4\n"


def test_two_adapters_of_the_machine_ping_each_other(pair, user):
    server = serve(user, "-C", COUNT)
    client = user.run(*ASK, "-C", COUNT).stdout
    assert client.count("ping data: rdma-ping-") == COUNT
    assert server.wait() == 0


def test_the_peer_of_a_host_that_is_taken_away_is_disconnected(pair):
    server = serve(pair.account)
    client = Background(pair.account, ASK)
    client.wait_for("ping data: rdma-ping-3:")
    pair.run("ibemu", "host", "node-2", "remove")
    server.wait()
    assert "server DISCONNECT EVENT" in server.output
    client.wait()
    assert "cma detected device removal" in client.output


def test_the_node_goes_with_the_daemon(pair):
    pair.daemon.stop()
    assert not os.path.exists(NODE)
