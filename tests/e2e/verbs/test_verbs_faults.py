"""Faults of queue pairs and of calls of verbs, and what programs make of
them."""

import json
import re
import signal
import struct

import pytest

import perftest
from harness import ROOT, Background, deep, until

SCRIPT = (ROOT / "tests/e2e/verbs/two_ends.py").read_text()
SUCCESS, ACCESS, FLUSHED, RETRIES, RNR_RETRIES = 0, 10, 5, 12, 13
ERROR_STATE = 6
LINES = ["stdbuf", "-oL"]  # tell at once what is printed


@pytest.fixture
def lab(fabric):
    return fabric("single-switch:hosts=2", sm="static", options=["--seed=1"])


def two_ends(operation, count):
    return ["/usr/bin/python3", "-B", "-c", SCRIPT, operation, str(count)]


def play(lab, operation, count=10, options=()):
    """What became of the requests of node-1 (a) and node-2 (b)."""
    *run, dashes = lab.on("node-1", "node-2")
    done = lab.account.run(*run, *options, dashes, *two_ends(operation, count))
    return json.loads(done.stdout)


def ping_pong(lab, *options):
    """A server at node-1 and a client at node-2; what the client says."""
    command = ["ibv_rc_pingpong", *options]
    server = lab.start("node-1", *LINES, *command)
    server.wait_for("local address")
    client = lab.run("node-2", *command, "localhost").stdout
    assert server.wait() == 0, server.output
    return client


def add(lab, *words):
    lab.ibemu("fault", "add", *" ".join(words).split())


def statuses(completions):
    return [status for _, status, _ in completions]


def test_after_a_lost_acknowledgement_the_data_has_arrived_once(lab):
    add(lab, "qp node-2/* loss opcode rc-acknowledge nth 3 dir tx")
    told = play(lab, "send")
    assert told["a"] == told["b"] == [[n, SUCCESS, 0] for n in range(10)]
    fault, = lab.faults()
    assert fault["tx"]["lost"] == 1 and fault["tx"]["packets"] >= 11
    assert lab.hw_counter("node-2", "duplicate_request") >= 1
    assert lab.hw_counter("node-1", "local_ack_timeout_err") >= 1
    assert lab.hw_counter("node-1", "packet_seq_err") == 0


def test_a_read_whose_response_never_comes_ends_with_an_error(lab):
    add(lab, "qp node-1/* loss opcode read-response dir rx psn 2")
    told = play(lab, "read")
    assert told["a"][2:] == [[2, RETRIES, 0x81]]  # as a ConnectX says it
    assert statuses(told["a"][:2]) == [SUCCESS, SUCCESS]
    assert told["states"][0] == ERROR_STATE


def test_a_late_read_response_is_no_error(lab):
    add(lab, "qp node-1/* delay 2ms opcode read-response dir rx")
    assert statuses(play(lab, "read")["a"]) == [SUCCESS] * 10
    assert lab.faults()[0]["rx"]["delayed"] >= 10


def test_a_receiver_that_is_not_ready_exhausts_retries(lab):
    add(lab, "qp node-2/* rnr nth 3-")
    told = play(lab, "send")
    assert told["a"][2:] == [[2, RNR_RETRIES, 0x87]]
    assert statuses(told["a"][:2]) == [SUCCESS, SUCCESS]
    assert lab.faults()[0]["acts"]["acted"] == 3  # the first, and two retries
    assert lab.hw_counter("node-1", "rnr_nak_retry_err") == 3
    assert lab.hw_counter("node-2", "out_of_buffer") == 3


@pytest.mark.parametrize("nth, count", [("2-4", 3), ("2", 1)])
def test_a_receiver_that_is_not_ready_for_a_while_makes_a_program_wait(
        lab, nth, count):
    add(lab, f"qp node-1/* rnr nth {nth}")
    ping_pong(lab, "-n", "20")
    assert lab.hw_counter("node-2", "rnr_nak_retry_err") == count
    assert re.search(
        r"(?m)^node-2 queue pair 0x\w+ sent packets again.*: node-1 queue pair "
        r"0x\w+ had no receive request: fault-1 keeps its receive requests back, "
        "and rnr_retry is 7: that is without end$", lab.ibemu("why", "node-2").stdout)


