"""A cached registration lacks a right that is needed later.

https://github.com/openucx/ucx/pull/9771
https://github.com/ofiwg/libfabric/issues/7191

The region was registered for reads and writes; an atomic operation of the peer
needs one right more.
"""

from pair import ALL, connect, e, main, pair, SendWR


def program(mended):
    a, b = pair(access=ALL if mended else ALL & ~e.IBV_ACCESS_REMOTE_ATOMIC)
    connect(a, b)
    wr = SendWR(opcode=e.IBV_WR_ATOMIC_FETCH_AND_ADD, num_sge=1,
                sg=[a.sge(8)])
    wr.set_wr_atomic(b.mr.rkey, b.mr.buf, 1, 0)
    a.qp.post_send(wr)
    return a.status() == e.IBV_WC_SUCCESS


main(program)
