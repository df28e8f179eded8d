"""The key that is told to the peer is of another protection domain.

https://github.com/chimera-nas/libevpl/pull/89

With several adapters, or domains, a table by index gives the wrong entry before
the connection knows where it is.  Everything else looks right.
"""

from pair import ALL, connect, e, main, MR, pair, PD


def program(mended):
    a, b = pair()
    connect(a, b)
    other = MR(PD(b.context), 8192, ALL)
    a.write((b.mr.buf, b.mr.rkey if mended else other.rkey))
    return a.status() == e.IBV_WC_SUCCESS


main(program)
