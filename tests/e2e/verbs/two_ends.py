"""two_ends.py OPERATION COUNT: a queue pair on each of two adapters, and what
becomes of COUNT requests, as a line of JSON.

For tests of faults: it runs on both hosts at once (ibemu run --host=A --host=B),
so there is nothing to be arranged between processes.  OPERATION is one of:

  send, read, write  of a connection
  large     a write of two packets
  events    a send that the second end has armed its queue for
  datagram  numbered by immediate data; one more without it is the last.  It is
            told whether the process has rings
  regions   COUNT registrations
  shared    a queue pair with a shared receive queue enters the error state
  hold      the second end waits for what happens to a receive request
  migrate   both have an alternate path by their second ports; messages until
            the first one has taken it
  recover   the first one waits until its send queue is in error, sends a
            datagram, mends the queue and sends another
"""

import json
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

MEMORY = 4096  # bytes
SIZE = 64  # of a message
GRH = 40
Q_KEY = 0x1234
TIMEOUT = 13  # 34 ms: on a busy machine an answer takes its time
ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
          e.IBV_ACCESS_REMOTE_READ)


class End:
    def __init__(self, device, kind):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.channel = CompChannel(self.context)
        self.cq = CQ(self.context, 1000, channel=self.channel)
        self.mr = MR(self.pd, MEMORY, ACCESS)
        self.mr.write(bytes(MEMORY), MEMORY)  # each run sends the same bytes
        capacity = QPCap(max_send_wr=200, max_recv_wr=300)
        self.qp = QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq,
                                         cap=capacity, sq_sig_all=1))
        self.lid = self.context.query_port(1).lid
        self.completions = []
        self.immediates = []  # of what was received

    def address(self):
        return AHAttr(dlid=self.lid, port_num=1)

    def connect(self, peer):
        attr = QPAttr(port_num=1)
        attr.qkey = Q_KEY
        attr.qp_access_flags = ACCESS
        attr.dest_qp_num = peer.qp.qp_num
        attr.ah_attr = peer.address()
        attr.path_mtu = e.IBV_MTU_2048
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.min_rnr_timer = 1
        attr.timeout = TIMEOUT
        attr.retry_cnt = attr.rnr_retry = 2
        self.qp.to_rts(attr)

    def sge(self, size=SIZE):
        return SGE(self.mr.buf, size, self.mr.lkey)

    def receive(self, number, size=SIZE):
        self.qp.post_recv(RecvWR(wr_id=number, sg=[self.sge(size)], num_sge=1))

    def poll(self):
        for wc in self.cq.poll(100)[1]:
            self.completions.append([wc.wr_id, wc.status, wc.vendor_err])
            if wc.wc_flags & e.IBV_WC_WITH_IMM:
                self.immediates.append(wc.imm_data)
        return len(self.completions)

    def state(self):
        return self.qp.query(e.IBV_QP_STATE)[0].qp_state


OPCODES = {"send": e.IBV_WR_SEND, "events": e.IBV_WR_SEND,
           "read": e.IBV_WR_RDMA_READ, "write": e.IBV_WR_RDMA_WRITE,
           "large": e.IBV_WR_RDMA_WRITE}


def exchange(operation, count):
    a, b = End("ibemu0", e.IBV_QPT_RC), End("ibemu1", e.IBV_QPT_RC)
    a.connect(b)
    b.connect(a)
    is_send = OPCODES[operation] == e.IBV_WR_SEND
    for number in range(count if is_send else 0):
        b.receive(number)
    for number in range(count):
        if operation == "events":
            b.cq.req_notify()
        text = b"%06d" % number
        if operation == "read":
            b.mr.write(text, len(text))
        else:
            a.mr.write(text, len(text))
        size = MEMORY if operation == "large" else SIZE
        work = SendWR(wr_id=number, num_sge=1, sg=[a.sge(size)],
                      opcode=OPCODES[operation])
        if not is_send:
            work.set_wr_rdma(b.mr.rkey, b.mr.buf)
        a.qp.post_send(work)
        while a.poll() <= number:
            pass
        if a.completions[-1][1] != e.IBV_WC_SUCCESS:
            break
        end = a if operation == "read" else b
        assert end.mr.read(len(text), 0) == text
    b.poll()
    return {"a": a.completions, "b": b.completions, "states":
            [a.state(), b.state()]}


