"""A network of machines: each is a network namespace with a TUN device, between
which packets go by this process, late, or not at all.  Kernels without netem
(and who has no right to load it) have nothing else for that.

As a program, `network.py ADDRESS FD`: makes one machine's device in its own
namespace, sends its descriptor to FD, and waits there for the end."""

import contextlib
import dataclasses
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

TUNSETIFF = 0x400454ca
IFF_TUN, IFF_NO_PI = 1, 0x1000
PREFIX = "10.99.0."
LONGEST = 65536


def begins_a_connection(packet):
    """A SYN of TCP over IPv4."""
    flags = packet[(packet[0] & 15) * 4 + 13] if packet[9] == socket.IPPROTO_TCP else 0
    return flags & 0x12 == 0x02


def checksum(data):
    """That of IPv4 and TCP."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def as_reset(packet):
    """A packet of TCP over IPv4 that ends its connection where it arrives, and at
    the sender with its next one."""
    ip, tcp = bytearray(packet[:20]), bytearray(packet[20:40])
    ip[0], ip[2:4], ip[10:12] = 0x45, (40).to_bytes(2, "big"), bytes(2)
    ip[10:12] = checksum(ip).to_bytes(2, "big")
    tcp[12:14], tcp[16:20] = bytes([0x50, 0x14]), bytes(4)  # ACK and RST
    pseudo = ip[12:20] + bytes([0, socket.IPPROTO_TCP, 0, 20])
    tcp[16:18] = checksum(pseudo + tcp).to_bytes(2, "big")
    return bytes(ip + tcp)


def ports(packet):
    """Of TCP over IPv4 without options; none of what is anything else."""
    if packet[0] != 0x45 or packet[9] != socket.IPPROTO_TCP:
        return set()
    return set(struct.unpack("!2H", packet[20:24]))


class Machine:
    """A network namespace, as long as this lives."""

    def __init__(self, number):
        self.address = f"{PREFIX}{number}"
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                ["unshare", "--net", sys.executable, "-B", __file__,
                 self.address, str(theirs.fileno())],
                pass_fds=[theirs.fileno()])
        _, (self.tun,), _, _ = socket.recv_fds(self._line, 1, 1)

    def inside(self, account):
        """Whose programs are on this machine."""
        return dataclasses.replace(account, prefix=[
            "nsenter", f"--net=/proc/{self._process.pid}/ns/net",
            *account.prefix])

    def end(self):
        self._line.close()
        self._process.wait()
        os.close(self.tun)


class Network:
    """Carries packets until the end of the `with`.  loss: the share of them that
    is lost; delay: seconds that each takes; overtaken: the share of them that
    takes twice as long, so that others overtake them; `cut` has the machines
    that are cut off (cut_off(): for a time), and `apart` those that are not cut
    off, but from each other; `closed` has those to which nobody can connect;
    `reset` has the ports of TCP whose connections end when they send something,
    and `only`, if there are any, those whose packets alone are carried;
    `heard` is called with each packet.  All may change at any time."""

    def __init__(self, machines, seed=1):
        self.machines = [Machine(number + 1) for number in range(machines)]
        self.be_good()
        self.cut, self.apart, self.closed = set(), set(), set()
        self.reset, self.only = set(), set()
        self._cut_until = {}
        self.heard = lambda packet: None
        self._random = random.Random(seed)
        self._under_way = []  # a heap of (when, number, machine, packet)
        self._carried = 0
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._carry)

    def be_good(self):
        self.loss = self.delay = self.overtaken = 0

    def cut_off(self, machine, seconds):
        self._cut_until[machine] = time.monotonic() + seconds

    def _is_cut(self, machine):
        return (machine in self.cut
                or time.monotonic() < self._cut_until.get(machine, 0))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        os.close(self._ended)
        self._thread.join()
        os.close(self._end)
        for machine in self.machines:
            machine.end()

    def _carry(self):
        by_device = {machine.tun: machine for machine in self.machines}
        poller = select.poll()
        for descriptor in (self._end, *by_device):
            poller.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poller.poll(self._milliseconds()):
                if descriptor == self._end:
                    return
                self._take(by_device[descriptor], os.read(descriptor, LONGEST))
            self._deliver()

    def _take(self, sender, packet):
        is_ipv4 = packet[0] >> 4 == 4
        number = packet[19] - 1 if is_ipv4 else -1
        if not 0 <= number < len(self.machines):
            return
        receiver = self.machines[number]
        ends = {sender, receiver}
        if (any(map(self._is_cut, ends)) or ends <= self.apart
                or receiver in self.closed and begins_a_connection(packet)
                or self.only and not self.only & ports(packet)):
            return
        self.heard(packet)
        if self._random.random() < self.loss:
            return
        if self.reset & ports(packet):
            packet = as_reset(packet)
        delay = self.delay
        if self._random.random() < self.overtaken:
            delay *= 2
        self._carried += 1
        heapq.heappush(self._under_way, (time.monotonic() + delay, self._carried,
                                         receiver, packet))

    def _milliseconds(self):
        if not self._under_way:
            return None
        return max(0, (self._under_way[0][0] - time.monotonic()) * 1000)

    def _deliver(self):
        while self._under_way and self._under_way[0][0] <= time.monotonic():
            _, _, receiver, packet = heapq.heappop(self._under_way)
            with contextlib.suppress(BlockingIOError):
                os.write(receiver.tun, packet)


def main(address, line):
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sh22x", b"lan", IFF_TUN | IFF_NO_PI))
    for command in ("link set lo up", f"address add {address}/24 dev lan",
                    "link set lan up"):
        subprocess.run(["ip", *command.split()], check=True)
    with socket.socket(fileno=line) as other:
        socket.send_fds(other, [b"x"], [tun])
        os.close(tun)
        other.recv(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
