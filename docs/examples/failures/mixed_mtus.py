"""Each end takes the path MTU of its own port, and the two differ.

https://github.com/kvcache-ai/Mooncake/issues/3868
https://github.com/NVIDIA/nccl/issues/1524

Short messages pass; the first one that fills a packet ends the connection.
"""

from pair import e, main, pair


def program(mended):
    a, b = pair()
    a.qp.to_rts(a.attributes(b, path_mtu=e.IBV_MTU_1024 if mended
                             else e.IBV_MTU_4096))
    b.qp.to_rts(b.attributes(a, path_mtu=e.IBV_MTU_1024))
    for length in 64, 4096:
        a.write(b.memory, length)
        if a.status() != e.IBV_WC_SUCCESS:
            return False
    return True


main(program)
