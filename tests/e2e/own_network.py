"""A network of its own for each process that runs tests, so that several run
side by side: most programs of the field listen on one fixed port."""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
TUNSETIFF = 0x400454ca
IFF_TUN = 1
SIOCSIFADDR = 0x8916
# Before a command that has no part in what tools/own_networks gives.
WITHOUT_RIGHTS = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--"]
ADDRESS = bytes([192, 0, 2, 1])  # for examples: RFC 5737


def enter():
    """For the calling thread and what it starts: a loopback interface and
    nothing else.  Needs root, or tools/own_networks."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare(CLONE_NEWNET): {os.strerror(number)}")
    interface_ioctl(SIOCSIFFLAGS, b"lo", struct.pack("h", IFF_UP))


def interface_ioctl(request, name, value):
    """An ioctl with a struct ifreq: a name of 16 bytes, then the value."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        fcntl.ioctl(some, request, struct.pack("16s16s8x", name, value))


@contextlib.contextmanager
def one_more_interface():
    """Beside the loopback; it leads nowhere.  Needs the same."""
    with open("/dev/net/tun", "r+b", buffering=0) as tun:
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sh22x", b"more", IFF_TUN))
        interface_ioctl(SIOCSIFADDR, b"more",
                        struct.pack("hxx4s", socket.AF_INET, ADDRESS))
        interface_ioctl(SIOCSIFFLAGS, b"more", struct.pack("h", IFF_UP))
        yield


@contextlib.contextmanager
def more_than_the_loopback():
    """Where that is all there is, one_more_interface()."""
    if [name for _, name in socket.if_nameindex()] == ["lo"]:
        with one_more_interface():
            yield
    else:
        yield
