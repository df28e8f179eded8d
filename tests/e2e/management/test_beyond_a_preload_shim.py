"""Programs that a preload library cannot serve."""

import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def raw_umad(scratch):
    program = scratch / "raw_umad"
    if not program.exists():
        subprocess.run(["gcc", "-static", "-Wall", "-Werror", "-o", program,
                        HERE / "raw_umad.c"], check=True)
    return program


def test_a_static_program_with_raw_system_calls_asks_its_port(account, raw_umad):
    text = account.run("ibemu", "run", "--", raw_umad).stdout
    assert text == "status 0, node type 1, 1 ports\n"


def test_busybox_lists_the_devices(account):
    text = account.run("ibemu", "run", "--", "busybox", "ls",
                       "/dev/infiniband").stdout
    assert set(text.split()) >= {"umad0", "issm0"}


def test_node_exporter_sees_the_port_and_its_growing_counters(fabric):
    subnet = fabric("single-switch:hosts=3")
    subnet.start_opensm("node-1")
    exporter = subnet.start(
        "node-2", "prometheus-node-exporter", "--collector.disable-defaults",
        "--collector.infiniband", "--web.listen-address=127.0.0.1:0",
        "--log.level=debug")
    address = exporter.wait_for(r"address=(127\.0\.0\.1:\d+)")[1]

    def scrape(name):
        text = subnet.account.run("curl", "-sS", f"http://{address}/metrics").stdout
        found = re.search(
            rf'(?m)^{name}{{device="ibemu0",port="1"}} (\S+)$', text)
        assert found, text
        return float(found[1])

    assert scrape("node_infiniband_state_id") == 4
    assert scrape("node_infiniband_physical_state_id") == 5
    assert scrape("node_infiniband_rate_bytes_per_second") > 1e9
    before = scrape("node_infiniband_port_packets_transmitted_total")
    subnet.run("node-2", "ibnetdiscover")
    assert scrape("node_infiniband_port_packets_transmitted_total") > before


def test_devices_can_be_opened_relative_to_a_directory_and_duplicated(account):
    script = """
import fcntl, os, select
directory = os.open("/dev/infiniband", os.O_RDONLY | os.O_DIRECTORY)
umad = os.open("umad0", os.O_RDWR | os.O_NONBLOCK, dir_fd=directory)
twin = os.dup(umad)
print(select.select([twin], [twin], [], 0)[1] == [twin])
epoll = select.epoll()
epoll.register(umad, select.EPOLLIN)
print(epoll.poll(0))
try:
    os.read(twin, 320)
except BlockingIOError:
    print("EAGAIN")
os.close(umad)
print(os.fstat(twin).st_size >= 0)
"""
    text = account.run("ibemu", "run", "--", "/usr/bin/python3", "-c", script).stdout
    assert text.split() == ["True", "[]", "EAGAIN", "True"]
