"""The data of an RDMA WRITE arrives, but its acknowledgements are lost.

https://github.com/ROCm/mori/issues/655

The sender's queue pair ends in error.  The receiver, to which all looks well,
waits for ever, unless the sender connects again and tells it.
"""

from pair import connect, e, ibemu, main, pair, reset


def program(mended):
    a, b = pair()
    connect(a, b)
    ibemu("fault", "add", "--name=lost-acks", "qp", f"node-2/{b.qp.qp_num:#x}",
          "loss", "opcode", "rc-acknowledge", "dir", "tx")
    a.mr.write("data", 4)
    a.write(b.memory)
    arrived = a.status() != e.IBV_WC_SUCCESS and b.mr.read(4, 0) == b"data"
    if not (arrived and mended):
        return False  # b waits for a message that tells it
    ibemu("fault", "reset")
    reset(a, b)
    connect(a, b)
    b.receive()
    a.send()
    return b.status() == e.IBV_WC_SUCCESS


main(program)
