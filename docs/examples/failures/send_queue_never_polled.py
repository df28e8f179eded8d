"""Unsignaled sends fill the send queue, and ibv_post_send() returns ENOMEM.

https://github.com/ofiwg/libfabric/pull/1802
https://github.com/Derecho-Project/derecho/issues/57

An entry of the queue is free again when a completion that came after it was
polled.  Without a signaled request now and then, none comes.
"""

import errno

from pyverbs.pyverbs_error import PyverbsRDMAError

from pair import connect, e, main, pair


def program(mended):
    a, b = pair(signal_all=0)
    connect(a, b)
    for number in range(40):
        b.receive()
        signaled = mended and number % 8 == 7
        try:
            a.send(flags=e.IBV_SEND_SIGNALED if signaled else 0)
        except PyverbsRDMAError as error:
            return error.error_code != errno.ENOMEM
        b.status()
        if signaled:
            a.status()
    return True


main(program)
