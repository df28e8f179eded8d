"""Fifty clients of the machine's devices: clients.py

Each is in read(), poll(), ioctl() or an issm open(), until that ends.  Prints a
line "PID WAY" for each, and "PID WAY: what it got" when it is over.
"""

import fcntl
import os
import select
import struct
import sys

CLIENTS = 50
REGISTER_AGENT, UNREGISTER_AGENT = 0xC01C1B01, 0x40041B02
REGISTRATION = struct.Struct("=I16x3B5x")  # id, QP, class, its version


def read(umad):
    return os.read(umad, 320)


def poll(umad):
    poller = select.poll()
    poller.register(umad, select.POLLPRI)
    return poller.poll()


def ioctl(umad):
    while True:
        agent = fcntl.ioctl(umad, REGISTER_AGENT, REGISTRATION.pack(0, 1, 4, 1))
        fcntl.ioctl(umad, UNREGISTER_AGENT, agent[:4])


def issm(umad):
    return os.open("/dev/infiniband/issm0", os.O_RDWR)


def client(way):
    umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
    print(os.getpid(), way.__name__, flush=True)
    try:
        got = way(umad)
    except OSError as error:
        got = error
    print(f"{os.getpid()} {way.__name__}: {got}", flush=True)


def main():
    # The first open of an issm is let through, the others wait for its close.
    holder = os.open("/dev/infiniband/issm0", os.O_RDWR)
    children = []
    for number in range(CLIENTS):
        child = os.fork()
        if child == 0:
            os.close(holder)
            client((read, poll, ioctl, issm)[number % 4])
            os._exit(0)
        children.append(child)
    return any(os.waitpid(child, 0)[1] for child in children)


if __name__ == "__main__":
    sys.exit(main())
