"""UCX connects by rdma_cm: its example of a client and a server."""

import pathlib
import subprocess

import pytest

from by_address import PAIR, SERVER, meet
from harness import Fabric

SOURCE = pathlib.Path("/usr/share/doc/libucx-dev/examples/ucp_client_server.c")
UCX = ["env", "UCX_TLS=rc_v,self", "UCX_NET_DEVICES=ibemu0:1",
       "UCX_SOCKADDR_TLS_PRIORITY=rdmacm"]


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "ucx-cm", PAIR, sm="builtin")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def client_server(scratch):
    if not SOURCE.exists():
        pytest.skip("there is no libucx-dev")
    program = scratch / "ucp_client_server"
    if not program.exists():
        subprocess.run(["gcc", "-O1", "-w", "-o", program, SOURCE, "-lucp",
                        "-lucs"], check=True)
        program.chmod(0o755)
    return program


@pytest.mark.parametrize("way", ["stream", "tag", "am"])
def test_a_message_reaches_the_server_at_its_address(pair, client_server, way):
    command = [*UCX, client_server, "-c", way]
    server, client = meet(pair, [*command, "-l", SERVER],
                          [*command, "-a", SERVER], ends=False)
    assert f"listening on IP {SERVER}" in server
    assert "ABCDEFGHIJKLMNO." in client
