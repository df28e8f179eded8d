"""qperf, which sleeps on events and talks to a server that stays."""

import re
import socket
import time

import pytest

from harness import Fabric

TESTS = ["rc_bw", "rc_lat", "uc_bw", "ud_lat", "rc_rdma_read_bw",
         "rc_fetch_add_mr"]


@pytest.fixture(scope="module")
def server(module_account):
    """A fabric with a qperf that listens, and its port."""
    made = Fabric(module_account, "qperf", "single-switch:hosts=2",
                  sm="static")
    with socket.socket() as some:
        some.bind(("localhost", 0))
        port = some.getsockname()[1]
    made.start("node-1", "qperf", "-lp", str(port))
    yield made, port
    made.stop()


@pytest.mark.parametrize("test", TESTS)
def test_qperf_measures(server, test):
    fabric, port = server
    for _ in range(50):  # it does not say when it listens
        done = fabric.run("node-2", "qperf", "localhost", "-lp", str(port),
                          "-t", "1", "-uu", test, check=False)
        if "failed to connect" not in done.stdout + done.stderr:
            break
        time.sleep(0.1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{test}:")
    measured = dict(re.findall(r"^ +(\w+) += +([\d,.]+)", done.stdout, re.M))
    assert measured
    for name, value in measured.items():  # uc_bw: what was received, too
        assert float(value.replace(",", "")) > 0, name
