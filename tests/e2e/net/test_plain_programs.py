"""ping, iperf3, curl: two hosts of one fabric, as if by ib0."""

import hashlib
import json

import pytest

from harness import Background, Fabric, started_by
from net import ONE, ONE6, PAIR, on, run, start

SIZE = 5_000_000
SERVE = """
iperf3 -s > /dev/null &
python3 -m http.server --bind 0.0.0.0 --directory "$0" 8000 > /dev/null 2>&1 &
until ss -Hltn sport = 5201 | grep -q . && ss -Hltn sport = 8000 | grep -q .
do :; done
echo serves
wait
"""


@pytest.fixture(scope="module")
def lab(module_account):
    """node-1 serves; whatever is on node-2 asks it."""
    made = Fabric(module_account, "net", PAIR, sm="builtin")
    files = module_account.home / "files"
    module_account.run("mkdir", "-p", files)
    server = Background(module_account,
                        [*on(made, "node-1"), "sh", "-c", SERVE, files])
    server.wait_for("serves")
    yield made
    server.stop()
    made.stop()


@pytest.fixture
def background(lab):
    """As elsewhere, by the account whose fabric it is."""
    yield from started_by(lab.account)


@pytest.mark.alone  # ping waits 0.2 s for the last answers
@pytest.mark.parametrize("how", [
    [ONE], ["-6", ONE6], ["node-1"], ["-s", "2000", ONE],
    ["-s", "20000", ONE], ["-6", "-s", "4000", ONE6]],
    ids=["ipv4", "ipv6", "name", "fragments", "many-fragments", "fragments6"])
def test_hosts_ping_each_other(lab, how):
    said = run(lab, "node-2", "ping", "-c", "3", "-i", "0.2", *how).stdout
    # Of many fragments the first few wait for the path, as on Linux.
    received = int(said.split(" received")[0].split()[-1])
    assert received >= (2 if "20000" in how else 3), said


def test_a_host_pings_itself_by_its_name(lab):
    said = run(lab, "node-2", "ping", "-c", "1", "node-2").stdout
    assert "(198.18.0.2)" in said and " 1 received" in said


def test_nobody_is_unreachable(lab):
    done = run(lab, "node-2", "ping", "-c", "1", "-W", "10", "198.18.7.7",
               check=False)
    assert done.returncode == 1
    assert "From 198.18.0.2 icmp_seq=1 Destination Host Unreachable" \
        in done.stdout


def test_there_is_no_other_network(lab):
    done = run(lab, "node-2", "ping", "-c", "1", "192.0.2.1", check=False)
    assert "Network is unreachable" in done.stderr


@pytest.mark.parametrize("how", [
    ["-n", "20M"], ["-n", "2M", "-u", "-b", "50M", "-l", "1400"],
    ["-6", "-n", "5M"]], ids=["tcp", "udp", "tcp6"])
def test_iperf3_moves_its_bytes(lab, how):
    to = ONE6 if "-6" in how else ONE
    told = json.loads(run(lab, "node-2", "iperf3", "--json", "-c", to,
                          *how).stdout)
    wanted = int(how[how.index("-n") + 1][:-1]) << 20
    if "-u" in how:
        assert told["end"]["sum"]["bytes"] >= wanted
        assert told["end"]["sum"]["lost_percent"] < 50
    else:
        assert told["end"]["sum_sent"]["bytes"] >= wanted
        # What is on its way when the client has sent all is not counted: on a
        # busy machine nearly all of it.
        assert told["end"]["sum_received"]["bytes"] > 0


def test_a_file_comes_by_http_as_it_is(lab):
    data = bytes(range(256)) * (SIZE // 256)
    path = lab.account.home / "files" / "five"
    path.write_bytes(data)
    path.chmod(0o644)
    copy = lab.account.home / "copy"
    run(lab, "node-2", "curl", "--silent", "--fail", "-o", copy,
        "http://node-1:8000/five")
    assert hashlib.sha256(copy.read_bytes()).digest() \
        == hashlib.sha256(data).digest()


def test_a_host_whose_programs_know_rdma_cm_alone_answers_pings(lab):
    server = lab.start("node-3", "stdbuf", "-oL", "rping", "-s", "-v", "-d")
    server.wait_for("rdma_listen")
    said = run(lab, "node-2", "ping", "-c", "1", "198.18.0.3").stdout
    assert " 1 received" in said
    server.stop()


def test_rdma_cm_and_the_network_share_an_interface(lab):
    server = lab.start("node-3", "stdbuf", "-oL", "rping", "-s", "-v", "-d")
    server.wait_for("rdma_listen")
    said = run(lab, "node-2", "sh", "-c", "rping -c -v -C 3 -a 198.18.0.3 &&"
               " ping -c 1 198.18.0.1").stdout
    assert said.count("ping data: rdma-ping-") == 3 and " 1 received" in said
    server.stop()


def test_who_listens_to_a_group_receives_what_is_sent_to_it(lab, background):
    listen = ("import socket; s = socket.socket(2, 2);"
              "s.bind(('', 7000)); s.setsockopt(0, 35,"
              "socket.inet_aton('239.1.2.3') + socket.inet_aton('198.18.0.2'));"
              "print('listens', flush=True);"
              "print(s.recv(100), flush=True)")
    send = ("import socket; s = socket.socket(2, 2); s.settimeout(.1)\n"
            "s.setsockopt(0, 32, socket.inet_aton('198.18.0.3'))\n"
            "for i in range(100):\n"
            " s.sendto(b'hello', ('239.1.2.3', 7000))\n"
            " try: s.recv(1)\n"
            " except OSError: pass\n")
    listener = start(lab, "node-2", "python3", "-c", listen,
                     background=background)
    listener.wait_for("listens")
    sender = start(lab, "node-3", "python3", "-c", send, background=background)
    listener.wait_for("b'hello'")
    sender.stop()


def test_port_counters_of_the_fabric_move(lab):
    def sent():
        text = lab.run("node-2", "perfquery", "-x").stdout
        return int(next(line for line in text.splitlines()
                        if line.startswith("PortXmitPkts")).rsplit(".")[-1])
    before = sent()
    run(lab, "node-2", "ping", "-q", "-c", "50", "-i", "0.01", ONE)
    assert sent() >= before + 50
