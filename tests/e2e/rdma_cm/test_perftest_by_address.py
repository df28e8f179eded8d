"""perftest makes its connections by rdma_cm (-R)."""

import signal

import pytest

from by_address import PAIR, SERVER, serve
from harness import Fabric
from perftest import check, results

pytestmark = pytest.mark.deep

COUNT = 50


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "perftest-cm", PAIR, sm="builtin")
    yield made
    made.stop()


# What each program takes; of atomics the size is given.
SIZE = ["-s", 1024]
PROGRAMS = {
    "send_bw": ["ib_send_bw", *SIZE],
    "write_bw": ["ib_write_bw", *SIZE],
    "read_bw": ["ib_read_bw", *SIZE],
    "atomic_bw": ["ib_atomic_bw"],
    "send_lat": ["ib_send_lat", *SIZE],
    "write_lat": ["ib_write_lat", *SIZE],
    "read_lat": ["ib_read_lat", *SIZE],
    "atomic_lat": ["ib_atomic_lat"],
    "datagrams_bw": ["ib_send_bw", "-c", "UD", *SIZE],
    "datagrams_lat": ["ib_send_lat", "-c", "UD", *SIZE],
    "both_ways": ["ib_write_bw", "-b", *SIZE],
}
UNRELIABLE = {
    "unreliable_send": ["ib_send_bw", "-c", "UC", *SIZE],
    "unreliable_write": ["ib_write_lat", "-c", "UC", *SIZE],
}


def measure(pair, *command):
    """The client's rows."""
    for _ in range(10):
        server = serve(pair, *command)
        client = pair.run("node-2", *command, SERVER, check=False)
        # The two connect twice, and the client does not wait until the server
        # listens for the second time.
        if "RDMA_CM_EVENT_REJECTED; error: 8." not in client.stderr:
            break
        server.stop(signal.SIGKILL)
    assert client.returncode == 0, client.stdout + client.stderr + server.output
    assert server.wait() == 0, server.output
    return results(client.stdout)


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_measures_what_rdma_cm_connected(pair, program):
    check(measure(pair, *PROGRAMS[program], "-F", "-R", "-n", COUNT), COUNT)


# By rdma_cm the two exchange what the queue pairs need, and connect these
# themselves.
@pytest.mark.parametrize("program", {**PROGRAMS, **UNRELIABLE})
def test_it_exchanges_its_parameters_by_rdma_cm(pair, program):
    command = {**PROGRAMS, **UNRELIABLE}[program]
    check(measure(pair, *command, "-F", "-z", "-n", COUNT), COUNT)


def test_several_queue_pairs_are_connected(pair):
    queue_pairs = 4
    check(measure(pair, "ib_write_bw", "-q", queue_pairs, *SIZE, "-F", "-R",
                  "-n", COUNT), queue_pairs * COUNT)
