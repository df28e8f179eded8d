"""What ibsim and its preload library can't do, one test each."""

import re
import signal

import pytest

TREE = "fat-tree:radix=8,levels=2"
ISSM_BIT = 1 << 1


def chain(switches):
    """Topology text: node-1, a chain of switches, node-2."""
    lines = []
    for i in range(1, switches + 1):
        before = ('"H-1"[1]' if i == 1 else f'"S-{i - 1}"[2]')
        after = ('"H-2"[1]' if i == switches else f'"S-{i + 1}"[1]')
        lines += [f"switchguid=0x{0x100 + i:x}({0x100 + i:x})",
                  f'Switch 2 "S-{i}" # "sw{i}" enhanced port 0 lid 0 lmc 0',
                  f"[1] {before}", f"[2] {after}", ""]
    for i, peer in ((1, '"S-1"[1]'), (2, f'"S-{switches}"[2]')):
        lines += [f"caguid=0x{0x10 * i:x}", f'Ca 1 "H-{i}" # "node-{i}"',
                  f"[1]({0x10 * i + 1:x}) {peer}", ""]
    return "\n".join(lines)


def write(account, name, text):
    path = account.home / name
    path.write_text(text)
    path.chmod(0o644)
    return path


def test_an_sa_table_longer_than_one_mad_arrives_whole(fabric):
    subnet = fabric(TREE)
    subnet.start_opensm("node-1")
    text = subnet.run("node-3", "saquery", "NR").stdout
    assert text.count("NodeRecord dump") == 32 + 12


@pytest.mark.parametrize("in_flight", ["0", "512"])
def test_many_mads_in_flight_do_not_deadlock(fabric, in_flight):
    subnet = fabric("fat-tree:radix=12,levels=2")
    subnet.start_opensm("node-1", "-n", in_flight)
    text = subnet.run("node-2", "ibnetdiscover", "-o", "512").stdout
    assert text.count("\nCa\t") == 72


def test_ibping_to_the_sm_is_answered_or_times_out_and_harms_nobody(fabric):
    subnet = fabric("single-switch:hosts=3")
    opensm = subnet.start_opensm("node-1")
    lid = re.search(r"sm lid (\d+)", subnet.run("node-2", "sminfo").stdout)[1]
    done = subnet.run("node-2", "ibping", "-c", "1", lid, check=False)
    assert "1 packets transmitted" in done.stdout
    assert opensm.process.poll() is None
    assert "SMINFO_MASTER" in subnet.run("node-2", "sminfo").stdout


def test_a_route_longer_than_sixteen_switches_works_by_lid(fabric, account):
    net = write(account, "chain.net", chain(40))
    subnet = fabric(net)
    opensm = subnet.start_opensm("node-1")
    assert " ERR " not in opensm.output
    assert "SMINFO_MASTER" in subnet.run("node-2", "sminfo").stdout
    # From the source: ibtracert reaches it by a directed route, of which the
    # way itself is the rest, and 63 hops are all.
    trace = subnet.run("node-1", "ibtracert", "-G", "0x11", "0x21").stdout
    assert trace.count("-> switch port") == 40, trace


def test_a_combined_route_goes_by_lid_and_then_by_ports(fabric):
    subnet = fabric(TREE)
    subnet.start_opensm("node-1")
    switches = subnet.run("node-2", "ibswitches").stdout
    lid = re.search(r'"leaf-1".* lid (\d+)', switches)[1]
    text = subnet.run("node-2", "smpquery", "-c", "nodedesc", lid, "0,1").stdout
    assert re.search(r"Node Description:\.+node-1\n", text)


