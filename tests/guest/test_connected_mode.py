"""IPoIB's connected mode between a guest, whose kernel knows it, and a run of
ours."""

import pytest

from harness import Background
from rdma_cm_ends import MODULES, GuestEnd, HostEnd

LONG = 60000  # bytes of a ping, of which a datagram takes 2 KiB


class Ends:
    """Both, and the subnet."""

    def __init__(self, lab, guest):
        self.lab = lab
        self.guest, self.host = GuestEnd(guest), HostEnd(lab)
        self.guest.bring_up()

    def by_network(self, *command, mode):
        """The command line of a program on our host, with a network."""
        return [*self.lab.on(self.host.node)[:-1], f"--net{mode}", "--",
                *command]


@pytest.fixture(scope="module")
def ends(shared_fabric, shared_plug):
    lab = shared_fabric("single-switch:hosts=2", sm="builtin")
    with shared_plug(lab, "node-2", modules=MODULES, programs=[]) as guest:
        made = Ends(lab, guest)
        guest.say("echo connected > /sys/class/net/ib0/mode &&"
                  " ip link set ib0 mtu 65520")
        yield made


def start(ends, mode):
    """A run of our host that goes on."""
    program = Background(ends.lab.account, ends.by_network(
        "sh", "-c", "echo is there; exec sleep 1000", mode=mode))
    program.wait_for("is there")
    return program


def test_the_guest_and_a_run_send_each_other_long_packets(ends):
    guest, host = ends.guest, ends.host
    ours = start(ends, "=connected")
    guest.guest.until(f"ping -c 1 -W 5 -s {LONG} {host.ipv4}")
    said = guest.guest.say(f"ping -c 5 -W 30 -s {LONG} {host.ipv4}")
    assert "5 packets received" in said
    ours.stop()
    # Linux needs seconds to see that its connection to the other run has ended.
    said = ends.lab.account.run(*ends.by_network(
        "sh", "-c", f"until ping -c 1 -W 5 {guest.ipv4} > /dev/null; do :; done;"
        f" ping -M do -c 5 -W 30 -s {LONG} {guest.ipv4} &&"
        # Linux answers Neighbour Discovery by a connection, too.
        f" ping -M do -c 5 -W 30 -s {LONG} {guest.ipv6}",
        mode="=connected")).stdout
    assert said.count(" 5 received") == 2


def test_a_run_in_datagram_mode_is_sent_shorter_packets(ends):
    guest, host = ends.guest, ends.host
    ours = start(ends, "")
    guest.guest.until(f"ping -c 1 -W 5 -s 1000 {host.ipv4}")
    said = guest.guest.say(f"ping -c 5 -W 30 -s 1900 {host.ipv4}")
    assert "5 packets received" in said
    ours.stop()
