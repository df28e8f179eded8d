"""Threads whose write() breaks off where a page is missing: long_writes.py
DEVICE THREADS

Prints "idle" when all have, and stays.
"""

import ctypes
import mmap
import os
import signal
import sys
import threading

THERE, WRITTEN = 240 << 20, 250 << 20  # bytes
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = LIBC.write.restype = ctypes.c_ssize_t


def buffer():
    memory = LIBC.mmap(None, ctypes.c_size_t(WRITTEN), mmap.PROT_READ,
                       mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1,
                       ctypes.c_ssize_t(0))
    LIBC.munmap(ctypes.c_void_p(memory + THERE),
                ctypes.c_size_t(WRITTEN - THERE))
    return ctypes.c_void_p(memory)


def break_off(device, memory, ended):
    written = LIBC.write(device, memory, ctypes.c_size_t(WRITTEN))
    print("whole" if written == WRITTEN else
          os.strerror(ctypes.get_errno()) if written < 0 else "broken off",
          flush=True)
    ended.set()
    signal.pause()


def main(path, threads):
    device, memory = os.open(path, os.O_RDWR), buffer()
    for _ in range(int(threads)):
        ended = threading.Event()
        threading.Thread(target=break_off, args=(device, memory, ended),
                         daemon=True).start()
        ended.wait()
    print("idle", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