def test_two_ports_of_one_adapter_are_two_devices(fabric, account):
    net = write(account, "dual.net", """\
caguid=0x10
Ca 2 "H-1" # "dual"
[1](11) "S-1"[1]
[2](12) "S-1"[2]

caguid=0x20
Ca 1 "H-2" # "single"
[1](21) "S-1"[3]

switchguid=0x100(100)
Switch 4 "S-1" # "sw"
[1] "H-1"[1](11)
[2] "H-1"[2](12)
[3] "H-2"[1](21)
""")
    subnet = fabric(net)
    opensm = subnet.start_opensm("single")
    assert " ERR " not in opensm.output
    devices = subnet.run("dual", "ls", "/dev/infiniband").stdout.split()
    assert sorted(devices) == ["issm0", "issm1", "rdma_cm", "umad0", "umad1",
                               "uverbs0"]
    ports = subnet.run("dual", "ibstat").stdout
    lids = re.findall(r"Base lid: (\d+)", ports)
    assert len(set(lids)) == 2 and "0" not in lids
    for port in ("1", "2"):
        text = subnet.run("dual", "sminfo", "-P", port).stdout
        assert "SMINFO_MASTER" in text


def test_several_hosts_in_one_view_are_several_devices(fabric):
    subnet = fabric("single-switch:hosts=4")
    subnet.start_opensm("node-1")
    text = subnet.account.run(*subnet.on("node-2", "node-3", "node-4"),
                              "ibstat", "-l").stdout
    assert text.split() == ["ibemu0", "ibemu1", "ibemu2"]
    for name in text.split():
        found = subnet.account.run(*subnet.on("node-2", "node-3", "node-4"),
                                   "sminfo", "-C", name).stdout
        assert "SMINFO_MASTER" in found


def test_an_lmc_of_three_multiplies_the_lids(fabric):
    subnet = fabric(TREE)
    opensm = subnet.start_opensm("node-1", "-l", "3")
    assert " ERR " not in opensm.output
    text = subnet.run("node-2", "ibstat").stdout
    assert "LMC: 3" in text
    lid = int(re.search(r"Base lid: (\d+)", text)[1])
    for path in (0, 7):
        info = subnet.run("node-3", "smpquery", "nodeinfo", lid + path).stdout
        assert "Channel Adapter" in info


@pytest.mark.deep
def test_more_lids_than_thirty_thousand(fabric):
    subnet = fabric("fat-tree:radix=36,levels=3,hosts=3888")
    opensm = subnet.start("node-1", "opensm", "-f", "stdout", "-l", "3",
                          "--pidfile", subnet.account.home / "opensm.pid")
    opensm.wait_for("SUBNET UP", timeout=900)
    assert " ERR " not in opensm.output
    # 4,428 nodes: 8 LIDs of each host, one of each switch.
    for lid in (0x7800, 8 * 3888):
        info = subnet.run("node-1", "smpquery", "nodeinfo", lid).stdout
        assert "NodeType:" in info


def test_a_dump_in_which_port_guid_equals_node_guid_loads(fabric, account):
    net = write(account, "connectx.net", """\
caguid=0x10
Ca 1 "H-10" # "a"
[1](10) "H-20"[1] (20) # lid 1 lmc 0 "b" lid 2 4xEDR

caguid=0x20
Ca 1 "H-20" # "b"
[1](20) "H-10"[1] (10) # lid 2 lmc 0 "a" lid 1 4xEDR
""")
    subnet = fabric(net)
    subnet.start_opensm("a")
    assert "State: Active" in subnet.run("b", "ibstat").stdout


@pytest.mark.parametrize("rate, shown", [
    ("4xXDR", "800 Gb/sec (4X XDR)"), ("2xHDR", "100 Gb/sec (2X HDR)"),
    ("4xQDR", "40 Gb/sec (4X QDR)"), ("1xSDR", "2.5 Gb/sec (1X SDR)"),
    ("4xNDR", "400 Gb/sec (4X NDR)"), ("12xEDR", "300 Gb/sec (12X EDR)")])
def test_every_rate_shows_in_sysfs(account, rate, shown):
    net = write(account, "rate.net", f"""\
caguid=0x10
Ca 1 "H-10" # "a"
[1](11) "H-20"[1](21) # lid 1 lmc 0 "b" lid 2 {rate}

caguid=0x20
Ca 1 "H-20" # "b"
[1](21) "H-10"[1](11) # lid 2 lmc 0 "a" lid 1 {rate}
""")
    text = account.run("ibemu", "run", f"--topology={net}", "--", "cat",
                       "/sys/class/infiniband/ibemu0/ports/1/rate").stdout
    assert text.strip() in (shown, shown.replace(" (1X SDR)", " (1X)"))


