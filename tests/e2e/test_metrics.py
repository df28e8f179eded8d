"""`ibemud --http`: /metrics and /health; and Prometheus, which warns of a cut
link that node_exporter saw."""

import json
import pathlib
import re
import subprocess

import pytest

from harness import ROOT, until

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples"
RULES = EXAMPLES / "prometheus-rules.yml"
DASHBOARD = EXAMPLES / "grafana-dashboard.json"


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=3", sm="static",
                  options=["--http=127.0.0.1:0"])


def address_of(subnet):
    return subnet.daemon.wait_for(r"ready: .*(http://127\.0\.0\.1:\d+)$")[1]


def curl(account, url, *options):
    return account.run("curl", "-sS", *options, url).stdout


def value(text, series):
    found = re.search(rf"(?m)^{re.escape(series)} (\S+)$", text)
    assert found, (series, text)
    return float(found[1])


def test_metrics_follow_the_fabric(subnet):
    url = f"{address_of(subnet)}/metrics"
    before = curl(subnet.account, url)
    assert value(before, 'ibemu_nodes{type="ca",state="up"}') == 3
    assert value(before, 'ibemu_links{state="active"}') == 3
    subnet.run("node-2", "perfquery")
    subnet.ibemu("link", "node-3/1", "down")
    after = curl(subnet.account, url)
    assert value(after, 'ibemu_links{state="active"}') == 2
    assert value(after, 'ibemu_links{state="down"}') == 1
    assert (value(after, "ibemu_packets_delivered_total") >
            value(before, "ibemu_packets_delivered_total"))
    ports = curl(subnet.account, f"{url}/ports")
    assert re.search(
        r'(?m)^ibemu_port_link_downed_total\{node="node-3",.*\} 1$', ports)
    assert len(re.findall(r"(?m)^ibemu_port_state\{", ports)) == 6


def test_metrics_tell_how_far_each_joined_host_is(subnet, background):
    url = f"{address_of(subnet)}/metrics"
    assert "ibemu_joined_host" not in curl(subnet.account, url)
    background("ibemu", "run", f"--join={subnet.socket}", "--host=node-2", "--",
               "sleep", "1000")
    host = '{node="node-2",peer=""}'
    until(lambda: f"ibemu_joined_host_round_trip_seconds{host} " in
          curl(subnet.account, url))
    text = curl(subnet.account, url)
    assert 0 < value(text, f"ibemu_joined_host_round_trip_seconds{host}") < 10
    assert value(text, f"ibemu_joined_host_behind_seconds{host}") < 10
    assert value(text, f"ibemu_joined_host_leases{host}") == 0


def test_metrics_sum_up_what_programs_have_made_by_verbs(subnet):
    url = f"{address_of(subnet)}/metrics"
    assert "ibemu_verbs" not in curl(subnet.account, url)
    server = subnet.start("node-1", "stdbuf", "-oL", "ibv_rc_pingpong",
                          "--size=8192")
    server.wait_for("local address")
    text = curl(subnet.account, url)
    host = re.search(r'(?m)^ibemu_verbs_contexts(\{node="node-1",guid="0x\w+")'
                     r"\} 1$", text)[1]
    for kind, count in (("pd", 1), ("mr", 1), ("cq", 1), ("qp", 1), ("srq", 0)):
        assert value(text, f'ibemu_verbs_objects{host},type="{kind}"}}') == count
    assert value(text, f"ibemu_verbs_registered_bytes{host}}}") == 8192
    assert value(text, f'ibemu_verbs_queue_pairs{host},state="INIT"}}') == 1
    assert 'node="node-2"' not in text


def test_metrics_have_the_hw_counters_of_adapters(subnet):
    url = f"{address_of(subnet)}/metrics"
    server = subnet.start("node-1", "stdbuf", "-oL", "ibv_rc_pingpong")
    server.wait_for("local address")
    subnet.ibemu("fault", "add", "qp", "node-2/*", "loss", "opcode", "ack", "nth",
                 "1", "dir", "tx")
    subnet.run("node-2", "ibv_rc_pingpong", "localhost")
    assert server.wait() == 0, server.output
    subnet.ibemu("fault", "reset")
    counters = dict(re.findall(
        r'(?m)^ibemu_hw_counter_total\{node="node-1",guid="0x\w+",port="1",'
        r'counter="(\w+)"\} (\d+)$', curl(subnet.account, url)))
    assert int(counters["local_ack_timeout_err"]) >= 1
    assert set(counters) < set(subnet.run(
        "node-1", "ls", "/sys/class/infiniband/ibemu0/ports/1/hw_counters"
    ).stdout.split())


