"""perftest moves data between two hosts of one fabric, in all its ways."""

import re
import signal
import socket
import time

import pytest

from harness import Fabric

LINES = ["stdbuf", "-oL"]  # tell at once what is printed


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "perftest", "single-switch:hosts=2",
                  sm="static")
    yield made
    made.stop()


def free_port():
    with socket.socket() as some:
        some.bind(("localhost", 0))
        return some.getsockname()[1]


@pytest.fixture
def perftest(pair):
    """Runs one program on both hosts; what each of them measured."""
    def play(program, *options):
        # -F: no word about the processor's frequency.
        command = [*LINES, program, "-F", "-p", str(free_port()), *options]
        server = pair.start("node-1", *command)
        server.wait_for("Waiting for client")
        for _ in range(50):  # it listens just after that
            client = pair.run("node-2", *command, "localhost", check=False)
            if "Couldn't connect" not in client.stderr + client.stdout:
                break
            time.sleep(0.1)
        assert client.returncode == 0, client.stdout + client.stderr
        assert server.wait() == 0, server.output
        return results(client.stdout), results(server.output)
    return play


def results(text):
    """The rows of numbers: size, iterations, what was measured."""
    return [[float(word) for word in row.split()]
            for row in re.findall(r"^ (\d+ +\d+ +[\d. \t]+)$", text, re.M)]


def check(rows, iterations):
    assert rows
    for size, count, *measured in rows:
        assert size >= 2 and count == iterations
        assert max(measured) > 0


@pytest.mark.parametrize("program,connection", [
    (f"ib_{operation}_{what}", connection)
    for operation, connections in (("send", ["RC", "UC", "UD"]),
                                   ("write", ["RC", "UC"]),
                                   ("read", ["RC"]))
    for connection in connections
    for what in ("bw", "lat")])
def test_each_kind_of_connection_is_measured(perftest, program, connection):
    client, _ = perftest(program, "-c", connection, "-n", "50", "-s", "2048")
    check(client, 50)
    assert [row[0] for row in client] == [2048]


@pytest.mark.parametrize("program", ["ib_atomic_bw", "ib_atomic_lat"])
@pytest.mark.parametrize("operation", ["FETCH_AND_ADD", "CMP_AND_SWAP"])
def test_atomics_are_measured(perftest, program, operation):
    client, _ = perftest(program, "-A", operation, "-n", "50")
    check(client, 50)


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw",
                                     "ib_read_bw"])
def test_messages_of_all_sizes_are_measured(perftest, program):
    client, _ = perftest(program, "-a", "-n", "5")
    check(client, 5)
    assert [row[0] for row in client] == [2 ** n for n in range(1, 24)]


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_send_lat", "ib_read_bw",
                                     "ib_atomic_bw"])
def test_who_sleeps_is_woken_by_events(perftest, program):
    check(perftest(program, "-e", "-n", "50")[0], 50)


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw", "ib_read_bw",
                                     "ib_atomic_bw"])
def test_eight_queue_pairs_send_in_both_directions(perftest, program):
    client, server = perftest(program, "-q", "8", "-b", "-n", "20")
    check(client, 8 * 20)
    check(server, 8 * 20)


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw"])
def test_what_runs_for_ever_ends_by_a_signal(pair, perftest, program):
    command = [*LINES, program, "-F", "-p", str(free_port()), "-D", "1",
               "--run_infinitely"]
    server = pair.start("node-1", *command)
    server.wait_for("Waiting for client")
    client = pair.start("node-2", "sh", "-c",
                        f"until {' '.join(command)} localhost; do sleep 0.1; "
                        "done")
    client.wait_for(r"^ 65536 +\d+ +[\d.]+ +[1-9]")
    server.stop(signal.SIGKILL)
    client.stop(signal.SIGKILL)
    check(perftest(program, "-n", "20")[0], 20)
