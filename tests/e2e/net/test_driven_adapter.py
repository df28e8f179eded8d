"""Networks and connections by address of an adapter that is driven by its
registers, to hosts of the simulated subnet that it is in."""

import pytest

from harness import Background, HcaFabric, RunFabric, until

pytestmark = pytest.mark.deep

ADAPTERS, HOSTS = "198.18.0.1", "198.18.0.2"


@pytest.fixture(scope="module")
def lab(module_account):
    """node-1 is the adapter, node-2 a simulated host."""
    made = HcaFabric(module_account, "driven", "single-switch:hosts=2",
                     sm="builtin")
    addresses = module_account.home / "addresses"
    addresses.write_text(f"node-1/1 {ADAPTERS}/16\n")
    addresses.chmod(0o644)
    made.drive("node-1", options=[f"--addresses={addresses}"])
    yield made
    made.stop()


def on(lab, host):
    return lab.on(host) if host == "node-1" else RunFabric.on(lab, host)


def by_network(lab, host, net, *command):
    return [*on(lab, host)[:-1], net, "--", *command]


@pytest.mark.parametrize("net", ["--net", "--net=connected"])
def test_its_network_reaches_a_simulated_host_and_back(lab, net):
    size = {"--net": "1900", "--net=connected": "60000"}[net]
    ends = {"node-1": ADAPTERS, "node-2": HOSTS}
    for here, there in (("node-1", "node-2"), ("node-2", "node-1")):
        idle = Background(lab.account, by_network(
            lab, there, net, "sh", "-c", "echo is there; exec sleep 1000"))
        idle.wait_for("is there")
        said = lab.account.run(*by_network(
            lab, here, net, "sh", "-c",
            f"until ping -c 1 -W 5 {ends[there]} > /dev/null; do :; done;"
            f" ping -M do -c 5 -W 30 -i 0.2 -s {size} {ends[there]}")).stdout
        assert " 5 received" in said
        idle.stop()


# Without RDMA: a driven adapter lets no peer reach a program's memory.
@pytest.mark.parametrize("server", ["node-1", "node-2"])
@pytest.mark.parametrize("program", ["ucmatose", "udaddy"])
def test_programs_connect_by_address(lab, program, server):
    client = {"node-1": "node-2", "node-2": "node-1"}[server]
    address = {"node-1": ADAPTERS, "node-2": HOSTS}[server]
    serving = Background(lab.account, [*on(lab, server), program])
    until(lambda: lab.account.run(*on(lab, client), program, "-s", address,
                                  check=False).returncode == 0)
    assert serving.wait() == 0, serving.output
    assert "test complete" in serving.output
