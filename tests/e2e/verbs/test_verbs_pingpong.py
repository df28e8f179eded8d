"""Messages between two hosts of one fabric, by rdma-core's own examples."""

import re
import signal
import time

import pytest

PAIR = "single-switch:hosts=2"
LINES = ["stdbuf", "-oL"]  # tell at once what is printed


def player(fabric):
    """Runs one program on both hosts; what each of them printed."""
    def play(program, *options, prepare=lambda lab: None, server_ends=(0,)):
        lab = fabric(PAIR, sm="static")
        prepare(lab)
        server = lab.start("node-1", *LINES, program, *options)
        # It prints its address just before it listens.
        server.wait_for("local address")
        for _ in range(50):
            client = lab.account.run(*lab.on("node-2"), program, *options,
                                     "localhost", check=False)
            if "Couldn't connect" not in client.stderr:
                break
            time.sleep(0.1)
        assert client.returncode == 0, client.stdout + client.stderr
        assert server.wait() in server_ends, server.output
        return server.output, client.stdout, lab
    return play


@pytest.fixture
def pingpong(fabric):
    return player(fabric)


@pytest.fixture
def any_pingpong(any_fabric):
    return player(any_fabric)


POLL_AND_EVENTS = pytest.mark.parametrize("options", [[], ["-e"]],
                                          ids=["poll", "events"])


@pytest.mark.parametrize("program", ["ibv_rc_pingpong", "ibv_uc_pingpong",
                                     "ibv_ud_pingpong", "ibv_srq_pingpong"])
@POLL_AND_EVENTS
@pytest.mark.one_back_end
def test_a_pingpong_ends_with_valid_data(any_pingpong, program, options):
    valid = [] if program == "ibv_srq_pingpong" else ["-c"]
    for text in any_pingpong(program, "-n", "200", *valid, *options)[:2]:
        assert re.search(r"200 iters in", text)
        assert "invalid data" not in text


@pytest.mark.parametrize("program", ["ibv_rc_pingpong", "ibv_uc_pingpong",
                                     "ibv_ud_pingpong"])
@pytest.mark.one_back_end
def test_global_addresses_lead_to_the_same_place(any_pingpong, program):
    for text in any_pingpong(program, "-n", "50", "-c", "-g", "0")[:2]:
        assert re.search(r"local address.*GID fe80::21b:e001:0:", text)
        assert "50 iters in" in text


def arrive_whole(pingpong, size):
    for text in pingpong("ibv_rc_pingpong", "-n", "10", "-r", "20", "-c", "-s",
                         str(size), "-m", "2048")[:2]:
        assert "10 iters in" in text
        assert "invalid data" not in text


@pytest.mark.parametrize("size", [1, 1024, 1025, 65536])
@pytest.mark.one_back_end
def test_messages_of_every_size_arrive_whole(any_pingpong, size):
    arrive_whole(any_pingpong, size)


def test_messages_of_megabytes_arrive_whole(pingpong):
    arrive_whole(pingpong, 4 << 20)


@pytest.mark.both_accounts
def test_the_counters_of_the_links_know_of_it(pingpong):
    *_, lab = pingpong("ibv_rc_pingpong", "-n", "100", "-s", "4096", "-m",
                       "4096")
    counters = lab.run("node-1", "perfquery", "-x").stdout
    words = int(re.search(r"PortXmitData:\.*(\d+)", counters)[1])
    assert words * 4 > 100 * 4096
    assert words == int(lab.run(
        "node-1", "cat",
        "/sys/class/infiniband/ibemu0/ports/1/counters/port_xmit_data").stdout)


def test_lost_packets_are_sent_again(pingpong):
    """Of what reaches node-1.  The client ends first; if its last
    acknowledgement is lost, the server's last send fails, as on real wires."""
    def lose(lab):
        lab.ibemu("fault", "add", "link", "node-1/1", "loss", "5%", "dir", "rx")
    server, client, _ = pingpong("ibv_rc_pingpong", "-n", "30", "-c",
                                 prepare=lose, server_ends={0, 1})
    assert "30 iters in" in client
    assert "30 iters in" in server or "retry counter exceeded (12)" in server
    assert "invalid data" not in server + client


def test_who_is_killed_in_the_middle_leaves_the_others_alone(pingpong):
    """A kill -9 while messages of megabytes are under way, on both sides."""
    def kill(lab):
        endless = ["ibv_rc_pingpong", "-n", "100000000", "-s", "4194304"]
        server = lab.start("node-1", *LINES, *endless)
        server.wait_for("local address")
        client = lab.start("node-2", "sh", "-c",
                           f"until stdbuf -oL {' '.join(endless)} localhost; "
                           "do sleep 0.1; done")
        client.wait_for("remote address")
        server.stop(signal.SIGKILL)
        client.stop(signal.SIGKILL)
    for text in pingpong("ibv_rc_pingpong", "-n", "30", "-c", prepare=kill)[:2]:
        assert "30 iters in" in text
