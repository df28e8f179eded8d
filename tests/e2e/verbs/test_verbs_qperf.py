"""qperf, which sleeps on events and talks to a server that stays."""

import re
import time

import pytest

from harness import Fabric
from perftest import free_port

TESTS = ["rc_bw", "rc_lat", "uc_bw", "ud_lat", "rc_rdma_read_bw",
         "rc_fetch_add_mr"]


@pytest.fixture(scope="module")
def server(module_account):
    """A fabric with a qperf that listens, and its port."""
    made = Fabric(module_account, "qperf", "single-switch:hosts=2",
                  sm="static")
    port = free_port()
    made.start("node-1", "qperf", "-lp", str(port))
    yield made, port
    made.stop()


def measure(server, test, seconds):
    """{what: how much} as qperf says it."""
    fabric, port = server
    for _ in range(50):  # it does not say when it listens
        done = fabric.run("node-2", "qperf", "localhost", "-lp", str(port),
                          "-t", str(seconds), "-uu", test, check=False)
        if "failed to connect" not in done.stdout + done.stderr:
            break
        time.sleep(0.1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{test}:")
    return {name: float(value.replace(",", "")) for name, value in
            re.findall(r"^ +(\w+) += +([\d,.]+)", done.stdout, re.M)}


# It posts 1024 atomics before it looks for the first, which on a busy machine
# takes more than a second: what it has not counted then is 0.
@pytest.mark.parametrize("test", TESTS)
def test_qperf_measures(server, test):
    for seconds in 1, 5, 25:
        measured = measure(server, test, seconds)
        assert measured
        if all(measured.values()):  # uc_bw: what was received, too
            return
    pytest.fail(f"qperf has measured nothing: {measured}")
