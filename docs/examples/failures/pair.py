"""Two ends of a connection in one process: the adapters of two hosts."""

import subprocess
import sys

from pyverbs import enums as e
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError  # for who takes it from here
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

ALL = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
       e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC)


class End:
    """One end: everything that a queue pair needs, and the queue pair."""

    def __init__(self, device, qp_type=e.IBV_QPT_RC, size=8192, access=ALL,
                 cqes=64, sends=16, receives=16, signal_all=1):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.mr = MR(self.pd, size, access)
        self.cq = CQ(self.context, cqes)
        self.qp_type = qp_type
        self.qp = QP(self.pd, QPInitAttr(
            qp_type=qp_type, scq=self.cq, rcq=self.cq,
            sq_sig_all=signal_all,
            cap=QPCap(max_send_wr=sends, max_recv_wr=receives,
                      max_send_sge=1, max_recv_sge=1)))
        self.lid = self.context.query_port(1).lid

    def attributes(self, peer, **changed):
        """What takes the queue pair to RTS, towards `peer`."""
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = ALL
        attr.dest_qp_num = peer.qp.qp_num
        attr.ah_attr = AHAttr(dlid=peer.lid, port_num=1, is_global=0)
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.timeout, attr.retry_cnt = 12, 3
        attr.rnr_retry, attr.min_rnr_timer = 3, 12
        for name, value in changed.items():
            setattr(attr, name, value)
        return attr

    def sge(self, length=64, offset=0):
        return SGE(self.mr.buf + offset, length, self.mr.lkey)

    def receive(self, length=64, offset=4096):
        self.qp.post_recv(RecvWR(num_sge=1, sg=[self.sge(length, offset)]))

    def send(self, length=64, flags=e.IBV_SEND_SIGNALED):
        self.qp.post_send(SendWR(num_sge=1, sg=[self.sge(length)],
                                 send_flags=flags))

    @property
    def memory(self):
        """Its memory as a peer names it: address and key."""
        return self.mr.buf, self.mr.rkey

    def write(self, remote, length=64):
        wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1,
                    sg=[self.sge(length)])
        address, key = remote
        wr.set_wr_rdma(key, address)
        self.qp.post_send(wr)

    def status(self):
        """That of the next completion, which is waited for."""
        return self.completion().status

    def completion(self):
        while True:
            count, completions = self.cq.poll(1)
            if count:
                return completions[0]


def pair(**options):
    """Ends at the first adapter and at the second one."""
    names = [device.name.decode() for device in get_device_list()]
    return End(names[0], **options), End(names[1], **options)


def connect(one, other, **changed):
    one.qp.to_rts(one.attributes(other, **changed))
    other.qp.to_rts(other.attributes(one, **changed))


def reset(*ends):
    for end in ends:
        end.qp.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)


def ibemu(*arguments):
    """What an administrator does to the fabric meanwhile."""
    subprocess.run(["ibemu", *arguments], check=True)


def main(program):
    """`program` takes whether it is to be the mended form, and returns whether
    all went well."""
    if sys.argv[1:] not in (["broken"], ["mended"]):
        sys.exit(f"usage: {sys.argv[0]} broken|mended")
    sys.exit(0 if program(sys.argv[1] == "mended") else 1)
