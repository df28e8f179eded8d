"""A completion queue has fewer entries than requests may complete.

https://github.com/ROCm/rccl/pull/1374
https://github.com/ofiwg/libfabric/pull/4913

The queue overruns: completions are lost, and the queue pair is in error.
"""

from pair import connect, e, main, pair


def program(mended):
    a, b = pair(cqes=32 if mended else 4)
    connect(a, b)
    for _ in range(8):
        a.write(b.memory)
    done = 0
    while done < 8:
        count, completions = a.cq.poll(1)
        if count and completions[0].status != e.IBV_WC_SUCCESS:
            return False
        done += count
        state = a.qp.query(e.IBV_QP_STATE)[0].qp_state
        if count == 0 and state == e.IBV_QPS_ERR:
            return False
    return True


main(program)
