"""Programs that connect by address: a server on node-1, a client on node-2."""

import re
import time

from harness import DEADLINE

PAIR = "single-switch:hosts=2"
SERVER = "198.18.0.1"
CLIENT = "198.18.0.2"
LINES = ["stdbuf", "-oL"]  # tell at once what is printed
# What a client says that came before the server listened, or before anybody on
# its host had opened rdma_cm; cmtime ends with 0 nevertheless.
TOO_EARLY = (r"ADDR_ERROR|REJECTED|UNREACHABLE|CM event.* 8\b"
             r"|Connection refused|[Cc]onnection timed out|rdma_resolve_addr")


def meet(lab, server, client, ends=True, listens=None):
    """What server and client say.  `ends`: whether the server ends with its
    client; it is ended otherwise.  `listens`: what it says when it listens."""
    serving = lab.start("node-1", *LINES, *server)
    if listens:
        serving.wait_for(listens)
    deadline = time.monotonic() + DEADLINE
    while True:
        done = lab.run("node-2", *client, check=False)
        said = done.stdout + done.stderr
        if not re.search(TOO_EARLY, said):
            break
        assert serving.process.poll() is None, serving.output
        assert time.monotonic() < deadline, said
    assert done.returncode == 0, said + serving.output
    if ends:
        assert serving.wait() == 0, serving.output
    else:
        serving.stop()
    return serving.output, said
