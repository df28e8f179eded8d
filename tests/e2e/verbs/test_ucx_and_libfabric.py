"""What stands between most programs and verbs: UCX, libfabric."""

import pathlib
import re
import subprocess
import time

import pytest

from harness import deep, with_environment
from perftest import free_port, ucx_perftest

PAIR = "single-switch:hosts=2"
UCX = {"UCX_NET_DEVICES": "ibemu0:1"}
UCX_EXAMPLES = pathlib.Path("/usr/share/doc/libucx-dev/examples")


@pytest.fixture
def pair(fabric):
    return fabric(PAIR, sm="static")


def meet(lab, server, client, refused):
    """Runs a server, and a client as soon as the server listens; what the
    client says."""
    serving = lab.start("node-1", *server)
    for _ in range(100):
        done = lab.account.run(*lab.on("node-2"), *client, check=False)
        if not re.search(refused, done.stdout + done.stderr):
            break
        time.sleep(0.1)
    assert done.returncode == 0, done.stdout + done.stderr
    return serving, done.stdout


def test_ucx_finds_the_transports_of_the_adapter(account):
    told = account.run("ibemu", "run", "--", "ucx_info", "-d").stdout
    for transport in ("rc_verbs", "ud_verbs"):
        assert re.search(rf"Transport: {transport}\n#\s+Device: ibemu0:1\n",
                         told), told


# rc_v is rc_verbs, with ud_verbs to agree on connections.
@pytest.mark.parametrize("transport", ["rc_v", "ud_v"])
@pytest.mark.parametrize("test", ["tag_lat", "tag_bw"])
@pytest.mark.parametrize("size", [8, *deep(100000)])
def test_ucx_perftest_runs(pair, transport, test, size):
    count = 200
    before = pair.sent_bytes("node-2")
    program = [*with_environment(UCX_TLS=f"{transport},self", **UCX),
               *ucx_perftest(), "-p", free_port()]
    server, told = meet(
        pair, program, [*program, "127.0.0.1", "-t", test, "-s", size, "-n",
                        count, "-w", "10"],
        "Connection refused")
    assert re.search(rf"Final: +{count} ", told), told
    assert server.wait() == 0, server.output
    assert pair.sent_bytes("node-2") - before > count * size


# It arms its completion queues while there may be completions in them, which it
# has to be told of then.
@pytest.mark.parametrize("transport", ["rc_v", "ud_v"])
@pytest.mark.parametrize("test", ["tag_lat", *deep("tag_bw")])
def test_ucx_perftest_sleeps_until_something_arrives(pair, transport, test):
    count = 200
    program = ["timeout", "60",
               *with_environment(UCX_TLS=f"{transport},self", **UCX),
               *ucx_perftest(), "-p", free_port(), "-E", "sleep"]
    server, told = meet(
        pair, program, [*program, "127.0.0.1", "-t", test, "-s", "64", "-n",
                        count, "-w", "10"],
        "Connection refused")
    assert re.search(rf"Final: +{count} ", told), told
    assert server.wait() == 0, server.output


@pytest.fixture(scope="session")
def ucp_hello_world(scratch):
    source = UCX_EXAMPLES / "ucp_hello_world.c"
    if not source.exists():
        pytest.skip("there is no libucx-dev")
    program = scratch / "ucp_hello_world"
    if not program.exists():
        subprocess.run(["gcc", "-O1", "-o", program, source, "-lucp", "-lucs"],
                       check=True)
        program.chmod(0o755)
    return program


# ucp_worker_wait(), poll() of ucp_worker_get_efd()'s descriptor, and a loop.
@pytest.mark.parametrize("wakes", ["-w", *deep("-f", "-b")])
def test_ucx_hello_world_wakes_up_in_each_of_its_modes(
        pair, ucp_hello_world, wakes):
    size = 5000
    program = ["timeout", "60", *with_environment(UCX_TLS="rc_v,self", **UCX),
               ucp_hello_world, wakes, "-s", size, "-p", free_port()]
    server, told = meet(pair, program, [*program, "-n", "127.0.0.1"],
                        "Failed to client_connect")
    assert "UCP TEST SUCCESS" in told, told
    assert server.wait() == 0, server.output


