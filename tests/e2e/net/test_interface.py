"""ib0 as programs see it, and who has it."""

import json
import re
import signal

import pytest

from harness import until
from net import ONE, PAIR, TWO, idle, on, run


@pytest.mark.both_accounts
def test_an_interface_looks_as_that_of_a_datagram_adapter(fabric):
    lab = fabric(PAIR, sm="builtin")
    told = json.loads(run(lab, "node-1", "ip", "--json", "address").stdout)
    interfaces = {link["ifname"]: link for link in told}
    assert set(interfaces) == {"lo", "ib0"}
    ib0 = interfaces["ib0"]
    assert ib0["link_type"] == "infiniband" and ib0["mtu"] == 2044
    assert {"UP", "LOWER_UP", "MULTICAST"} <= set(ib0["flags"])
    addresses = {(a["local"], a["prefixlen"]) for a in ib0["addr_info"]}
    assert (ONE, 16) in addresses
    assert ("fd1b:e000:0:1::1", 64) in addresses
    assert any(a.startswith("fe80::") for a, _ in addresses)
    script = """
cd /sys/class/net && ls && cat ib0/type ib0/address ib0/mode ib0/pkey ib0/mtu \
  ib0/dev_id ib0/dev_port ib0/operstate
readlink -f ib0/device /sys/class/infiniband/ibemu0/device
ls ib0/device/net /sys/class/infiniband/ibemu0/device/net
cat /sys/class/infiniband/ibemu0/ports/1/gids/0 lo/type
"""
    lines = run(lab, "node-1", "sh", "-c", script).stdout.split()
    names, rest = lines[:2], lines[2:]
    assert names == ["ib0", "lo"]
    kind, address, mode, pkey, mtu, identity, port, state = rest[:8]
    assert (kind, mode, pkey, mtu) == ("32", "datagram", "0xffff", "2044")
    assert (identity, port, state) == ("0x0", "0", "up")
    assert re.fullmatch("[0-9a-f]{2}(:[0-9a-f]{2}){19}", address)
    assert rest[8] == rest[9] and "ib0" in rest[10:]
    gid = rest[-2].replace(":", "")
    assert address.replace(":", "")[8:] == gid and rest[-1] == "772"


def test_a_host_has_one_network_and_a_killed_run_frees_it(fabric, background):
    lab = fabric(PAIR, sm="builtin")
    first = idle(lab, "node-1", background)
    done = run(lab, "node-1", "true", check=False)
    assert done.returncode == 125
    assert done.stderr == (
        'ibemu run: the network of "node-1" is that of the "ibemu run --net" '
        f"with process {first.process.pid}: end that one first, or give "
        "another --host\n")
    assert lab.run("node-1", "ibstat", "-l").stdout == "ibemu0\n"
    assert " 1 received" in run(lab, "node-2", "ping", "-c", "1", ONE).stdout
    first.process.kill()
    until(lambda: run(lab, "node-1", "true", check=False).returncode == 0)
    first.stop(signal.SIGKILL)


def test_status_tells_who_has_a_network(fabric, background):
    lab = fabric(PAIR, sm="builtin")
    assert "NETWORK" not in lab.ibemu("status").stdout
    program = idle(lab, "node-2", background)
    text = lab.ibemu("status").stdout
    row = next(line for line in text.splitlines() if "ib0" in line)
    assert str(program.process.pid) in row and "node-2" in row and TWO in row
    network, = json.loads(lab.ibemu("status", "--json").stdout)["networks"]
    assert network["name"] == "ib0" and network["up"] is True
    program.stop()
    until(lambda: "ib0" not in lab.ibemu("status").stdout)


