"""The data of an RDMA WRITE arrives, but its acknowledgements are lost.

https://github.com/ROCm/mori/issues/655

The sender's queue pair is in error in the end, and the receiver, to which all
looks well, waits for ever, unless the sender connects again and tells it.
"""

from pair import connect, e, ibemu, main, pair, reset


def program(mended):
    a, b = pair()
    connect(a, b)
    ibemu("fault", "add", "--name=lost-acks", "qp",
          f"node-2/{b.qp.qp_num:#x}", "loss", "100%", "opcode",
          "rc-acknowledge", "dir", "tx")
    a.mr.write("data", 4)
    a.write(b.memory)
    if a.status() != e.IBV_WC_RETRY_EXC_ERR or b.mr.read(4, 0) != b"data":
        return False
    if mended:
        ibemu("fault", "rm", "lost-acks")
        reset(a, b)
        connect(a, b)
        b.receive()
        a.send()  # "it is done"
        return b.status() == e.IBV_WC_SUCCESS
    return False  # b waits for that message


main(program)
