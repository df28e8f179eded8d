"""What a host sees is the same, whether its adapter is simulated at the level of
MADs or a modelled ConnectX-3 that our driver drives by MMIO."""

import re

import netdiscover

PAIR = "single-switch:hosts=2"


def see(lab, host, *command):
    return lab.run(host, *command).stdout


def test_a_host_has_one_active_port(any_fabric):
    lab = any_fabric(PAIR, sm="static")
    text = see(lab, "node-1", "ibstat")
    assert re.findall(r"^CA '(.*)'$", text, re.M) == ["ibemu0"]
    assert "Number of ports: 1" in text
    assert "State: Active" in text
    assert "Physical state: LinkUp" in text
    assert "Link layer: InfiniBand" in text
    lid = int(re.search(r"Base lid: (\d+)", text)[1])
    guid = re.search(r"Port GUID: 0x([0-9a-f]{16})", text)[1]
    assert see(lab, "node-1", "ibstat", "-p").split() == [f"0x{guid}"]
    assert re.search(rf"base lid:\s+{lid:#x}\n",
                     see(lab, "node-1", "ibstatus"))


def test_verbs_say_the_same_of_the_port(any_fabric):
    lab = any_fabric(PAIR, sm="static")
    ibstat = see(lab, "node-1", "ibstat")
    lid = re.search(r"Base lid: (\d+)", ibstat)[1]
    text = see(lab, "node-1", "ibv_devinfo", "-v")
    assert "PORT_ACTIVE (4)" in text
    assert re.search(rf"port_lid:\s+{lid}\n", text)
    guid = re.search(r"Node GUID: 0x([0-9a-f]{16})", ibstat)[1]
    assert re.search(rf"node_guid:\s+{':'.join(re.findall('....', guid))}\n",
                     text)


def test_every_host_discovers_the_whole_subnet(any_fabric):
    lab = any_fabric("fat-tree:radix=4,levels=2", sm="static")
    wanted = netdiscover.parse(
        lab.ibemu("export", "--format=ibnetdiscover").stdout)
    assert len(wanted[0]) > 8
    assert netdiscover.parse(see(lab, "node-1", "ibnetdiscover")) == wanted


def test_a_subnet_manager_of_a_host_brings_the_subnet_up(any_fabric):
    lab = any_fabric(PAIR, sm="none")
    lab.start_opensm("node-1")
    assert "State: Active" in see(lab, "node-1", "ibstat")
    assert "node-2" in see(lab, "node-1", "saquery", "NR")
