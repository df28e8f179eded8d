"""Memory is deregistered while the peer may still write to it.

https://github.com/spdk/spdk/issues/1387
https://github.com/aws/aws-ofi-nccl/pull/921

Who ends has to hear first that the peer is done.
"""

from pair import connect, e, main, pair


def program(mended):
    a, b = pair()
    connect(a, b)
    told_to_a = b.memory
    if not mended:
        b.mr.close()
    a.write(told_to_a)
    status = a.status()
    if mended:
        b.mr.close()  # a has said that it is done
    return status == e.IBV_WC_SUCCESS


main(program)
