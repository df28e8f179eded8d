"""A message comes before the receive request for it was posted.

https://github.com/meta-pytorch/torchcomms/pull/3345
https://github.com/hellas-ai/thunderbolt-ibverbs/pull/71

Who connects first and posts receive requests then leaves a gap in which the
peer may send: RNR_RETRY_EXC_ERR, or, with endless retries, a stall.
"""

from pair import connect, e, main, pair


def program(mended):
    a, b = pair()
    if mended:
        b.qp.to_init(b.attributes(a))
        b.receive()
    connect(a, b, rnr_retry=0)
    a.send()
    return a.status() == e.IBV_WC_SUCCESS


main(program)