def test_a_datagram_that_found_no_receive_request_is_told_with_its_fault(lab):
    add(lab, "qp node-2/* rnr nth 3")
    play(lab, "datagram")
    assert re.search(r"(?m)^node-2 queue pair 0x\w+ lost a message: fault-1 keeps "
                     "its receive requests back$",
                     lab.ibemu("why", "node-2").stdout)


def test_a_completion_that_never_comes_is_missed(lab):
    add(lab, "qp node-2/* completion loss dir rx nth 3")
    told = play(lab, "send")
    assert [number for number, _, _ in told["b"]] == [0, 1, *range(3, 10)]
    assert statuses(told["a"]) == [SUCCESS] * 10


def test_a_completion_that_comes_late_holds_a_program_up(lab):
    add(lab, "qp node-2/* completion delay 200ms dir rx nth 3")
    client = ping_pong(lab, "-n", "10", "-r", "1")
    seconds, = re.findall(r"^10 iters in ([\d.]+) seconds", client, re.M)
    assert float(seconds) >= 0.2
    assert lab.ibemu("why", "node-2").stdout.endswith(
        "\nfault-1 acted once: completion delay 200ms nth 3\n")


def test_a_completion_has_the_status_and_the_vendors_error_asked_for(lab):
    add(lab, "qp node-1/* completion remote-access-error vendor-err 0x8a nth 4 "
        "dir tx")
    told = play(lab, "write")
    assert told["a"][:3] == [[n, SUCCESS, 0] for n in range(3)]
    assert told["a"][3:] == [[3, ACCESS, 0x8a]]
    assert told["states"][0] == ERROR_STATE


def test_the_second_registration_of_memory_fails_with_the_error_asked_for(lab):
    add(lab, "host node-1 reg-mr nth 2 errno ENOMEM")
    add(lab, "host node-1 reg-mr nth 3 errno EINVAL")
    add(lab, "host node-1 reg-mr nth 4 errno EAGAIN")
    assert play(lab, "regions", 5)["errno"] == [0, 12, 22, 11, 0]


def test_a_fault_of_a_process_spares_the_next_on_its_host(lab):
    def fail(fault, operation, count):
        script = f'ibemu fault add --fabric={lab.socket} process $$ {fault} >&2'
        return json.loads(lab.account.run(
            *lab.on("node-1", "node-2"), "sh", "-c", script + ' && exec "$@"',
            "sh", *two_ends(operation, count)).stdout)

    assert fail("reg-mr nth 2 errno EAGAIN", "regions", 3)["errno"] == [0, 11, 0]
    assert play(lab, "regions", 3)["errno"] == [0, 0, 0]
    told = fail("loss opcode read-response dir rx psn 2", "read", 10)
    assert told["a"][2:] == [[2, RETRIES, 0x81]]
    assert statuses(play(lab, "read")["a"]) == [SUCCESS] * 10
    calls, packets = lab.faults()
    assert calls["acts"] == {"seen": 3, "acted": 1}
    assert packets["rx"]["lost"] >= 1 and packets["node"] is None
    told = lab.ibemu("why", str(calls["pid"])).stdout
    assert "REG_MR was refused with EAGAIN: fault-1 refuses it\n" in told
    assert "\nfault-1 acted once: reg-mr nth 2 errno EAGAIN\n" in told
    told = lab.ibemu("why", str(packets["pid"])).stdout
    assert re.match(r"node-1 .* ended with RETRY_EXC_ERR: .*: the answers of .* "
                    r"dropped at node-1/1: lost by fault-2 \(\d+ times\)\n", told)
    assert re.search(r"\nfault-2 acted \d+ times: loss 100% opcode read-response",
                     told)


def test_a_registration_takes_as_long_as_one_says(lab):
    add(lab, "host node-1 reg-mr delay 300ms nth 2")
    told = play(lab, "regions", 3)
    assert told["errno"] == [0, 0, 0]
    assert told["seconds"][1] >= 0.3
    fault, = lab.faults()
    assert fault["acts"] == {"seen": 3, "acted": 1}
    assert fault["what"] == "reg-mr nth 2 delay 300ms"


