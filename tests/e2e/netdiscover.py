"""Reads ibnetdiscover's text into a set that can be compared."""

import re

NODE = re.compile(r'^(Switch|Ca|Rt)\s+(\d+)\s+"([^"]+)"\s+#\s+"([^"]*)"')
LINK = re.compile(r'^\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]')


def parse(text):
    """Nodes by name with (kind, ports, description), and links as a set of
    frozensets of (name, port)."""
    nodes, links, here = {}, set(), None
    for line in text.splitlines():
        if node := NODE.match(line):
            kind, ports, here, description = node.groups()
            nodes[here] = (kind, int(ports), description)
        elif link := LINK.match(line):
            port, peer, peer_port = link.groups()
            links.add(frozenset([(here, int(port)), (peer, int(peer_port))]))
    return nodes, links
