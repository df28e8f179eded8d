"""Two modelled adapters at the ends of one cable: ibemu's own driver has one, a
guest's kernel the other."""

from guest import at_once, together
from harness import HcaFabric
from ibemud_guest import MODULES as FUSE
from ibemud_guest import RUN, start_daemon
from mlx4_guest import (CLASS, MODULES, NETWORK, OPENSM, THIS_MACHINE, connect,
                        load, port_guid)
from perftest import free_port
from pingpong import check, listeners, play
from test_vfio import IOMMU, VFIO, WORDS, take_over


def exchange_directed_routes(ours, theirs):
    """From each end to the other, by functions that run a command there and
    tell what it said; the GUIDs of the two ports."""
    own = port_guid(ours("smpquery -D nodeinfo 0"))
    other = port_guid(theirs("smpquery -D nodeinfo 0"))
    assert own != other
    assert port_guid(ours("smpquery -D nodeinfo 0,1")) == other
    assert port_guid(theirs("smpquery -D nodeinfo 0,1")) == own
    return own, other


def test_our_driver_and_linuxs_talk_over_one_cable(fabric, plug):
    lab = fabric("back-to-back", kind=HcaFabric, sm="none")
    with plug(lab, "node-2", machine=NETWORK, modules=MODULES,
              programs=["smpquery", "sminfo", "ibv_rc_pingpong"]) as guest:
        load(guest)
        connect(guest)

        def ours(command):
            return lab.run("node-1", *command.split()).stdout

        _, guests = exchange_directed_routes(ours, guest.say)
        guest.until(f"grep INIT {CLASS}/ports/1/state")

        # Our end configures the subnet, and the guest hears of it.
        lab.start_opensm("node-1")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        assert "State: Active" in ours("ibstat")
        assert "SMINFO_MASTER" in guest.say("sminfo")
        lid = int(guest.say(f"cat {CLASS}/ports/1/lid"), 16)
        assert port_guid(ours(f"smpquery nodeinfo {lid}")) == guests

        # Memory goes from each to the other, and is looked at.
        play(lab, guest, "ibv_rc_pingpong", 300, "-s", "4096", "-c")


def test_our_driver_over_vfio_and_linuxs_talk_over_one_cable(
        fabric, plug, stripped):
    """Each in a guest, and only there."""
    lab = fabric("back-to-back", sm="none")
    port = free_port()
    reachable = ["-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{port}-:{port}",
                 "-device", "e1000,netdev=net"]
    command = ["ibv_rc_pingpong", "-p", str(port), "-n", "100", "-s", "4096",
               "-c"]
    with together(
            plug(lab, "node-1", modules=["e1000", *FUSE, *VFIO],
                 programs=["smpquery", "opensm", "ibv_rc_pingpong",
                           *map(stripped, ("cli/ibemu", "cli/ibemud"))],
                 memory="768M", machine=[*IOMMU["machine"], *reachable],
                 append=IOMMU["append"]),
            plug(lab, "node-2", machine=NETWORK,
                 programs=["smpquery", "ibv_rc_pingpong"])) as (ours, linuxs):

        def prepare(guest):
            connect(guest)
            if guest is linuxs:
                load(guest)
            else:
                take_over(guest)
                start_daemon(guest, WORDS)

        at_once(prepare, ours, linuxs)
        exchange_directed_routes(lambda words: ours.say(RUN + words),
                                 linuxs.say)
        assert "INIT" in linuxs.say(f"cat {CLASS}/ports/1/state")

        ours.say(f"{RUN}{OPENSM} --log_file /tmp/opensm.log")
        assert "SUBNET UP" in ours.say("cat /tmp/opensm.log")
        ours.until(f"{RUN}grep ACTIVE"
                   " /sys/class/infiniband/ibemu0/ports/1/state")
        linuxs.until(f"grep ACTIVE {CLASS}/ports/1/state")

        ours.say(f"({RUN}{' '.join(command)}; echo exit status $?)"
                 " > /tmp/server 2>&1 &")
        ours.until(f"grep '{listeners(port)}' /proc/net/tcp*"
                   " || grep 'exit status' /tmp/server")
        client = linuxs.say(" ".join([*command, THIS_MACHINE]))
        ours.until("grep 'exit status' /tmp/server")
        server = ours.say("cat /tmp/server")
        assert "exit status 0" in server
        check(100, client, server)
        assert "faults 0\n" in ours.off()