def test_a_program_that_waits_for_an_event_that_never_comes_hangs(lab):
    """And the list of completion queues shows that a completion is there."""
    add(lab, "host node-2 completion-event loss nth 4-")
    options = ["ibv_rc_pingpong", "-e", "-n", "100"]
    server = lab.start("node-1", *LINES, *options)
    server.wait_for("local address")
    client = lab.start("node-2", *LINES, *options, "localhost")
    client.wait_for("remote address")

    def waiting():
        queue, = json.loads(lab.ibemu("cq", "ls", "node-2", "--json").stdout)
        return queue["channel"] and queue["waiting"] > 0
    until(waiting)
    fault, = lab.faults()
    assert fault["acts"]["acted"] >= 1
    assert client.process.poll() is None


def test_late_completion_events_slow_a_program_and_break_nothing(lab):
    add(lab, "host node-2 completion-event delay 5ms")
    client = ping_pong(lab, "-e", "-c", "-n", "20")
    assert "20 iters in" in client and "invalid data" not in client
    fault, = lab.faults()
    assert fault["acts"]["acted"] >= 10


def test_asyncwatch_does_not_hear_of_an_event_that_is_lost(lab):
    watch = lab.start("node-1", *LINES, "ibv_asyncwatch")
    watch.wait_for("async event FD")
    add(lab, "host node-1 async-event loss nth 1")
    add(lab, "host node-1 event sm-change")
    add(lab, "host node-1 event client-reregister")
    watch.wait_for("IBV_EVENT_CLIENT_REREGISTER")
    assert "SM_CHANGE" not in watch.output


def test_asyncwatch_hears_of_a_late_event_after_the_next(lab):
    watch = lab.start("node-1", *LINES, "ibv_asyncwatch")
    watch.wait_for("async event FD")
    add(lab, "host node-1 async-event delay 3s nth 1")
    add(lab, "host node-1 event sm-change")
    add(lab, "host node-1 event client-reregister")
    watch.wait_for("SM_CHANGE")
    assert re.findall("IBV_EVENT_(\\w+)", watch.output) == [
        "CLIENT_REREGISTER", "SM_CHANGE"]


def start_waiting(lab, operation):
    """A program, and the number of a queue pair that is in its way."""
    program = Background(lab.account, [*lab.on("node-1", "node-2"),
                                       *two_ends(operation, 1)])
    return program, program.wait_for(r"ready (0x\w+)")[1]


def test_a_queue_pair_enters_the_error_state_and_its_program_hears_of_it(lab):
    held, number = start_waiting(lab, "hold")
    listed = json.loads(lab.ibemu("qp", "ls", "node-2", "--json").stdout)
    assert [qp["qpn"] for qp in listed] == [int(number, 16)]
    assert listed[0]["state"] == "RTS"
    assert listed[0]["peer"]["node"] == "node-1"
    assert listed[0]["receive"]["posted"] == 1
    add(lab, f"qp node-2/{number} error")
    told = json.loads(held.wait_for(r"^\{.*")[0])
    assert told == {"b": [[1, FLUSHED, 0xf9]], "event": 1, "state": ERROR_STATE}
    assert held.wait() == 0
    assert lab.faults() == []
    assert without_numbers(lab.ibemu("why", "node-2").stdout).startswith(
        "node-2 queue pair Q: work request 1 (RECV) ended with WR_FLUSH_ERR: "
        "it went from RTS to ERR, by fault-1\n")


def test_an_opcode_that_the_transport_does_not_have_is_refused_at_once(lab):
    held, number = start_waiting(lab, "hold")
    refused = lab.ibemu("fault", "add", "qp", f"node-2/{number}", "loss",
                        "opcode", "ud-send-only", check=False)
    assert (refused.returncode, refused.stderr) == (
        1, f'ibemu fault: opcode ud-send-only: queue pair {number} of "node-2" is '
        "of type RC, which has no such packets\n")
    assert lab.faults() == []
    add(lab, f"qp node-2/{number} error")
    assert held.wait() == 0


