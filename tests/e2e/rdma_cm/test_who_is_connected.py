"""Who is connected to whom: `ibemu status NODE`, `ibemu events`, captures."""

import json
import re
import signal

import pytest

from by_address import CLIENT, LINES, PAIR, SERVER, meet, serve, status
from harness import Fabric, until

PORT = r"[0-9]{4,5}"
ENDS = f"node-2 {CLIENT}:{PORT} -> node-1 {SERVER}:7174 RDMA_PS_TCP"
SERVICE_ID = "0x0000000001061c06"


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "connected", PAIR, sm="builtin")
    yield made
    made.stop()


def test_a_host_tells_its_addresses_listeners_and_connections(pair):
    server = serve(pair, "rping", "-s", "-v")
    client = pair.start("node-2", *LINES, "rping", "-c", "-v", "-a", SERVER)
    client.wait_for("ping data: rdma-ping-3:")
    node = status(pair, "node-1")
    assert node["ports"] == [{"port": 1, "interface": "up", "addresses": [
        f"{SERVER}/16", "fd1b:e000:0:1::1/64"]}]
    listener, = node["listeners"]
    pid = listener.pop("pid")
    assert listener == {"space": "RDMA_PS_TCP", "address": "0.0.0.0",
                        "port": 7174, "service_id": SERVICE_ID}
    connection, = node["connections"]
    assert (connection["state"], connection["pid"],
            connection["asked_by"]) == ("established", pid, "remote")
    theirs, = status(pair, "node-2")["connections"]
    assert theirs["local"] == connection["remote"]
    assert theirs["remote"] == connection["local"]
    assert theirs["pid"] not in (None, pid)
    said = pair.ibemu("status", "node-1").stdout
    assert f"{SERVER}/16, fd1b:e000:0:1::1/64 (answers)" in said
    assert re.search(rf"^0\.0\.0\.0:7174 +RDMA_PS_TCP +{SERVICE_ID} +{pid}$",
                     said, re.M)
    qpn = r"\d+"
    assert re.search(rf"^{SERVER}:7174 +{qpn} +node-2 +{CLIENT}:{PORT} +{qpn} +"
                     rf"RDMA_PS_TCP +established +{pid}$", said, re.M), said
    client.stop()
    server.stop()
    until(lambda: not status(pair, "node-1")["listeners"])
    assert "listeners none" in pair.ibemu("status", "node-1").stdout
    bad = pair.ibemu("status", "nod-1", check=False)
    assert bad.returncode == 1 and 'did you mean "node-1"?' in bad.stderr


def test_events_tell_who_connects_and_why_one_is_rejected(pair, events):
    program = events(pair, "connection")
    server = serve(pair, "rping", "-s", "-v", "-C", "3")
    pair.run("node-2", "rping", "-c", "-C", "3", "-p", "9", "-a", SERVER,
             check=False)
    program.wait_for(
        rf"  connection  node-2 {CLIENT}:{PORT} -> node-1 {SERVER}:9 "
        r"RDMA_PS_TCP rejected by node-1: invalid service ID \(8\)$")
    since = program.mark()
    pair.run("node-2", "rping", "-c", "-C", "3", "-a", SERVER)
    assert server.wait() == 0
    program.wait_for(rf"  {ENDS} disconnected by node-[12]$", since)
    told = [line.split("RDMA_PS_TCP ")[1].strip()
            for line in program.output.splitlines()[since:]]
    assert told[:2] == ["asked", "established"] and len(told) == 3, told


def test_events_tell_of_datagrams_and_groups(pair, events):
    program = events(pair, "--json", "datagram", "group")
    meet(pair, ["udaddy"], ["udaddy", "-s", SERVER])
    program.wait_for('"state":"answered"')
    group = ["mckey", "-m", "224.1.1.1", "-C", "1"]
    member = pair.start("node-1", *LINES, *group, "-b", SERVER)
    program.wait_for('"state":"joined"')
    member.stop()
    program.wait_for('"state":"left"')
    told = [event for event in map(json.loads, program.output.splitlines())
            if event["event"] != "fault"]
    first = told[0]
    assert first["from"]["node"] == "node-2"
    assert first["to"] == {"node": "node-1", "address": SERVER, "port": 7174}
    assert (first["event"], first["state"], first["space"]) == (
        "datagram", "asked", "RDMA_PS_UDP")
    assert {event["state"] for event in told
            if event["event"] == "datagram"} == {"asked", "answered"}
    joined = next(event for event in told if event["event"] == "group")
    del joined["time_ns"], joined["wall"]
    assert joined == {"event": "group", "state": "joined", "node": "node-1",
                      "port": 1, "group": "224.1.1.1",
                      "mgid": "ff12:4001:ffff::1:101"}


def test_a_capture_shows_a_connection_and_how_it_came_about(fabric, account,
                                                            background):
    lab = fabric(PAIR, sm="builtin")
    file = account.home / "rping.pcap"
    capture = background("ibemu", "capture", f"--fabric={lab.socket}", "-w",
                         file, "node-2/1")
    until(lambda: file.exists() and file.stat().st_size >= 24)
    meet(lab, ["rping", "-s", "-C", "3"],
         ["rping", "-c", "-C", "3", "-a", SERVER])
    capture.stop(signal.SIGINT)
    said = account.run("tshark", "-n", "-r", file).stdout
    for name in ("ConnectRequest", "ConnectReply", "ReadyToUse",
                 "DisconnectRequest", "DisconnectReply", "ARP"):
        assert name in said, said
    asked = account.run(
        "tshark", "-n", "-r", file, "-Y", "infiniband.cm.req", "-T", "fields",
        "-e", "infiniband.cm.req.serviceid").stdout
    assert int(asked.split()[0], 16) == int(SERVICE_ID, 16)
    assert account.run("tshark", "-n", "-r", file, "-Y",
                       "_ws.malformed").stdout == ""


def test_a_lost_answer_is_named_and_the_asker_gives_up(fabric, events):
    lab = fabric(PAIR, sm="builtin")
    serve(lab, "rping", "-s", "-v")
    program = events(lab, "drop", "connection")
    lab.ibemu("fault", "add", "--name=deaf", "link", "node-2/1", "loss", "100%",
              "attr", "REP")
    client = lab.start("node-2", *LINES, "rping", "-c", "-C", "1", "-a", SERVER)
    program.wait_for(r"  drop        switch-1/2 loss, deaf, CM REP, LID ")
    client.stop()
    program.wait_for(rf"  {ENDS} abandoned$")
