"""resources.py: makes one of each kind of object on ibemu0, says so, and waits
for SIGTERM.  For tests of what `ibemu cq ls` and its like tell."""

import signal

import pyverbs.enums as e
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR

Q_KEY = 0x1234


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    context = Context(name="ibemu0")
    pd = PD(context)
    mr = MR(pd, 8192, e.IBV_ACCESS_LOCAL_WRITE)
    channel = CompChannel(context)
    sends, receives = CQ(context, 10), CQ(context, 20, channel=channel)
    srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=30)))
    for number in range(3):
        srq.post_recv(RecvWR(wr_id=number, sg=[SGE(mr.buf, 64, mr.lkey)],
                             num_sge=1))
    connected = QP(pd, QPInitAttr(
        qp_type=e.IBV_QPT_RC, scq=sends, rcq=receives, srq=srq,
        cap=QPCap(max_send_wr=5)))
    datagrams = QP(pd, QPInitAttr(
        qp_type=e.IBV_QPT_UD, scq=sends, rcq=sends, sq_sig_all=1,
        cap=QPCap(max_send_wr=5, max_recv_wr=7)))
    attr = QPAttr(port_num=1)
    attr.qkey = Q_KEY
    datagrams.to_rts(attr)
    print(f"ready {connected.qp_num:#x} {datagrams.qp_num:#x} {mr.lkey:#x} "
          f"{mr.buf:#x}", flush=True)
    signal.sigwait([signal.SIGTERM])


main()