def test_all_queue_pairs_of_a_process_enter_the_error_state(lab):
    held, _ = start_waiting(lab, "hold")
    pid, = {qp["pid"] for qp in json.loads(
        lab.ibemu("qp", "ls", "--json").stdout) if qp["pid"]}
    add(lab, f"process {pid} error")
    assert json.loads(held.wait_for(r"^\{.*")[0])["state"] == ERROR_STATE
    assert held.wait() == 0
    told = without_numbers(lab.ibemu("why", str(pid)).stdout)
    for sentence in ("node-1 queue pair Q went from RTS to ERR, by fault-1",
                     "node-2 queue pair Q: work request 1 (RECV) ended with "
                     "WR_FLUSH_ERR: it went from RTS to ERR, by fault-1"):
        assert sentence in told.splitlines(), told


def test_a_send_queue_in_error_is_mended_by_its_program(lab):
    recovers, number = start_waiting(lab, "recover")
    add(lab, f"qp node-1/{number} sqe")
    told = json.loads(recovers.wait_for(r"^\{.*")[0])
    assert told == {"a": [[0, FLUSHED, 0xf9], [1, SUCCESS, 0]],
                    "b": [[1, SUCCESS, 0]]}
    assert recovers.wait() == 0
    assert without_numbers(lab.ibemu("why", "node-1").stdout).endswith(
        "\nnode-1 queue pair Q went from RTS to SQE, by fault-1\n")


EVENTS = [("port-error", r"PORT_ERR \(10\), port 1"),
          ("port-active", r"PORT_ACTIVE \(9\), port 1"),
          ("lid-change", r"LID_CHANGE \(11\), port 1"),
          ("gid-change", r"GID_CHANGE \(18\), port 1"),
          ("pkey-change", r"PKEY_CHANGE \(12\), port 1"),
          ("sm-change", r"SM_CHANGE \(13\), port 1"),
          ("client-reregister", r"CLIENT_REREGISTER \(17\), port 1"),
          ("device-fatal", r"DEVICE_FATAL \(8\)")]


def test_asyncwatch_hears_of_each_event(lab):
    watch = lab.start("node-1", *LINES, "ibv_asyncwatch")
    watch.wait_for("async event FD")
    for name, line in EVENTS:
        add(lab, f"host node-1 event {name}")
        watch.wait_for(f"IBV_EVENT_{line}")
    told = lab.ibemu("why", "node-1").stdout
    assert told.endswith("".join(
        f"fault-1 acted once: event {name}"
        + ("\n" if name == "device-fatal" else " port 1\n")
        for name, _ in EVENTS))


def packets(file):
    """Direction and bytes of each in a capture, without times (pcap and ERF)."""
    data, place = file.read_bytes(), 24
    while place < len(data):
        size, = struct.unpack_from(">8xI4x", data, place)
        record = data[place + 16:place + 16 + size]
        yield record[8:]
        place += 16 + size


def drops(program):
    """What `ibemu events` told of them, without times."""
    told = map(json.loads, program.output.splitlines())
    return [{key: value for key, value in event.items()
             if key not in ("time_ns", "wall")}
            for event in told if event["event"] == "drop"]


def test_one_seed_gives_the_same_bytes_and_events_with_rings_and_without(
        fabric, events):
    def play_once(*options):
        lab = fabric("single-switch:hosts=2", sm="static", options=["--seed=7"])
        told = events(lab, "--json", "drop")
        file = lab.account.home / "packets.pcap"
        file.unlink(missing_ok=True)
        capture = Background(lab.account, [
            "ibemu", "capture", f"--fabric={lab.socket}", "-w", file,
            "node-1/1"])
        until(lambda: file.exists() and file.stat().st_size > 0)
        only = "opcode ud-send-only-immediate dir tx"
        add(lab, f"qp node-1/* loss 30% corrupt 10% {only}")
        add(lab, f"qp node-1/* duplicate 20% {only}")
        done = play(lab, "datagram", 100, options)
        assert done["rings"] is not ("--no-fast-path" in options)
        first, twice = (fault["tx"] for fault in lab.faults())
        dropped = first["lost"] + first["corrupted"]
        assert min(first["lost"], first["corrupted"], twice["duplicated"]) > 1
        until(lambda: len(drops(told)) == dropped)
        capture.stop(signal.SIGINT)
        told.stop()
        assert len(done["arrived"]) == 100 - dropped + twice["duplicated"]
        return done["arrived"], list(packets(file)), drops(told)
    once = play_once()
    assert len(once[1]) == len(once[0]) + 1
    assert play_once() == once
    assert play_once("--no-fast-path") == once


