"""Queues of the modelled adapter, which Linux's driver and its clients go
around more than twice."""

from mlx4_guest import CLASS, NETWORK, connect, load, turns
from netdiscover import parse
from pingpong import play

# With that the kernel thinks that it is to dump another one's memory, finds
# none and goes on; its mlx4_core makes do with few of all objects then.  Else
# the event queue of completions has 65,536 entries, too many for a minute.
FEW_OF_ALL = "elfcorehdr=0x1000000"


def test_every_queue_of_the_kernel(fabric, plug):
    lab = fabric("fat-tree:radix=8,levels=2", sm="builtin")
    lab.start("node-1", "ibping", "-S")
    with plug(lab, "node-2", append=FEW_OF_ALL,
              programs=["ibnetdiscover", "ibping"]) as guest:
        load(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        # Queue pair 0.
        outside = parse(lab.run("node-1", "ibnetdiscover").stdout)
        assert len(outside[0]) == 44
        for _ in range(6):
            inside = parse(guest.say("ibnetdiscover"))
            assert inside[1] == outside[1]
            assert inside[0].keys() == outside[0].keys()
        # Queue pair 1.
        lid = lab.run("node-1", "cat",
                      "/sys/class/infiniband/ibemu0/ports/1/lid").stdout
        assert "1300 received" in guest.say(
            f"ibping -f -c 1300 {int(lid, 16)}")
        words = guest.off()
    found = turns(words)
    # Those of the adapter's events, and of completions.
    assert {("eq", 512), ("eq", 256)} < found.keys()
    assert {kind for kind, _ in found} == {"eq", "cq", "sq", "rq"}
    assert all(use.least > 2 for use in found.values()), found


def test_every_queue_of_programs(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="builtin")
    # Receive queues of each kind of service get a size that the kernel's have
    # not, and so do the queues of completions.
    depths = {"ibv_rc_pingpong": 200, "ibv_uc_pingpong": 100,
              "ibv_ud_pingpong": 900}
    with plug(lab, "node-2", machine=NETWORK,
              programs=[*depths, "ibv_srq_pingpong"]) as guest:
        load(guest)
        connect(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        for program, depth in depths.items():
            play(lab, guest, program, 3 * depth, "-r", str(depth), "-c")
        play(lab, guest, "ibv_srq_pingpong", 600, "-q", "1", "-r", "200")
        words = guest.off()
    found = turns(words)
    # RC twice, and UC; the entries of UD's are larger, so there are fewer.
    sends = {("sq", 64): 3, ("sq", 32): 1}
    receives = {("rq", 256): 1, ("rq", 128): 1, ("rq", 1024): 1,
                ("srq", 256): 1}
    completions = {("cq", 256): 2, ("cq", 128): 1, ("cq", 1024): 1}
    for queue, number in {**sends, **receives, **completions}.items():
        assert found[queue].queues == number, (queue, found)
        assert found[queue].least > 2, (queue, found)
