"""Messages of the communication manager in a capture, field by field, as tshark
reads them."""

import subprocess
import xml.etree.ElementTree

import this_machine

COMMUNICATION = 7  # the class
# Attribute IDs.
KINDS = {"REQ": 0x10, "REJ": 0x12, "REP": 0x13, "RTU": 0x14, "DREQ": 0x15,
         "DREP": 0x16, "SIDR_REQ": 0x17, "SIDR_REP": 0x18}


def read(file, kind):
    """The first message of this kind from each LID: of each a dictionary from a
    field's name to its bytes, all of its places one after the other."""
    wanted = (f"infiniband.mad.mgmtclass == {COMMUNICATION} &&"
              f" infiniband.mad.attributeid == {KINDS[kind]}")
    text = subprocess.run(
        [this_machine.command("tshark"), "-n", "-r", file, "-Y", wanted, "-T",
         "pdml"], check=True, capture_output=True).stdout
    first = {}
    for packet in xml.etree.ElementTree.fromstring(text).iter("packet"):
        fields = _fields(packet)
        first.setdefault(fields["infiniband.lrh.slid"][0], fields)
    return list(first.values())


def data(message):
    """The bytes behind the header of a MAD that tshark does not know."""
    return bytearray.fromhex(message["infiniband.smplid.smpdata"][0])


def _fields(packet):
    fields = {}
    for field in packet.iter("field"):
        name = field.get("name")
        # Those that hold others have a value that is the others'.
        leaf = field.find("field") is None
        if not leaf or not name.startswith("infiniband."):
            continue
        fields.setdefault(name, []).append(field.get("value", ""))
    return fields


def differences(one, other, expected):
    """The fields that differ, or that only one has, with their values; those
    that are `expected` to aside."""
    return {name: (one.get(name), other.get(name))
            for name in one.keys() | other.keys()
            if name not in expected and one.get(name) != other.get(name)}
