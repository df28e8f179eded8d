"""A connection breaks for a reason that a new connection does not take away.

https://github.com/kvcache-ai/Mooncake/issues/3737

The peer has registered its memory anew, so the key that it told once is stale.
Who connects again and keeps the key has the same error again.
"""

from pair import ALL, MR, connect, e, main, pair, reset


def program(mended):
    a, b = pair()
    told_to_a = b.memory
    b.mr.close()
    b.mr = MR(b.pd, 8192, ALL)
    for attempt in range(3):
        reset(a, b)
        connect(a, b)
        a.write(told_to_a)
        if a.status() == e.IBV_WC_SUCCESS:
            return True
        if mended:
            told_to_a = b.memory
    return False


main(program)
