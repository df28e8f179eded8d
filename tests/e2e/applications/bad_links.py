"""What is done to the links under applications, and what `ibemu why` tells of
it."""

import re


def lose_acknowledgements(lab):
    """Three that node-2 sends, and three that it receives."""
    lab.ibemu("fault", "add", "qp", "node-2/*", "loss", "opcode", "ack", "nth",
              "3-5")


def check_acknowledgements_were_lost(lab):
    fault, = lab.faults()
    assert (fault["tx"]["lost"], fault["rx"]["lost"]) == (3, 3)
    assert ("\nfault-1 acted 6 times: loss 100% opcode ack nth 3-5\n" in
            lab.ibemu("why", "node-2").stdout)


def reasons(lab, hosts):
    return [lab.ibemu("why", host).stdout for host in hosts]


def check_flaps_are_told(lab, hosts):
    """A link flapped, and `why` knows of packets that it lost, and which fault
    did it."""
    fault, = lab.faults()
    assert fault["cuts"] > 0
    told = reasons(lab, hosts)
    assert any(re.search(
        r"queue pair 0x\w+ sent packets again( \(\d+ times\))?: dropped at "
        r"(switch-1|node-\d)/\d: the (link|port) (was|went) [^\n]*down from "
        r"\S+ (to \S+|on), cut by fault-1\b", one)
        for one in told), told