def is_sm(subnet, host):
    mask = subnet.run(
        host, "cat", "/sys/class/infiniband/ibemu0/ports/1/cap_mask").stdout
    return bool(int(mask, 16) & ISSM_BIT)


def test_is_sm_is_cleared_when_its_holder_is_killed(fabric):
    subnet = fabric("single-switch:hosts=3")
    opensm = subnet.start_opensm("node-1")
    assert is_sm(subnet, "node-1")
    opensm.stop(signal.SIGKILL)
    assert not is_sm(subnet, "node-1")
    subnet.start_opensm("node-1")


def test_a_read_only_working_directory_does_not_matter(account):
    text = account.run("ibemu", "run", "--", "ibstat", "-l", cwd="/proc").stdout
    assert text == "ibemu0\n"


def test_a_lost_answer_is_a_real_timeout_with_real_retries(fabric):
    subnet = fabric("single-switch:hosts=3")
    subnet.start_opensm("node-1")
    lid = re.search(r"Base lid: (\d+)",
                    subnet.run("node-3", "ibstat").stdout)[1]
    subnet.ibemu("node", "node-3", "down")
    done = subnet.run("node-2", "smpquery", "-t", "50", "nodeinfo", lid,
                      check=False)
    assert done.returncode != 0
    assert "failed" in done.stdout + done.stderr


def test_congestion_control_can_be_asked(fabric):
    subnet = fabric("single-switch:hosts=3")
    subnet.start_opensm("node-1")
    lid = re.search(r"Base lid: (\d+)",
                    subnet.run("node-3", "ibstat").stdout)[1]
    text = subnet.run("node-2", "ibccquery", "CongestionInfo", lid).stdout
    assert "CongestionInfo" in text


def test_port_info_components_that_opensm_sets_stay_set(fabric):
    subnet = fabric("single-switch:hosts=3")
    conf = subnet.account.home / "opensm.conf"
    conf.write_text("m_key 0x1234\nm_key_lease_period 0\n"
                    "overrun_errors_threshold 5\nsubnet_timeout 19\n"
                    "local_phy_errors_threshold 7\n")
    conf.chmod(0o644)
    subnet.start_opensm("node-1", "-F", conf)
    text = subnet.run("node-2", "smpquery", "-K", "-D", "portinfo", "0", "1").stdout
    assert re.search(r"Mkey:\.+0x0*1234", text)
    assert re.search(r"SubnetTimeout:\.+19", text)
    assert re.search(r"OverrunErr:\.+5", text)
    assert re.search(r"LocalPhysErr:\.+7", text)


def test_more_than_ten_clients_and_a_stopped_one_do_not_stall_the_fabric(fabric):
    subnet = fabric(TREE)
    subnet.start_opensm("node-1")
    stopped = subnet.start("node-2", "sh", "-c",
                           "echo started; while :; do ibnetdiscover; done")
    stopped.wait_for("started")
    stopped.wait_for("Topology file")
    stopped.signal(signal.SIGSTOP)
    clients = [subnet.start(f"node-{i}", "ibnetdiscover") for i in range(3, 19)]
    assert [client.wait() for client in clients] == [0] * 16
    stopped.signal(signal.SIGCONT)


def test_a_mellanox_switch_answers_its_vendor_queries(fabric, account):
    net = write(account, "mellanox.net", """\
vendid=0x2c9
devid=0xbd36
switchguid=0x100(100)
Switch 36 "S-1" # "is4"
[1] "H-1"[1](11)

vendid=0x2c9
devid=0x1003
caguid=0x10
Ca 1 "H-1" # "node-1"
[1](11) "S-1"[1]
""")
    subnet = fabric(net)
    subnet.start_opensm("node-1")
    lid = re.search(r'"is4" lid (\d+)|"is4".* lid (\d+)',
                    subnet.run("node-1", "ibswitches").stdout)
    lid = lid[1] or lid[2]
    text = subnet.run("node-1", "vendstat", "-N", lid).stdout
    assert re.search(r"hw_dev_rev|HW", text), text
    text = subnet.run("node-1", "smpquery", "mepi", lid, "1").stdout
    assert "StateChangeEnable" in text or "LinkSpeed" in text, text