def test_pingpong_survives_what_one_queue_pair_loses(lab):
    options = ["ibv_rc_pingpong", "-n", "300", "-c"]
    server = lab.start("node-1", *LINES, *options)
    number = server.wait_for(r"local address: .*QPN (0x\w+)")[1]
    line, = lab.ibemu("qp", "ls", "node-1").stdout.splitlines()[1:]
    assert re.split(r"  +", line)[:5] == ["node-1", hex(int(number, 16)), "RC",
                                          "INIT", "-"]
    add(lab, f"qp node-1/{number} loss 2% duplicate 2%")
    client = lab.run("node-2", *options, "localhost")
    assert server.wait() == 0, server.output
    for text in (client.stdout, server.output):
        assert "300 iters in" in text and "invalid data" not in text
    fault, = lab.faults()
    assert fault["rx"]["lost"] + fault["tx"]["lost"] > 0


@pytest.mark.deep
def test_perftest_measures_while_acknowledgements_are_lost(lab):
    add(lab, "qp node-1/* loss opcode ack dir tx nth 3-5")
    perftest.check(perftest.play(lab, "ib_write_lat", "-n", "200",
                                 "-s", "64")[0], 200)
    fault, = lab.faults()
    assert fault["tx"]["lost"] == 3


def test_packets_missed_in_a_row_are_counted_at_both_ends(lab):
    add(lab, "qp node-2/* loss opcode rdma-write dir tx nth 20")
    perftest.check(perftest.play(lab, "ib_write_bw", "-n", "200",
                                 "-s", "64")[0], 200)
    assert lab.hw_counter("node-1", "out_of_sequence") >= 1
    assert lab.hw_counter("node-2", "packet_seq_err") >= 1
    assert lab.hw_counter("node-2", "implied_nak_seq_err") == 0


def test_a_response_missed_in_a_row_is_counted_where_it_was_to_come(lab):
    add(lab, "qp node-2/* loss opcode read-response dir rx nth 20")
    perftest.check(perftest.play(lab, "ib_read_bw", "-n", "200",
                                 "-s", "64")[0], 200)
    assert lab.hw_counter("node-2", "implied_nak_seq_err") >= 1
    assert lab.hw_counter("node-2", "packet_seq_err") == 0


# A fault, what the two ends do, who is asked why, and the answer; letters are
# numbers that are not always the same.
UNANSWERED = ("node-1 queue pair Q: work request {} ended with RETRY_EXC_ERR: N "
              "tries of PSN P in T, none answered: ").format
