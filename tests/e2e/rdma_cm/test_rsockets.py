"""Programs of TCP, whose sockets librspreload makes connections of rdma_cm."""

import re

import pytest

from by_address import PAIR, SERVER, meet

PRELOAD = ["env",
           "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"]
SENT = "/sys/class/infiniband/ibemu0/ports/1/counters/port_xmit_data"
BYTES = 4 << 20


@pytest.mark.deep
def test_iperf3_sends_over_the_fabric(fabric):
    lab = fabric(PAIR, sm="builtin")
    _, client = meet(lab, [*PRELOAD, "iperf3", "-s", "-1", "--forceflush", "-B",
                      SERVER],
                     [*PRELOAD, "iperf3", "-c", SERVER, "-n", BYTES],
                     ends=False)
    # Whole blocks, of which one may go out beyond what was asked for.
    assert re.search(r" 4\.\d\d MBytes .* receiver$", client, re.M), client
    assert int(lab.run("node-2", "cat", SENT).stdout) > BYTES // 4