@pytest.mark.parametrize("page", ["metrics", "metrics/ports"])
def test_promtool_finds_no_fault(subnet, page):
    text = curl(subnet.account, f"{address_of(subnet)}/{page}")
    done = subprocess.run(["promtool", "check", "metrics"], input=text,
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_daemon_that_turns_is_healthy(subnet):
    url = address_of(subnet)
    assert curl(subnet.account, f"{url}/health") == "ok\n"
    status = curl(subnet.account, f"{url}/nothing", "-o", "/dev/null",
                  "-w", "%{http_code}")
    assert status == "404"


def test_pages_of_other_sites_get_nothing(subnet):
    text = curl(subnet.account, f"{address_of(subnet)}/metrics", "-H",
                "Host: example.org")
    assert text == "only this machine may ask\n"


def test_a_wrong_address_starts_nothing(account):
    for address, rule in (("0.0.0.0:80", "only this machine may ask"),
                          ("8080", "not an address and a port")):
        done = account.run("ibemud", "--topology=back-to-back",
                           f"--http={address}", check=False)
        assert done.returncode == 2
        assert rule in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_named(subnet):
    address = address_of(subnet).removeprefix("http://")
    done = subnet.account.run(
        "ibemud", "--topology=back-to-back", f"--http={address}",
        f"--socket={subnet.account.home / 'other.sock'}", check=False)
    assert done.returncode == 1
    assert f"{address}: Address already in use" in done.stderr


@pytest.fixture
def prometheus(subnet):
    """A Prometheus of Debian on a subnet whose node-2 has a node_exporter; its
    answers to queries, and its alerts."""
    exporter = subnet.start(
        "node-2", "prometheus-node-exporter", "--collector.disable-defaults",
        "--collector.infiniband", "--web.listen-address=127.0.0.1:0",
        "--log.level=debug")
    target = exporter.wait_for(r"address=(127\.0\.0\.1:\d+)")[1]
    home = subnet.account.home
    configuration = home / "prometheus.yml"
    daemon = address_of(subnet)[len("http://"):]
    configuration.write_text(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{RULES}]
scrape_configs:
- job_name: nodes
  static_configs: [{{targets: ["{target}"]}}]
- job_name: ibemu
  static_configs: [{{targets: ["{daemon}"]}}]
- job_name: ports
  metrics_path: /metrics/ports
  static_configs: [{{targets: ["{daemon}"]}}]
""")
    configuration.chmod(0o644)
    assert "SUCCESS" in subnet.account.run("promtool", "check", "config",
                                           configuration).stdout
    server = subnet.start(
        "node-1", "prometheus", f"--config.file={configuration}",
        f"--storage.tsdb.path={home / 'tsdb'}",
        "--web.listen-address=127.0.0.1:0", "--log.level=debug")
    api = "http://" + server.wait_for(
        r"Listening on\W+address=(127\.0\.0\.1:\d+)")[1] + "/api/v1"
    server.wait_for("Server is ready to receive web requests")

    class Api:
        @staticmethod
        def query(expression):
            text = curl(subnet.account, f"{api}/query", "--get",
                        "--data-urlencode", f"query={expression}")
            return json.loads(text)["data"]["result"]

        @staticmethod
        def alerts():
            text = curl(subnet.account, f"{api}/alerts")
            return json.loads(text)["data"]["alerts"]

    return Api


@pytest.mark.deep
def test_prometheus_warns_of_a_link_that_node_exporter_saw_go_down(subnet,
                                                                   prometheus):
    query, alerts = prometheus.query, prometheus.alerts
    until(lambda: query("node_infiniband_link_downed_total == 0"))
    assert until(lambda: query('ibemu_links{state="active"} == 3'))
    assert alerts() == []
    subnet.ibemu("link", "node-2/1", "down")
    subnet.ibemu("link", "node-2/1", "up")
    firing = until(lambda: [alert for alert in alerts()
                            if alert["state"] == "firing"])
    assert firing[0]["labels"]["alertname"] == "InfinibandLinkDowned"
    assert firing[0]["labels"]["device"] == "ibemu0"


def test_each_panel_of_the_dashboard_shows_what_prometheus_has(subnet,
                                                               prometheus):
    subnet.ibemu("link", "node-3/1", "down")
    subnet.ibemu("counter", "node-2/1", "PortRcvErrors=7")
    subnet.start("node-1", "ibv_rc_pingpong")  # waits for another
    subnet.account.run(
        *subnet.on("node-1", "node-2"), "/usr/bin/python3", "-B", "-c",
        (ROOT / "tests/e2e/verbs/two_ends.py").read_text(), "read", 1)
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [target["expr"] for panel in panels
                   for target in panel["targets"]]
    assert len(expressions) > 10
    for expression in expressions:
        # Where nothing is wrong a panel of errors is empty, so without "> 0".
        filled = (expression.replace("$__rate_interval", "1m")
                  .replace("$__range", "1m").replace(" > 0", ""))
        assert until(lambda: prometheus.query(filled)), filled