ANSWERS = "the answers of node-2 queue pair Q were "
TIMEOUT = ", and the timeout here is T"
REASONS = [
    ("qp node-2/* loss opcode ack dir tx", "send", "node-1",
     UNANSWERED("0 (SEND)") + ANSWERS +
     "dropped at node-2/1: lost by fault-1 (N times)"),
    ("qp node-1/* delay 1s dir tx", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") + "held up at node-1/1 by fault-1" + TIMEOUT),
    ("qp node-1/* reorder", "send", "node-1",
     "fault-1 acted N times: reorder 100%"),
    ("qp node-2/* rnr 1h", "send", "node-1",
     "node-1 queue pair Q: work request 0 (SEND) ended with RNR_RETRY_EXC_ERR: "
     "node-2 queue pair Q had no receive request at N tries of PSN P in T: "
     "fault-1 keeps its receive requests back"),
    ("qp node-1/* completion remote-access-error vendor-err 0x8a dir tx",
     "write", "node-1",
     "node-1 queue pair Q: work request 0 (RDMA WRITE) ended with "
     "REM_ACCESS_ERR: fault-1 fails work request 0 (RDMA WRITE)"),
    ("qp node-2/* completion loss dir rx nth 3", "send", "node-2",
     "fault-1 acted once: completion loss nth 3"),
    ("link node-1/1 loss 100%", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") +
     "dropped at node-1/1: lost by fault-1 (N times)"),
    ("link node-2/1 delay 1s", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") + "held up at switch-1/2 by fault-1" +
     TIMEOUT),
    ("host node-2 completion-event loss", "events", "node-2",
     "fault-1 acted N times: completion-event loss"),
    ("host node-1 async-event delay 1ms", "shared", "node-1",
     "fault-1 acted once: async-event delay T"),
    ("host node-1 create-srq errno ENOMEM", "shared", "node-1",
     "node-1 process N: CREATE_SRQ was refused with ENOMEM: fault-1 refuses it"),
    ("host node-1 reg-mr nth 2 errno ENOMEM", "regions", "node-1",
     "node-1 process N: REG_MR was refused with ENOMEM: fault-1 refuses it"),
]
MORE_REASONS = [
    ("qp node-1/* loss opcode read-response dir rx", "read", "node-1",
     UNANSWERED("0 (RDMA READ)") + ANSWERS +
     "dropped at node-1/1: lost by fault-1 (N times)"),
    ("qp node-1/* loss opcode rc-send-only dir tx psn 9", "send", "node-1",
     UNANSWERED("9 (SEND)") + "dropped at node-1/1: lost by fault-1 (N times)"),
    ("qp node-1/* loss psn 3 dir tx", "send", "node-1",
     UNANSWERED("3 (SEND)") + "dropped at node-1/1: lost by fault-1 (N times)"),
    ("qp node-1/* corrupt dir tx", "send", "node-1",
     UNANSWERED("0 (SEND)") +
     "dropped at node-1/1: corrupted by fault-1 (N times)"),
    ("qp node-2/* delay 1s dir tx", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") + ANSWERS + "held up at node-2/1 by fault-1" +
     TIMEOUT),
    ("qp node-1/* loss opcode rc-rdma-write-last dir tx", "large", "node-1",
     UNANSWERED("0 (RDMA WRITE)") +
     "dropped at node-1/1: lost by fault-1 (N times)"),
    ("qp node-1/* duplicate", "send", "node-1",
     "fault-1 acted N times: duplicate 100%"),
    ("qp node-1/* reorder 50% duplicate 50%", "send", "node-1",
     "fault-1 acted N times: duplicate 50% reorder 50%"),
    ("qp node-2/* rnr", "send", "node-1",
     "node-1 queue pair Q: work request 0 (SEND) ended with RNR_RETRY_EXC_ERR: "
     "node-2 queue pair Q had no receive request at N tries of PSN P in T: "
     "fault-1 keeps its receive requests back"),
    ("qp node-2/* completion general-error dir rx nth 3", "send", "node-2",
     "node-2 queue pair Q: work request 2 (RECV) ended with GENERAL_ERR: "
     "fault-1 fails work request 2 (RECV)"),
    ("qp node-2/* completion delay 1ms dir rx nth 3", "send", "node-2",
     "fault-1 acted once: completion delay T nth 3"),
    ("link node-2/1 corrupt 100% dir tx", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") + ANSWERS +
     "dropped at node-2/1: corrupted by fault-1 (N times)"),
    ("link node-1/1 ber 0.01", "write", "node-1",
     UNANSWERED("0 (RDMA WRITE)") +
     "dropped at node-1/1: corrupted by fault-1 (N times)"),
    ("link node-1/1 duplicate 100%", "send", "node-1",
     "fault-1 acted N times: duplicate 100%"),
    ("link node-1/1 reorder 100%", "send", "node-1",
     "fault-1 acted N times: reorder 100%"),
    ("host node-2 completion-event delay 1ms", "events", "node-2",
     "fault-1 acted N times: completion-event delay T"),
    ("host node-1 async-event loss", "shared", "node-1",
     "fault-1 acted once: async-event loss"),
    ("host node-1 alloc-pd errno ENOMEM", "send", "node-1",
     "node-1 process N: ALLOC_PD was refused with ENOMEM: fault-1 refuses it"),
    ("host node-1 reg-mr delay 10ms", "regions", "node-1",
     "fault-1 acted N times: reg-mr delay T"),
    ("host node-1 create-cq errno ENOMEM", "send", "node-1",
     "node-1 process N: CREATE_CQ was refused with ENOMEM: fault-1 refuses it"),
    ("host node-1 create-qp errno EAGAIN", "send", "node-1",
     "node-1 process N: CREATE_QP was refused with EAGAIN: fault-1 refuses it"),
    ("host node-1 create-ah errno EINVAL", "datagram", "node-1",
     "node-1 process N: CREATE_AH was refused with EINVAL: fault-1 refuses it"),
]


def without_numbers(text):
    for number, letter in ((r"queue pair 0x\w+", "queue pair Q"),
                           (r"PSN 0x\w+", "PSN P"),
                           (r"process \d+", "process N"), (r"[\d.]+[mu]?s\b", "T"),
                           (r"\(\d+ times\)", "(N times)"),
                           (r"\d+ (tries|times)", r"N \1")):
        text = re.sub(number, letter, text)
    return text


@pytest.mark.parametrize("words, operation, host, reason",
                         [*REASONS, *deep(*MORE_REASONS)])
def test_why_tells_what_a_fault_has_done(lab, words, operation, host, reason):
    add(lab, words)
    *run, dashes = lab.on("node-1", "node-2")
    lab.account.run(*run, dashes, *two_ends(operation, 10), check=False)
    first, _, rest = lab.ibemu("why", host).stdout.partition("\n")
    told = rest.strip().rpartition("\n")[2] if first.startswith(
        "no work request") else first
    assert without_numbers(told) == reason


MISTAKES = [
    ("qp node-1/0x99 loss",
     'there is no queue pair 0x99 of "node-1": "ibemu qp ls" lists them'),
    ("qp switch-1/* loss", '"switch-1" is no channel adapter: it has no verbs'),
    ("qp node-1/* loss opcode rc-acknowlege",
     'opcode "rc-acknowlege": there are any, send, rdma-write, read-response, '
     "atomic, ack, and those of the specification, as rc-send-only: did you "
     'mean "rc-acknowledge"?'),
    ("qp node-1/* completion lost nth 1",
     'completion "lost": write loss, delay TIME, or an error as in '
     'remote-access-error: did you mean "loss"?'),
    ("host node-1 reg-mr errno ENOMEN",
     'errno "ENOMEN": there are ENOMEM, EINVAL and EAGAIN: did you mean '
     '"ENOMEM"?'),
    ("host node-1 event port-error port 2",
     'port 2 of "node-1" does not exist: it has ports 1 to 1'),
]


def test_each_mistake_is_one_sentence_and_changes_nothing(lab):
    for command, sentence in MISTAKES:
        done = lab.ibemu("fault", "add", *command.split(), check=False)
        assert done.returncode == 1, command
        assert done.stderr == f"ibemu fault: {sentence}\n"
        assert done.stdout == ""
    assert lab.faults() == []
    assert lab.ibemu("qp", "ls", "node-1").stdout.count("\n") == 1


def test_a_scenario_has_the_same_words(lab, account):
    file = account.home / "faults.yaml"
    step = "- at: 0s\n  do: fault add --name=late qp node-2/* loss opcode ack\n"
    file.write_text(step + "- at: 0s\n  do: fault add qp switch-1/* loss\n")
    file.chmod(0o644)
    done = lab.ibemu("scenario", file.name, check=False)
    assert done.returncode == 1
    assert 'faults.yaml:4: "switch-1" is no channel adapter' in done.stderr
    assert lab.faults() == []
    file.write_text(step)
    lab.ibemu("scenario", file.name)
    assert [fault["name"] for fault in lab.faults()] == ["late"]
