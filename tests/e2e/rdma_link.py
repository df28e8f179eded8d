#!/usr/bin/python3
"""Stands in for `rdma link show -j` of iproute2, which asks the ib_core of this
machine's kernel, and fails where there is none: the same of the adapters in
/sys/class/infiniband.  As those of qib, they have no network interface there, so
there is no "netdev"."""

import json
import pathlib

links = []
for index, device in enumerate(
        sorted(pathlib.Path("/sys/class/infiniband").iterdir())):
    for port in sorted((device / "ports").iterdir()):
        state = (port / "state").read_text().split()[1]
        links.append({"ifindex": index, "ifname": device.name,
                      "port": int(port.name), "state": state})
print(json.dumps(links))
