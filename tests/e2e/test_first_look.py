"""`ibemu run` without options: one host with one active port."""

import ipaddress
import re
import shutil

import pytest

from harness import ROOT
from profiles import usual

pytestmark = pytest.mark.both_accounts


def test_ibstat_shows_one_active_port(account):
    text = account.run("ibemu", "run", "--", "ibstat").stdout
    assert re.findall(r"^CA '(.*)'$", text, re.M) == ["ibemu0"]
    assert "Number of ports: 1" in text
    assert "State: Active" in text
    assert "Physical state: LinkUp" in text
    assert "Link layer: InfiniBand" in text
    assert int(re.search(r"Rate: (\d+)", text)[1]) in (40, 56, 100, 200, 400)


def test_the_tools_agree_on_what_they_see(account):
    def see(*command):
        return account.run("ibemu", "run", "--", *command).stdout

    ibstat = see("ibstat")
    lid = int(re.search(r"Base lid: (\d+)", ibstat)[1])
    guid = re.search(r"Port GUID: 0x([0-9a-f]{16})", ibstat)[1]
    rate = re.search(r"Rate: (\d+)", ibstat)[1]
    gid = "fe80:0000:0000:0000:" + ":".join(re.findall("....", guid))

    assert see("ibstat", "-l").split() == ["ibemu0"]
    assert see("ibstat", "-p").split() == [f"0x{guid}"]

    ibstatus = see("ibstatus")
    assert "Infiniband device 'ibemu0' port 1 status:" in ibstatus
    assert re.search(rf"default gid:\s+{gid}\n", ibstatus)
    assert re.search(rf"base lid:\s+{lid:#x}\n", ibstatus)
    assert re.search(r"state:\s+4: ACTIVE\n", ibstatus)
    assert re.search(r"phys state:\s+5: LinkUp\n", ibstatus)
    assert re.search(rf"rate:\s+{rate} Gb/sec", ibstatus)

    ibaddr = see("ibaddr")
    assert f"LID start 0x{lid:x} end 0x{lid:x}" in ibaddr
    shown = re.search(r"GID (\S+)", ibaddr)[1]
    assert ipaddress.ip_address(shown) == ipaddress.ip_address(gid)


def test_lstopo_finds_the_adapter_on_its_pci_bus(account):
    text = account.run("ibemu", "run", "--", "lstopo-no-graphics",
                       "--of", "console").stdout
    assert re.search(r'OpenFabrics "ibemu0"', text)
    assert f"({usual().kind})" in text


def test_the_class_directory_can_be_walked_to_its_end(account):
    listing = account.run("ibemu", "run", "--", "ls", "-lR", "-L",
                          "/sys/class/infiniband/ibemu0/ports").stdout
    assert "/sys/class/infiniband/ibemu0/ports/1/counters:" in listing
    links = account.run("ibemu", "run", "--", "ls", "-l",
                        "/sys/class/infiniband").stdout
    assert re.search(r"ibemu0 -> \.\./\.\./devices/pci", links)
    real = account.run("ibemu", "run", "--", "readlink", "-e",
                       "/sys/class/infiniband/ibemu0").stdout
    assert real.startswith("/sys/devices/pci")


@pytest.mark.plain_account
def test_every_file_of_the_tree_can_be_read_or_says_why_not(account):
    script = r"""
        find -L /sys/class/infiniband/ibemu0/ /sys/class/infiniband_mad/ \
            -maxdepth 6 -type f -not -path '*/subsystem/*' \
            -not -path '*/driver/*' -not -path '*/device/*' | sort | uniq |
        while read -r file; do
            text=$(tr -d '\0' <"$file" 2>&1) || { echo "FAILED $file $text"; }
            echo "$file=$text"
        done"""
    text = account.run("ibemu", "run", "--", "sh", "-c", script).stdout
    failed = [line for line in text.splitlines() if line.startswith("FAILED")]
    # Linux answers EINVAL for the network device of a GID without one.
    assert all("/gid_attrs/" in line for line in failed), failed[:5]
    assert "/ports/1/state=4: ACTIVE" in text
    assert "/infiniband_mad/abi_version=5" in text


def test_a_node_description_written_to_sysfs_reaches_the_fabric(account):
    done = account.run(
        "ibemu", "run", "--", "sh", "-c",
        "echo -n renamed >/sys/class/infiniband/ibemu0/node_desc && "
        "cat /sys/class/infiniband/ibemu0/node_desc && smpquery -D nodedesc 0")
    assert done.stdout.splitlines()[0] == "renamed"
    assert re.search(r"Node Description:\.*renamed", done.stdout)


@pytest.mark.plain_account
def test_the_demo_of_the_readme_comes_to_its_end(account, programs):
    demo = shutil.copy(ROOT / "tools/demo", programs / "demo")
    for _ in range(5):  # the tools are not to depend on who is faster
        text = account.run(demo, programs / "ibemu").stdout
        assert "SUBNET UP" in text
        assert "44 NodeRecords from opensm over RMPP" in text
