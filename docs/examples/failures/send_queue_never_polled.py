"""Unsignaled sends fill the send queue, and ibv_post_send() returns ENOMEM.

https://github.com/ofiwg/libfabric/pull/1802
https://github.com/Derecho-Project/derecho/issues/57

Its entries are free again when a completion that came after them was polled.
Without a signaled request now and then, none comes.
"""

from errno import ENOMEM
from pair import PyverbsRDMAError, connect, e, main, pair


def program(mended):
    a, b = pair(signal_all=0)
    connect(a, b)
    for number in range(40):
        b.receive()
        signaled = e.IBV_SEND_SIGNALED if mended and number % 8 == 7 else 0
        try:
            a.send(flags=signaled)
        except PyverbsRDMAError as error:
            return error.error_code != ENOMEM
        b.status()
        if signaled:
            a.status()
    return True


main(program)
