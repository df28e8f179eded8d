"""perftest makes its connections by rdma_cm (-R)."""

import pytest

from by_address import PAIR, SERVER, meet
from harness import Fabric
from perftest import check, results

# A client of perftest that comes before its server listens goes on with an id
# that it has destroyed, and crashes or waits; nothing tells yet who listens.
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
    _, client = meet(pair, command, [*command, SERVER])
    check(results(client), COUNT)
