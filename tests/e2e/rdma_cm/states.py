"""states.py client|server STATE: takes one end of a connection by address to a
state, prints its process, each state that it has reached and each event that
comes, and waits.  A server that is to be "late" accepts when it gets SIGUSR1."""

import os
import signal
import sys

from pyverbs import enums as e
from pyverbs.cm_enums import rdma_port_space
from pyverbs.cmid import (CMEvent, CMEventChannel, CMID, AddrInfo, ConnParam)
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPCap, QPInitAttr

SERVER, PORT = "198.18.0.1", "7777"
TCP = rdma_port_space.RDMA_PS_TCP
FOREVER = 100_000  # milliseconds
QUEUES = QPInitAttr(qp_type=e.IBV_QPT_RC, cap=QPCap())


class End:
    def __init__(self, last):
        self.last = last
        self.channel = CMEventChannel()
        self.id = CMID(creator=self.channel, port_space=TCP)

    def reach(self, state):
        """Says so; where it is the last, the rest is to listen."""
        print(state, flush=True)
        while state == self.last:
            self.event()

    def event(self):
        """The next one, with its name told."""
        event = CMEvent(self.channel)
        print(event.event_str(), flush=True)
        return event

    def take(self):
        self.event().ack_cm_event()


class Client(End):
    def run(self):
        there = AddrInfo(dst=SERVER, dst_service=PORT, port_space=TCP)
        self.reach("made")
        self.id.resolve_addr(there, FOREVER)
        self.take()
        self.reach("address resolved")
        self.id.resolve_route(FOREVER)
        self.take()
        self.reach("route resolved")
        self.id.create_qp(QUEUES)
        self.id.connect(ConnParam())
        self.reach("asking")
        self.take()
        self.reach("connected")
        self.id.disconnect()
        self.reach("disconnecting")


class Server(End):
    def run(self):
        self.id.bind_addr(AddrInfo(src=SERVER, src_service=PORT, port_space=TCP))
        self.reach("bound")
        self.id.listen(1)
        self.reach("listening")
        request = self.event()
        asked = CMID(creator=request, listen_id=self.id)
        request.ack_cm_event()
        self.reach("asked")
        if self.last == "late":
            signal.sigwait([signal.SIGUSR1])
        try:
            asked.create_qp(QUEUES)
            asked.accept(ConnParam())
        except PyverbsRDMAError as error:
            print(error, flush=True)
            return
        self.reach("accepting")
        self.take()
        self.reach("connected")


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("process", os.getpid(), flush=True)
{"client": Client, "server": Server}[sys.argv[1]](sys.argv[2]).run()