def test_a_cut_link_loses_packets_until_it_is_back(fabric, background):
    lab = fabric(PAIR, sm="builtin")
    idle(lab, "node-1", background)
    script = f"""
ping -q -c 1 {ONE} > /dev/null && echo up
until ip -br link show ib0 | grep -q DOWN; do :; done
ping -q -c 1 -W 1 {ONE} > /dev/null || echo down
until ping -q -c 1 -W 1 {ONE} > /dev/null; do :; done
echo up again
"""
    client = background(*on(lab, "node-2"), "sh", "-c", script)
    client.wait_for("^up$")
    lab.ibemu("link", "node-2/1", "down")
    client.wait_for("^down$")
    lab.ibemu("link", "node-2/1", "up")
    client.wait_for("^up again$")


def test_a_subnet_manager_that_comes_later_brings_the_interface_up(
        fabric, background):
    lab = fabric(PAIR, sm="none")
    idle(lab, "node-1", background)
    client = background(
        *on(lab, "node-2"), "sh", "-c",
        f"echo begins; until ping -q -c 1 -W 1 {ONE} > /dev/null; do :; done;"
        " echo up; cat")
    client.wait_for("begins")
    opensm = lab.start_opensm("node-3")
    client.wait_for("^up$")
    opensm.stop()


def test_an_adapter_that_is_pulled_out_takes_its_interface_along(
        fabric, background):
    lab = fabric(PAIR, sm="builtin")
    client = background(
        *on(lab, "node-1"), "sh", "-c",
        "echo begins; while ip link show ib0 > /dev/null 2>&1; do :; done;"
        " ls /sys/class/net; echo gone; exec sleep 1000")
    client.wait_for("begins")
    lab.ibemu("device", "node-1", "remove")
    client.wait_for("^gone$")
    assert "ib0\n" not in client.output
    lab.ibemu("device", "node-1", "add")
    second = run(lab, "node-1", "ip", "-br", "address").stdout
    assert ONE in second


def test_a_run_within_a_run_has_the_same_network(fabric):
    lab = fabric(PAIR, sm="builtin")
    inner = run(lab, "node-1", "ibemu", "run", "sh", "-c",
                "cat /sys/class/net/ib0/type; ip -br address; ibstat -l").stdout
    assert inner.startswith("32\n") and ONE in inner
    assert inner.endswith("ibemu0\n")


def test_a_private_fabric_has_a_network_too(account):
    said = account.run("ibemu", "run", "--net", "--", "sh", "-c",
                       "ip -br address show ib0; ping -c 1 $(hostname)").stdout
    assert ONE in said and " 1 received" in said


def test_captured_packets_are_those_of_ip(fabric, account, background):
    lab = fabric(PAIR, sm="builtin")
    idle(lab, "node-1", background)
    file = account.home / "packets.pcap"
    capture = background("ibemu", "capture", f"--fabric={lab.socket}", "-w",
                         file, "node-1/1")
    until(lambda: file.exists() and file.stat().st_size >= 24)
    run(lab, "node-2", "ping", "-c", "2", "-i", "0.2", ONE)
    capture.stop(signal.SIGINT)
    text = account.run("tshark", "-n", "-r", file, "-Y", "icmp").stdout
    assert "Echo (ping) request" in text and "Echo (ping) reply" in text


def test_without_tun_a_run_says_what_the_doctor_says(account):
    script = """
mount -t tmpfs none /dev/net && ! ibemu run --net touch began && ls
ibemu doctor --json
"""
    done = account.run("unshare", "-Urm", "sh", "-c", script, check=False)
    assert "began" not in done.stdout
    findings = json.loads(done.stdout[done.stdout.index("["):])
    network = next(f for f in findings if f["subject"] == "network")
    assert network["level"] == "note"
    assert "modprobe tun" in network["cure"]
    assert done.stderr == \
        f"ibemu run: {network['what']}: {network['cure']}\n"


def test_what_does_not_go_together_is_told(account):
    done = account.run("ibemu", "run", "--net", "--no-adapter", "true",
                       check=False)
    assert done.returncode == 125
    assert "--no-adapter starts and joins nothing" in done.stderr
