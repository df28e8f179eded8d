"""Work requests that are flushed are counted as failures of the path.

https://github.com/kvcache-ai/Mooncake/pull/2155
https://github.com/pytorch/gloo/issues/247

One wrong key fails one request; all behind it are flushed.  Who counts each of
them gives up a path that is sound.
"""

from pair import connect, e, main, pair


def program(mended):
    a, b = pair()
    connect(a, b)
    a.write((b.mr.buf, b.mr.rkey ^ 0x100))
    for _ in range(7):
        a.write(b.memory)
    failures = 0
    for _ in range(8):
        status = a.status()
        flushed = status == e.IBV_WC_WR_FLUSH_ERR
        if status != e.IBV_WC_SUCCESS and not (mended and flushed):
            failures += 1
    return failures < 3  # else the path counts as broken


main(program)
