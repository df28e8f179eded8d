"""What the tests of an ibemud that runs in a guest do there."""

from mlx4_guest import port_guid

MODULES = ["fuse", "overlay"]
RUN = "ibemu run --fabric=/tmp/ibemud.sock -- "


def start_daemon(guest, words):
    """With these words of --backend=hca; what it said."""
    for module in MODULES:
        guest.load(module)
    return start(guest, f"ibemud --backend=hca {words}"
                 " --socket=/tmp/ibemud.sock", "ready")


def start(guest, command, word):
    """Leaves a program in the background when it has said `word`, and its
    number in /tmp/pid; what it said."""
    # What an earlier one said goes first: the new one has yet to start.
    guest.say(f"rm -f /tmp/said; {command} > /tmp/said 2>&1 &"
              " echo $! > /tmp/pid")
    guest.until(f"grep {word} /tmp/said || ! kill -0 $(cat /tmp/pid)")
    said = guest.say("cat /tmp/said")
    assert word in said, said
    return said


def join(guest, lab):
    """The adapter is wired to node-1 of this simulated subnet, which configures
    it; its port's GUID."""
    here = port_guid(guest.say(RUN + "smpquery -D nodeinfo 0"))
    there = port_guid(guest.say(RUN + "smpquery -D nodeinfo 0,1"))
    ask = ("node-1", "smpquery", "-D", "nodeinfo")
    assert port_guid(lab.run(*ask, "0").stdout) == there != here
    assert port_guid(lab.run(*ask, "0,1").stdout) == here
    assert "State: Initializing" in guest.say(RUN + "ibstat")
    lab.start_opensm("node-1")
    guest.until(RUN + "ibstat | grep 'State: Active'")
    return here


def end(guest):
    """The program whose number is in /tmp/pid, as it should end."""
    guest.say("kill $(cat /tmp/pid)")
    guest.until("! kill -0 $(cat /tmp/pid)")


def kill(guest):
    guest.say("kill -9 $(cat /tmp/pid)")
    guest.until("! kill -0 $(cat /tmp/pid)")
