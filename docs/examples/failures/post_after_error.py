"""A receive request is posted again for each that completes, errors included.

https://github.com/ydb-platform/nbs/issues/4533
https://github.com/ydb-platform/nbs/issues/2690

In the error state each is flushed at once, so what posts them has no end; an
adapter may also refuse them.
"""

from pair import connect, e, main, pair, QPAttr


def program(mended):
    a, b = pair()
    connect(a, b)
    b.receive()
    b.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    for _ in range(1000):
        count, completions = b.cq.poll(1)
        if count == 0:
            return True
        if completions[0].status == e.IBV_WC_SUCCESS or not mended:
            b.receive()
    return False


main(program)
