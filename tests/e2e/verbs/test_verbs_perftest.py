"""perftest moves data between two hosts of one fabric, in all its ways."""

import re
import signal

import pytest

from harness import ROOT, Fabric, deep, first
from perftest import check, command_of, play, play_once


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "perftest", "single-switch:hosts=2",
                  sm="static")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def lab(module_account):
    """Its hosts' NodeInfo is a ConnectX-7's."""
    made = Fabric(module_account, "perftest-lab",
                  ROOT / "docs" / "examples" / "lab.yaml", sm="static")
    yield made
    made.stop()


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_atomic_lat",
                                     *deep("ib_write_lat", "ib_read_bw")])
def test_an_adapter_of_any_maker_is_measured(lab, program):
    client, _ = play(lab, program, "-n", "50",
                     hosts=("compute-001", "storage-1"))
    check(client, 50)


@pytest.mark.parametrize("program,connection", first(8, [
    (f"ib_{operation}_{what}", connection)
    for operation, connections in (("send", ["RC", "UD"]), ("write", ["RC"]),
                                   ("read", ["RC"]), ("send", ["UC"]),
                                   ("write", ["UC"]))
    for connection in connections
    for what in ("bw", "lat")]))
def test_each_kind_of_connection_is_measured(pair, program, connection):
    client, _ = play(pair, program, "-c", connection, "-n", "50", "-s", "2048")
    check(client, 50)
    assert [row[0] for row in client] == [2048]


@pytest.mark.parametrize("program", ["ib_atomic_bw", "ib_atomic_lat"])
@pytest.mark.parametrize("operation", ["FETCH_AND_ADD", "CMP_AND_SWAP"])
def test_atomics_are_measured(pair, program, operation):
    client, _ = play(pair, program, "-A", operation, "-n", "50")
    check(client, 50)


@pytest.mark.deep
@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw", "ib_read_bw"])
def test_messages_of_all_sizes_are_measured(pair, program):
    client, _ = play(pair, program, "-a", "-n", "5")
    check(client, 5)
    assert [row[0] for row in client] == [2 ** n for n in range(1, 24)]


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_send_lat", "ib_read_bw",
                                     "ib_atomic_bw"])
def test_who_sleeps_is_woken_by_events(pair, program):
    check(play(pair, program, "-e", "-n", "50")[0], 50)


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw", "ib_read_bw",
                                     "ib_atomic_bw"])
def test_eight_queue_pairs_send_in_both_directions(pair, program):
    client, server = play(pair, program, "-q", "8", "-b", "-n", "20")
    check(client, 8 * 20)
    check(server, 8 * 20)


@pytest.mark.parametrize("program", ["ib_send_bw", *deep("ib_write_bw")])
def test_what_runs_for_ever_ends_by_a_signal(pair, program):
    command = command_of(program, "-D", "1", "--run_infinitely")
    server = pair.start("node-1", *command)
    server.wait_for("Waiting for client")
    client = pair.start("node-2", "sh", "-c",
                        f"until {' '.join(command)} localhost; do sleep 0.1; "
                        "done")
    client.wait_for(r"^ 65536 +\d+ +[\d.]+ +[1-9]")
    server.stop(signal.SIGKILL)
    client.stop(signal.SIGKILL)
    check(play(pair, program, "-n", "20")[0], 20)


def test_what_its_adapters_counted_is_reported(pair):
    """It reads hw_counters/ itself."""
    names = ["local_ack_timeout_err", "duplicate_request"]
    pair.ibemu("fault", "add", "qp", "node-1/*", "loss", "opcode", "ack", "dir",
               "tx", "nth", "3-5")
    try:
        # A timeout of a second: on a busy machine an answer takes its time.
        told = play_once(pair, "ib_send_lat", "-n", "200", "-u", "18", "-W",
                         ",".join(f"hw_counters/{name}" for name in names),
                         hosts=("node-1", "node-2"), ends=(0,))
    finally:
        pair.ibemu("fault", "reset")
    client, server = ([int(re.search(rf"hw_counters/{name}=(\d+)", text)[1])
                       for name in names] for text in told)
    assert client == [3, 0]
    assert server == [0, 3]
