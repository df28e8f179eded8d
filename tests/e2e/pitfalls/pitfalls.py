"""pitfalls.py RULE broken|mended: does what `ibemu run --lint` tells of by that
rule, or the same well.  Each form works here.  MISTAKES fail here, too, so that
there is no rule for them.  The hosts are those of docs/examples/failures, whose
ends these programs take."""

import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] /
                       "docs/examples/failures"))

from pyverbs.addr import AH
from pyverbs.cq import CQ, CompChannel
from pyverbs.fork import fork_init
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPInitAttr

from pair import AHAttr, connect, e, pair


def no_timeout(mended):
    one_message(*ends(mended, timeout=0))


def no_retries(mended):
    one_message(*ends(mended, retry_cnt=0))


def rd_atomic_differs(mended):
    one_message(*ends(mended, max_rd_atomic=4))


def hidden_stall(mended):
    a, b = pair()
    connect(a, b, rnr_retry=7)
    if not mended:
        subprocess.run(["ibemu", "fault", "add", "qp",
                        f"node-2/{b.qp.qp_num:#x}", "rnr", "nth", "1-3"],
                       stdout=subprocess.DEVNULL, check=True)
    one_message(a, b)


def ends(mended, **broken):
    """A pair of which the first end has these attributes in the broken form."""
    a, b = pair()
    a.qp.to_rts(a.attributes(b, **({} if mended else broken)))
    b.qp.to_rts(b.attributes(a))
    return a, b


def one_message(a, b):
    b.receive()
    a.send()
    a.status()
    b.status()


def never_signaled(mended):
    a, b = pair(signal_all=0, sends=16)
    connect(a, b)
    for number in range(9):
        b.receive()
        a.send(flags=e.IBV_SEND_SIGNALED if mended and number == 0 else 0)
        b.status()


def never_polled(mended):
    a, b = pair(cqes=32)
    connect(a, b)
    for end in (a, b):
        for _ in range(9):
            end.receive()
    for end in (a, b):
        for _ in range(9):
            end.send()
    for _ in range(18):
        b.status()
    if mended:
        a.status()


def pair_with_channel():
    """A connection whose first end has completion events, and their channel."""
    a, b = pair()
    channel = CompChannel(a.context)
    a.cq = CQ(a.context, 32, channel=channel)
    a.qp = QP(a.pd, QPInitAttr(
        qp_type=e.IBV_QPT_RC, scq=a.cq, rcq=a.cq, sq_sig_all=1,
        cap=QPCap(max_send_wr=16, max_recv_wr=16)))
    connect(a, b)
    return a, b, channel


def late_arm(mended):
    a, b, channel = pair_with_channel()
    if mended:
        a.cq.req_notify()
    for end in (a, b):
        end.receive()
    a.send()
    b.status()
    b.send()
    b.status()  # a has it, and the end of its own
    if not mended:
        a.cq.req_notify()
    channel.get_cq_event(a.cq)
    a.cq.ack_events(1)
    a.status()


def ah_leak(mended):
    a, b = pair(qp_type=e.IBV_QPT_UD)
    handles = []
    for _ in range(110):
        handles.append(AH(a.pd, attr=AHAttr(dlid=b.lid, port_num=1)))
        if mended:
            handles.pop().close()
    leave()  # else they would be destroyed


def used_after_fork(mended):
    fork_init()
    a, b = pair()
    connect(a, b)
    b.receive()
    child = os.fork()
    if (child == 0) != mended:
        a.send()
        a.status()
    if child == 0:
        leave()
    os.waitpid(child, 0)


def fork_after_registration(mended):
    if mended:
        fork_init()
    a, b = pair()
    connect(a, b)
    child = os.fork()
    if child == 0:
        leave()
    os.waitpid(child, 0)
    one_message(a, b)


def pkey_index_assumed(mended):
    a, b = pair()
    if mended:
        a.context.query_pkey(1, 0)
    connect(a, b)
    one_message(a, b)


def events_not_acknowledged(mended):
    """A child does it, for one that has to be killed.  It tells on stderr that
    it waits, or ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 2)
        get_an_event(mended)
        leave()
    os.close(writing)
    os.write(2, os.read(reading, 4096))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def get_an_event(mended):
    a, b, channel = pair_with_channel()
    a.cq.req_notify()
    one_message(a, b)
    # pyverbs acknowledges at the end what it has got for the right queue.
    try:
        channel.get_cq_event(a.cq if mended else CQ(a.context, 32))
    except PyverbsRDMAError:
        pass
    a.qp.close()
    a.cq.close()


def inline_beyond_the_granted(mended):
    a, b = pair()
    connect(a, b)
    b.receive()
    try:
        a.send(flags=e.IBV_SEND_SIGNALED | (0 if mended else e.IBV_SEND_INLINE))
    except PyverbsRDMAError:
        return
    a.status()


def key_of_memory_that_is_gone(mended):
    a, b = pair()
    connect(a, b)
    remote = b.memory
    if not mended:
        b.mr.close()
    a.write(remote)
    a.status()


def lid_that_is_gone(mended):
    a, b = pair()
    if not mended:
        subprocess.run(["ibemu", "console"], input='Baselid "node-2"[1] 77\n',
                       text=True, stdout=subprocess.DEVNULL, check=True)
    connect(a, b)
    b.receive()
    a.send()
    a.status()


def error_that_nobody_polls(mended):
    a, b = pair()
    connect(a, b)
    address, key = b.memory
    a.write((address, key if mended else key ^ 0x100))
    while not mended and a.qp.query(
            e.IBV_QP_STATE)[0].qp_state != e.IBV_QPS_ERR:
        pass


def more_than_the_device_says(mended):
    a, _ = pair()
    most = a.context.query_device().max_cqe
    try:
        CQ(a.context, most if mended else most + 1)
    except PyverbsRDMAError:
        pass


def leave():
    sys.stdout.flush()
    os._exit(0)


print(sys.argv[1], sys.argv[2], flush=True)
globals()[sys.argv[1].replace("-", "_")](sys.argv[2] == "mended")
