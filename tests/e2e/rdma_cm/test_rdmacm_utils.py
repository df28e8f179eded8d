"""The other programs of rdmacm-utils: connections, datagrams, groups, streams."""

import json
import re

import pytest

from by_address import CLIENT, LINES, PAIR, SERVER, meet, serve, status
from harness import Fabric, until


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "rdmacm-utils", PAIR, sm="builtin")
    yield made
    made.stop()


def gid_of(lab, host):
    return lab.run(host, "cat",
                   "/sys/class/infiniband/ibemu0/ports/1/gids/0").stdout.strip()


def check(told):
    for text in told:
        assert "data transfers complete" in text
        assert "return status 0" in text


@pytest.mark.parametrize("options", [
    ["-c", "10", "-C", "10"], ["-P", "ib"], ["-m"]],
    ids=["ten", "ib", "migrated"])
def test_ucmatose_connects_and_sends(pair, options):
    check(meet(pair, ["ucmatose", *options],
               ["ucmatose", "-s", SERVER, *options]))


def test_ucmatose_connects_by_gid(pair):
    gid = gid_of(pair, "node-1")
    options = ["-f", "gid", "-P", "ib"]
    check(meet(pair, ["ucmatose", *options, "-b", gid],
               ["ucmatose", *options, "-s", gid]))


@pytest.mark.parametrize("options", [[], ["-p", "2"]], ids=["udp", "ipoib"])
def test_udaddy_resolves_datagrams(pair, options):
    check(meet(pair, ["udaddy", *options], ["udaddy", "-s", SERVER, *options]))


@pytest.mark.parametrize("options, sends, dgid", [
    ([], [], "ff12:4001:ffff::1:101"), ([], ["-o"], "ff12:4001:ffff::1:101"),
    (["-p", "2"], [], "ff12:401b:ffff::1:101")],
    ids=["udp", "send-only", "ipoib"])
def test_mckey_joins_and_sends(pair, options, sends, dgid):
    group = ["mckey", "-m", "224.1.1.1", *options]
    server = pair.start("node-1", *LINES, *group, "-b", SERVER)
    server.wait_for(f"joined dgid: {dgid} ")
    client = pair.run("node-2", *group, *sends, "-s", "-b", CLIENT).stdout
    assert f"joined dgid: {dgid} " in client
    assert server.wait() == 0
    check([server.output, client])


def test_rdma_client_talks_to_rdma_server(pair):
    server, client = meet(pair, ["rdma_server"], ["rdma_client", "-s", SERVER])
    assert "rdma_server: end 0" in server
    assert "rdma_client: end 0" in client


class WithNetworks(Fabric):
    """Its programs have TCP/IP by the same addresses."""

    def on(self, *hosts):
        return [*super().on(*hosts)[:-1], "--net", "--"]


@pytest.fixture
def pair_with_networks(account):
    made = WithNetworks(account, "cmtime", PAIR, sm="builtin")
    yield made
    made.stop()


def check_times(told):
    for step in "create id", "resolve addr", "connect", "disconnect", "destroy":
        assert re.search(rf"^(?:cm )?{step}(?: id)? *:? +[\d.]+ ", told,
                         re.M), told


def test_cmtime_sets_up_a_hundred_connections_at_once(pair_with_networks):
    """That of rdma-core 56 keeps its two ends in step by TCP."""
    _, client = meet(pair_with_networks, ["cmtime"],
                     ["cmtime", "-s", SERVER, "-c", 100], ends=False)
    check_times(client)


@pytest.mark.deep
def test_a_thousand_connections_come_and_go_though_packets_are_lost(
        pair_with_networks):
    lab = pair_with_networks
    server = serve(lab, "cmtime")
    # Those of TCP, if this cmtime has any, come again as well.
    lab.ibemu("fault", "add", "link", "node-2/1", "loss", "5%", "seed", "7")
    check_times(lab.run("node-2", "cmtime", "-s", SERVER, "-c", 1000).stdout)
    fault, = lab.faults()
    assert fault["tx"]["lost"] > 100 and fault["rx"]["lost"] > 100
    # The server may still wait for answers of a client that has ended.
    until(lambda: not status(lab, "node-1")["connections"])
    server.stop()
    left = json.loads(lab.ibemu("qp", "ls", "--json").stdout)
    assert [qp["type"] for qp in left if qp["pid"]] == []


@pytest.mark.parametrize("program", ["rstream", "riostream"])
def test_streams_are_measured(pair, program):
    options = ["-I", "10", "-C", "2", "-S", "4096", "-T", "v"]
    for text in meet(pair, [program, *options],
                     [program, "-s", SERVER, *options]):
        assert re.search(r"^custom +4k +2 +10 +160k +[\d.]+s ", text, re.M)
        assert "data" not in text  # it would say where they differ


def test_rcopy_copies_a_file(pair):
    home = pair.account.home
    source, copy = home / "source", home / "copy"
    source.write_bytes(bytes(n * n % 251 for n in range(100_000)))
    source.chmod(0o644)
    meet(pair, ["rcopy"], ["rcopy", source, f"{SERVER}:{copy}"], ends=False)
    assert copy.read_bytes() == source.read_bytes()
