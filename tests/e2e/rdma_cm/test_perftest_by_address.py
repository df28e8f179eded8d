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


@pytest.mark.parametrize("program, options", [
    ("ib_send_bw", []), ("ib_write_bw", []), ("ib_read_bw", []),
    ("ib_send_lat", []), ("ib_send_bw", ["-c", "UD"])],
    ids=["send_bw", "write_bw", "read_bw", "send_lat", "datagrams"])
def test_it_measures_what_rdma_cm_connected(pair, program, options):
    command = [program, "-F", "-R", "-n", COUNT, "-s", 1024, *options]
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
    check(results(client.stdout), COUNT)
