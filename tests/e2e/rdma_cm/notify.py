"""notify.py server|client: an end of a connection by address.  When it is
established, it tells rdma_cm of events of its queue pair, and prints what the
answer is."""

import ctypes
import errno
import signal
import sys

SERVER, PORT = b"198.18.0.1", b"7471"
PASSIVE, TCP = 1, 0x106
EVENTS = {"COMM_EST": 4, "PATH_MIG": 6, "PATH_MIG_ERR": 7}

library = ctypes.CDLL("librdmacm.so.1", use_errno=True)


class AddressInformation(ctypes.Structure):  # rdma_addrinfo
    _fields_ = [("flags", ctypes.c_int), ("family", ctypes.c_int),
                ("qp_type", ctypes.c_int), ("port_space", ctypes.c_int),
                ("lengths", ctypes.c_uint * 2), ("rest", ctypes.c_void_p * 9)]


class Parameters(ctypes.Structure):  # rdma_conn_param
    _fields_ = [("private_data", ctypes.c_void_p), ("bytes", ctypes.c_uint8 * 7),
                ("qp_num", ctypes.c_uint32)]


def do(name, *arguments):
    if getattr(library, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


def told(end, event):
    if library.rdma_notify(end, event) == 0:
        return "taken"
    return errno.errorcode[ctypes.get_errno()]


server = sys.argv[1] == "server"
hints = AddressInformation(flags=PASSIVE if server else 0, port_space=TCP)
found, end = ctypes.c_void_p(), ctypes.c_void_p()
do("rdma_getaddrinfo", SERVER, PORT, ctypes.byref(hints), ctypes.byref(found))
do("rdma_create_ep", ctypes.byref(end), found, None, None)
parameters = ctypes.byref(Parameters(qp_num=0x99))
if server:
    listener, end = end, ctypes.c_void_p()
    do("rdma_listen", listener, 1)
    do("rdma_get_request", listener, ctypes.byref(end))
    do("rdma_accept", end, parameters)
else:
    do("rdma_connect", end, parameters)
    do("rdma_establish", end)
for name, number in EVENTS.items():
    print(name, told(end, number), flush=True)
signal.pause()  # so that the other end stays connected
