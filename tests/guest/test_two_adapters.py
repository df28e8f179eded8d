"""Two modelled adapters at the ends of one wire: ibemu's own driver has one, a
guest's kernel the other."""

from harness import HcaFabric
from mlx4_guest import (CLASS, MODULES, NETWORK, THIS_MACHINE, complaints,
                        connect, load, port_guid, state)

PORT = "18616"  # of TCP; other tests may have the usual one


def test_our_driver_and_linuxs_talk_over_one_wire(fabric, plug):
    lab = fabric("back-to-back", kind=HcaFabric, sm="none")
    with plug(lab, "node-2", machine=NETWORK, modules=MODULES,
              programs=["smpquery", "sminfo", "ibv_rc_pingpong"]) as guest:
        load(guest)
        connect(guest)

        def ours(*words):
            return lab.run("node-1", *words).stdout

        # By directed routes, from each end to the other.
        own = port_guid(ours("smpquery", "-D", "nodeinfo", "0"))
        guests = port_guid(guest.say("smpquery -D nodeinfo 0"))
        assert own != guests
        assert port_guid(ours("smpquery", "-D", "nodeinfo", "0,1")) == guests
        assert port_guid(guest.say("smpquery -D nodeinfo 0,1")) == own
        assert state(guest) == "INIT"

        # Our end configures the subnet, and the guest hears of it.
        lab.start_opensm("node-1")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        assert "State: Active" in ours("ibstat")
        assert "SMINFO_MASTER" in guest.say("sminfo")
        lid = str(int(guest.say(f"cat {CLASS}/ports/1/lid"), 16))
        assert port_guid(ours("smpquery", "nodeinfo", lid)) == guests

        # Memory goes from each to the other, and is looked at.
        run = ["ibv_rc_pingpong", "-p", PORT, "-n", "300", "-s", "4096", "-c"]
        server = lab.start("node-1", "stdbuf", "-oL", *run)
        server.wait_for("local address")
        client = guest.say(" ".join([*run, THIS_MACHINE]))
        assert server.wait() == 0, server.output
        for said in (client, server.output):
            assert "300 iters in" in said
            assert "invalid data" not in said
        assert complaints(guest) == []
