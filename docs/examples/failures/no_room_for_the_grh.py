"""A receive request for datagrams lacks the 40 bytes in front of the message.

https://github.com/linux-rdma/rdma-core/pull/1155
https://github.com/openucx/ucx/pull/8292

The datagram is dropped, and nobody hears of it.
"""

from pyverbs.addr import AH

from pair import AHAttr, e, main, pair, QPAttr, SendWR


def program(mended):
    a, b = pair(qp_type=e.IBV_QPT_UD)
    for end in a, b:
        attr = QPAttr(port_num=1)
        attr.qkey = 0x1234
        end.qp.to_rts(attr)
    for _ in range(2):
        b.receive(length=104 if mended else 64)
    handle = AH(a.pd, attr=AHAttr(dlid=b.lid, port_num=1, is_global=0))
    for length in 64, 8:  # the second one fits in any case
        wr = SendWR(num_sge=1, sg=[a.sge(length)])
        wr.set_wr_ud(handle, b.qp.qp_num, 0x1234)
        a.qp.post_send(wr)
    return b.completion().byte_len == 104


main(program)