def test_ucx_data_arrive_as_they_were_sent(pair):
    """io_demo -q compares them; TCP is there to meet by, and for nothing
    else."""
    count, size = 50, 60000
    hosts = ["node-1", "node-2"]
    before = [pair.sent_bytes(host) for host in hosts]
    program = [*with_environment(UCX_TLS="rc_v,tcp",
                                 UCX_NET_DEVICES="ibemu0:1,lo"),
               "io_demo", "-q", "-p", free_port(), "-d", f"{size}:{size}"]
    server, told = meet(pair, program,
                        [*program, "-i", count, "-o", "read,write",
                         "127.0.0.1"], "status 'CONN|refused|unreachable")
    assert "Client exit with status 'OK'" in told, told
    done = re.findall(r"total:(\d+) \| read .* write ", told)
    assert sum(map(int, done)) == count, told
    server.stop()
    moved = sum(pair.sent_bytes(host) for host in hosts) - sum(before)
    assert moved > count * size


def fi_pingpong(lab, endpoint, size=64, count=100, provider="verbs",
                **variables):
    """What server and client say, the client's exit status last."""
    program = ["timeout", "60", *with_environment(**variables), "fi_pingpong",
               "-p", provider, "-e", endpoint, "-c", "-I", count, "-S", size]
    port = free_port()
    server = lab.start("node-1", *program, "-B", port)
    # It prints nothing when it begins to listen.
    while server.process.poll() is None:
        client = lab.account.run(*lab.on("node-2"), *program, "-P", port,
                                 "127.0.0.1", check=False)
        if "Connection refused" not in client.stderr:
            break
        time.sleep(0.1)
    server.wait()
    return server.output, client.stdout + client.stderr, client.returncode


@pytest.mark.parametrize("size", [1, *deep(1024, 65536)])
def test_libfabric_sends_reliable_datagrams(pair, size):
    """Its own protocol (ofi_rxd) over datagrams of verbs, data compared.
    Unasked it takes ofi_rxm, which needs an address that leads somewhere."""
    server, client, status = fi_pingpong(pair, "rdm", size,
                                         provider="verbs;ofi_rxd")
    assert status == 0, client
    for told in server, client:
        assert re.search(r"^\w+ +100 +=100 ", told, re.M), told


# ofi_rxd posts and polls each datagram by itself, one command each, and hears
# of them after 128.  That takes longer than its patience, 1 ms at first
# (rxd_get_timeout() of prov/rxd/src/rxd_ep.c), so it sends many of them twice,
# and half of its time goes there.  Without retries it shows that none is lost.
def test_libfabric_needs_no_retries_for_a_burst_of_datagrams(pair):
    size, count = 1 << 20, 10
    before = pair.sent_bytes("node-2")
    server, client, status = fi_pingpong(pair, "rdm", size, count,
                                         provider="verbs;ofi_rxd",
                                         FI_OFI_RXD_RETRY=0)
    assert status == 0, client
    for told in server, client:
        assert re.search(rf"^\w+ +{count} +={count} ", told, re.M), told
    # Nothing was sent twice: the messages, and less than a tenth around them.
    assert 1 < (pair.sent_bytes("node-2") - before) / (size * count) < 1.1


def test_libfabric_sends_datagrams_of_verbs(pair):
    """It opens rdma_cm for them, too (vrb_eq_open() of libfabric 1.17)."""
    server, client, status = fi_pingpong(pair, "dgram")
    assert status == 0, client
    for told in server, client:
        assert re.search(r"^\w+ +100 +=100 ", told, re.M), told
