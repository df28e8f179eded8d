"""Counters of ports know of the bytes that verbs programs moved."""

import re

from perftest import check, play

MOVED = 50 * 65536


def test_perfquery_and_node_exporter_see_what_perftest_moved(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    exporter = lab.start(
        "node-2", "prometheus-node-exporter", "--collector.disable-defaults",
        "--collector.infiniband", "--web.listen-address=127.0.0.1:0",
        "--log.level=debug")
    address = exporter.wait_for(r"address=(127\.0\.0\.1:\d+)")[1]

    def scrape():
        text = lab.account.run("curl", "-sS", f"http://{address}/metrics").stdout
        return float(re.search(
            r"(?m)^node_infiniband_port_data_transmitted_bytes_total"
            r'{device="ibemu0",port="1"} (\S+)$', text)[1])

    def query(host, counter):  # in units of 4 bytes
        text = lab.run(host, "perfquery", "-x").stdout
        return 4 * int(re.search(rf"{counter}:\.*(\d+)", text)[1])

    scraped = scrape()
    sent = query("node-2", "PortXmitData")
    received = query("node-1", "PortRcvData")
    check(play(lab, "ib_write_bw", "-n", "50", "-s", "65536")[0], 50)
    # Headers and a few MADs are not much; what is late goes twice.
    for before, after in ((scraped, scrape()),
                          (sent, query("node-2", "PortXmitData")),
                          (received, query("node-1", "PortRcvData"))):
        assert MOVED < after - before < 2.2 * MOVED
