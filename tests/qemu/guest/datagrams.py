"""Sends to a port of this machine, and says how that fares: datagrams.py PORT"""

import errno
import socket
import sys

try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", int(sys.argv[1])))
        # The second one is told what became of the first.
        client.send(b"1")
        client.send(b"2")
    print("probe: sent")
except OSError as error:
    print(f"probe: {errno.errorcode[error.errno]}")
