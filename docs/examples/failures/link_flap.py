"""After a link has been down, the connection is used as if nothing had been.

https://github.com/kvcache-ai/Mooncake/issues/3596
https://github.com/ofiwg/libfabric/issues/7803

A queue pair whose retries are used up is in error for good: both ends have to
reset it, and what was not acknowledged has to be sent again.
"""

from pair import connect, e, ibemu, main, pair, reset


def program(mended):
    a, b = pair()
    connect(a, b)
    ibemu("link", "node-2/1", "down")
    a.write(b.memory)
    if a.status() != e.IBV_WC_RETRY_EXC_ERR:
        return False
    ibemu("link", "node-2/1", "up")
    if mended:
        reset(a, b)
        connect(a, b)
    a.write(b.memory)
    return a.status() == e.IBV_WC_SUCCESS


main(program)
