"""What programs hear of their ports, and what a subnet manager mends under
them."""

import json
import re

import pytest

from harness import ROOT, two_rails, until

LINES = ["stdbuf", "-oL"]  # tell at once what is printed
TWO_ENDS = (ROOT / "tests/e2e/verbs/two_ends.py").read_text()


@pytest.fixture
def watched(fabric):
    """A fabric, and ibv_asyncwatch on node-1."""
    lab = fabric("single-switch:hosts=2", sm="static")
    watch = lab.start("node-1", *LINES, "ibv_asyncwatch")
    watch.wait_for("async event FD")
    return lab, watch


def test_asyncwatch_tells_of_a_link_that_goes_and_comes(watched):
    lab, watch = watched
    lab.ibemu("link", "node-1/1", "down")
    watch.wait_for(r"IBV_EVENT_PORT_ERR \(10\), port 1")
    lab.ibemu("link", "node-1/1", "up")
    watch.wait_for(r"IBV_EVENT_PORT_ACTIVE \(9\), port 1")


def test_asyncwatch_tells_of_an_adapter_that_was_pulled_out(watched):
    lab, watch = watched
    lab.ibemu("device", "node-1", "remove")
    watch.wait_for(r"IBV_EVENT_DEVICE_FATAL \(8\)")
    assert "ibemu0" in lab.run("node-2", "ibv_devices").stdout
    lab.ibemu("device", "node-1", "add")
    assert "PORT_ACTIVE" in lab.run("node-1", "ibv_devinfo").stdout


def middle_cable(lab):
    """The cable half way from node-1 to node-16: a switch and its port."""
    lids = [lab.run(host, "cat",
                    "/sys/class/infiniband/ibemu0/ports/1/lid").stdout.strip()
            for host in ("node-1", "node-16")]
    trace = lab.run("node-1", "ibtracert",
                    *[str(int(lid, 16)) for lid in lids]).stdout
    hops = re.findall(r'^\[(\d+)\] -> \w+ port .* "([^"]+)"', trace, re.M)
    assert len(hops) == 6, trace  # five switches, and the end
    return f"{hops[1][1]}/{hops[2][0]}"


@pytest.mark.deep
def test_a_connection_outlives_a_cable_of_its_path(fabric):
    lab = fabric("fat-tree:radix=4,levels=3")
    lab.start_opensm("node-2")
    cable = middle_cable(lab)
    # They sleep while they wait: opensm needs the CPU.
    options = ["ibv_rc_pingpong", "-n", "20000", "-c", "-e"]
    server = lab.start("node-1", *LINES, *options)
    server.wait_for("local address")

    def packets():
        return int(lab.run("node-16", "cat", "/sys/class/infiniband/ibemu0/"
                           "ports/1/counters/port_xmit_packets").stdout)
    before = packets()
    client = lab.start("node-16", *LINES, "sh", "-c",
                       f"until {' '.join(options)} localhost; do sleep 0.1; "
                       "done")
    until(lambda: packets() > before + 500)
    lab.ibemu("link", cable, "down")
    assert server.process.poll() is None, "it was over too soon"
    assert client.wait() == 0, client.output
    assert server.wait() == 0, server.output
    for text in (client.output, server.output):
        assert "20000 iters in" in text and "invalid data" not in text
    assert middle_cable(lab) != cable


def test_a_connection_outlives_a_port_by_its_alternate_path(
        account, fabric, background):
    lab = fabric(two_rails(account), sm="static")
    ends = background(*lab.on("node-1", "node-2"), "/usr/bin/python3", "-B",
                      "-c", TWO_ENDS, "migrate", "0")
    qpn = ends.wait_for(r"armed (\d+)")[1]
    shown = lab.ibemu("qp", "show", f"node-1/{qpn}").stdout
    assert re.search(r"(?m)^alternate path +LID \d+, SL 0, path bits 0; port 2$",
                     shown), shown
    assert re.search(r"(?m)^migration +ARMED$", shown), shown
    lab.ibemu("link", "node-1/1", "down")
    assert ends.wait() == 0, ends.output
    told = json.loads(ends.lines[-1])
    assert told["numbers"] == list(range(len(told["numbers"])))
    for end in ("a", "b"):
        assert told[end] == {"statuses": [0], "port": 2}
    texts = {host: [one["text"] for one in json.loads(
        lab.ibemu("why", host, "--json").stdout)["queue_pairs"][0]["incidents"]
        if one["kind"] == "migrated"] for host in ("node-1", "node-2")}
    for host, why in (("node-1", "no retries were left"),
                      ("node-2", "the peer had moved")):
        text, = texts[host]
        assert re.fullmatch(rf"to LID \d+ by port 2, as {why}", text), text
