"""Programs tell rdma_cm of what their queue pairs have told them."""

import pathlib
import re

from by_address import PAIR, serve

SCRIPT = (pathlib.Path(__file__).parent / "notify.py").read_text()


def test_who_is_connected_may_tell_that_its_path_has_moved(fabric):
    lab = fabric(PAIR, sm="builtin")
    command = ["/usr/bin/python3", "-B", "-c", SCRIPT]
    server = serve(lab, *command, "server")
    client = lab.start("node-2", *command, "client")
    for end in (server, client):
        end.wait_for("^PATH_MIG_ERR")
        assert re.findall(r"^(\w+) (\w+)$", end.output, re.M) == [
            ("COMM_EST", "EISCONN"), ("PATH_MIG", "taken"),
            ("PATH_MIG_ERR", "EINVAL")]
