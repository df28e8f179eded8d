"""A connection breaks for a reason that a new connection does not take away.

https://github.com/kvcache-ai/Mooncake/issues/3299

The message is longer than the peer's receive request.  Who reconnects and sends
it again has the same error again.
"""

from pair import connect, e, main, pair, reset


def program(mended):
    a, b = pair()
    for attempt in range(3):
        connect(a, b)
        b.receive(length=2048 if mended else 64)
        a.send(length=2048)
        if a.status() == e.IBV_WC_SUCCESS:
            return True
        reset(a, b)
    return False


main(program)
