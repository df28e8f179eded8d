"""A network of its own for each process that runs tests, so that several run
side by side: most programs of the field listen on one fixed port."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def enter():
    """For the calling thread and what it starts: a loopback interface and
    nothing else.  Needs root."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare(CLONE_NEWNET): {os.strerror(number)}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        # struct ifreq: a name of 16 bytes, then the flags.
        fcntl.ioctl(some, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
