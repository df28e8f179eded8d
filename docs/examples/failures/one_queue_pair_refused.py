"""A service ends because one queue pair could not be made.

https://github.com/ceph/ceph/pull/33882
https://github.com/ceph/ceph/pull/56191

An adapter that is full is as usual as a network that is busy: who refuses the
one connection goes on with the others.
"""

from pair import PyverbsRDMAError, connect, e, ibemu, main, pair


def program(mended):
    ibemu("fault", "add", "host", "node-1", "create-qp", "nth", "2", "errno",
          "ENOMEM")
    served = 0
    for _ in range(3):
        try:
            a, b = pair()
        except PyverbsRDMAError:
            if mended:
                continue
            break
        connect(a, b)
        a.write(b.memory)
        served += a.status() == e.IBV_WC_SUCCESS
    return served == 2


main(program)
