"""What libibverbs programs see where adapters are strict: completion events,
full queues, queue pairs that end or fail."""

import pathlib
import subprocess
import textwrap

import pytest

HERE = pathlib.Path(__file__).parent

# Two queue pairs of a process talk to each other.
PRELUDE = """
import errno
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import RecvWR, SGE, SendWR
import pyverbs.enums as e

context = Context(name="ibemu0")
lid = context.query_port(1).lid
pd = PD(context)
mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)

def attributes(qpn, dlid):
    to = QPAttr(port_num=1)
    to.path_mtu = e.IBV_MTU_1024
    to.dest_qp_num = qpn
    to.ah_attr = AHAttr(port_num=1, dlid=dlid, is_global=0)
    to.max_rd_atomic = to.max_dest_rd_atomic = 1
    to.min_rnr_timer, to.timeout, to.retry_cnt, to.rnr_retry = 12, 14, 7, 7
    return to

def make(cq, sends=10, srq=None):
    own = 0 if srq else 10
    cap = QPCap(max_send_wr=sends, max_recv_wr=own, max_send_sge=1,
                max_recv_sge=1)
    return QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap,
                             srq=srq, sq_sig_all=0))

def connect(a, b):
    a.to_rts(attributes(b.qp_num, lid))
    b.to_rts(attributes(a.qp_num, lid))

def receive(queue):
    queue.post_recv(RecvWR(1, 1, [SGE(mr.buf, 64, mr.lkey)]))

def send(qp, flags=e.IBV_SEND_SIGNALED):
    qp.post_send(SendWR(num_sge=1, sg=[SGE(mr.buf, 8, mr.lkey)],
                        send_flags=flags))

def poll(cq, count):
    got = []
    while len(got) < count:
        got += cq.poll(num_entries=16)[1]
    return [completion.status for completion in got]

def errno_of(call):
    try:
        call()
        return "ok"
    except PyverbsRDMAError as error:
        return errno.errorcode[error.error_code]
"""


@pytest.fixture
def play(fabric):
    """Runs a program; what it prints, as words."""
    lab = fabric("single-switch:hosts=1", sm="static")

    def run(program):
        return lab.run("node-1", "timeout", "60", "/usr/bin/python3", "-c",
                       PRELUDE + textwrap.dedent(program)).stdout.split()

    return run


@pytest.fixture(scope="module")
def event_loop(scratch):
    program = scratch / "event_loop"
    if not program.exists():
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
                        program, HERE / "event_loop.c", "-libverbs"],
                       check=True)
    return program


@pytest.mark.parametrize("armed", ["before", "after"])
def test_an_event_loop_hears_of_each_message(fabric, event_loop, armed):
    """As gloo has it: epoll, and a completion channel that does not block."""
    lab = fabric("single-switch:hosts=1", sm="static")
    told = lab.run("node-1", "timeout", "60", event_loop, armed).stdout
    assert told == "50 came, then Resource temporarily unavailable\n"


@pytest.mark.parametrize("solicited", [False, True])
def test_a_queue_that_holds_a_completion_gives_an_event_when_armed(
        play, solicited):
    assert play(f"""
        channel = CompChannel(context)
        quiet, watched = CQ(context, 10), CQ(context, 10, None, channel)
        a, b = make(quiet), make(watched)
        connect(a, b)
        receive(b)
        send(a, e.IBV_SEND_SIGNALED | e.IBV_SEND_SOLICITED)
        poll(quiet, 1)  # then b has the message
        watched.req_notify({solicited})
        channel.get_cq_event(watched)
        watched.ack_events(1)
        print(poll(watched, 1)[0])
    """) == ["0"]


def test_unsignaled_sends_fill_a_queue(play):
    assert play("""
        here, there = CQ(context, 10), CQ(context, 10)
        a, b = make(here, sends=2), make(there)
        connect(a, b)
        for _ in range(4):
            receive(b)
        send(a, 0)
        send(a)
        poll(there, 2)
        print(errno_of(lambda: send(a)))
        poll(here, 1)
        print(errno_of(lambda: send(a)))
    """) == ["ENOMEM", "ok"]


def test_a_queue_pair_takes_its_completions_with_it(play):
    assert play("""
        here, there = CQ(context, 10), CQ(context, 10)
        a, b = make(here), make(there)
        connect(a, b)
        receive(b)
        send(a)
        poll(here, 1)
        b.close()
        print(there.poll(num_entries=16)[0])
    """) == ["0"]


def test_a_queue_pair_whose_completion_queue_overran_is_in_error(play):
    assert play("""
        here, there = CQ(context, 1), CQ(context, 10)
        a, b = make(here), make(there)
        connect(a, b)
        for _ in range(2):
            receive(b)
            send(a)
        for _ in range(2):
            event = context.get_async_event()
            print(event.event_type)
            event.ack()
        print(a.query(e.IBV_QP_STATE)[0].qp_state)
    """) == ["0", "1", "6"]  # CQ_ERR, QP_FATAL; IBV_QPS_ERR


def test_the_last_request_of_a_shared_queue_is_told_of(play):
    assert play("""
        cq = CQ(context, 10)
        srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=10, max_sge=1)))
        a, b = make(cq), make(cq, srq=srq)
        connect(a, b)
        b.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
        event = context.get_async_event()
        print(event.event_type == e.IBV_EVENT_QP_LAST_WQE_REACHED)
        event.ack()
        b.close()
    """) == ["True"]


@pytest.mark.parametrize("qpn, dlid", [(1 << 24, 1), (5, 0xc000)])
def test_a_connection_has_a_single_peer(play, qpn, dlid):
    assert play(f"""
        a = make(CQ(context, 10))
        print(errno_of(lambda: a.to_rts(attributes({qpn}, {dlid}))))
    """) == ["EINVAL"]