def send_datagrams(count):
    a, b = End("ibemu0", e.IBV_QPT_UD), End("ibemu1", e.IBV_QPT_UD)
    a.connect(b)
    b.connect(a)
    target = AH(a.pd, attr=b.address())
    for number in range(2 * count + 1):  # some may come twice
        b.receive(number, SIZE + GRH)
    for number in range(count + 1):
        opcode = e.IBV_WR_SEND if number == count else e.IBV_WR_SEND_WITH_IMM
        work = SendWR(wr_id=number, num_sge=1, sg=[a.sge()], opcode=opcode,
                      imm_data=number)
        work.set_wr_ud(target, b.qp.qp_num, Q_KEY)
        a.qp.post_send(work)
        while a.poll() <= number:
            pass
    while b.poll() == len(b.immediates):
        pass
    with open("/proc/self/maps", encoding="ascii") as maps:
        return {"arrived": b.immediates,
                "rings": any("memfd:ibemu-rings" in line for line in maps)}


def register(count):
    context = Context(name="ibemu0")
    pd = PD(context)
    numbers, seconds = [], []
    for _ in range(count):
        begin = time.monotonic()
        try:
            MR(pd, 4096, ACCESS).close()
            numbers.append(0)
        except PyverbsRDMAError as error:
            numbers.append(error.error_code)
        seconds.append(time.monotonic() - begin)
    return {"errno": numbers, "seconds": seconds}


def share():
    context = Context(name="ibemu0")
    pd = PD(context)
    queue = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=10)))
    cq = CQ(context, 10)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, srq=queue,
                           cap=QPCap(max_recv_wr=0)))
    qp.to_init(QPAttr(port_num=1))
    qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    return {}


def hold():
    a, b = End("ibemu0", e.IBV_QPT_RC), End("ibemu1", e.IBV_QPT_RC)
    a.connect(b)
    b.connect(a)
    b.receive(1)
    print(f"ready {b.qp.qp_num:#x}", flush=True)
    while not b.poll():
        pass
    event = b.context.get_async_event()
    told = {"b": b.completions, "event": event.event_type, "state": b.state()}
    event.ack()
    return told


def recover():
    a, b = End("ibemu0", e.IBV_QPT_UD), End("ibemu1", e.IBV_QPT_UD)
    a.connect(b)
    b.connect(a)
    target = AH(a.pd, attr=b.address())
    b.receive(1, SIZE + GRH)
    print(f"ready {a.qp.qp_num:#x}", flush=True)
    while a.state() != e.IBV_QPS_SQE:
        pass
    for number in range(2):
        work = SendWR(wr_id=number, num_sge=1, sg=[a.sge()])
        work.set_wr_ud(target, b.qp.qp_num, Q_KEY)
        a.qp.post_send(work)
        while a.poll() <= number:
            pass
        a.qp.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE)
    while not b.poll():
        pass
    return {"a": a.completions, "b": b.completions}


def migrate():
    a, b = End("ibemu0", e.IBV_QPT_RC), End("ibemu1", e.IBV_QPT_RC)
    a.connect(b)
    b.connect(a)
    for end, peer in ((a, b), (b, a)):
        path = QPAttr()
        path.alt_ah_attr = AHAttr(dlid=peer.context.query_port(2).lid,
                                  port_num=2)
        path.alt_port_num = 2
        path.alt_timeout = TIMEOUT
        path.path_mig_state = e.IBV_MIG_REARM
        end.qp.modify(path, e.IBV_QP_ALT_PATH | e.IBV_QP_PATH_MIG_STATE)
    number = 0

    def migration():
        return a.qp.query(e.IBV_QP_PATH_MIG_STATE)[0].path_mig_state

    while (state := migration()) != e.IBV_MIG_MIGRATED:
        b.receive(number)
        a.qp.post_send(SendWR(wr_id=number, num_sge=1, sg=[a.sge()]))
        while a.poll() <= number or b.poll() <= number:
            pass
        number += 1
        if state == e.IBV_MIG_ARMED and number == 2:
            print(f"armed {a.qp.qp_num}", flush=True)
    told = {"numbers": [number for number, _, _ in b.completions]}
    for name, end in (("a", a), ("b", b)):
        # The end whose link went heard of that first.
        while (event := end.context.get_async_event()).event_type != \
                e.IBV_EVENT_PATH_MIG:
            event.ack()
        told[name] = {"statuses": sorted({status for _, status, _
                                          in end.completions}),
                      "port": end.qp.query(e.IBV_QP_PORT)[0].port_num}
        event.ack()
    return told


def main():
    operation, count = sys.argv[1], int(sys.argv[2])
    if operation == "regions":
        told = register(count)
    elif operation == "datagram":
        told = send_datagrams(count)
    elif operation == "shared":
        told = share()
    elif operation == "hold":
        told = hold()
    elif operation == "migrate":
        told = migrate()
    elif operation == "recover":
        told = recover()
    else:
        told = exchange(operation, count)
    print(json.dumps(told), flush=True)


main()
