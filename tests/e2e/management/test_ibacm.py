"""ibacm, which finds paths to other hosts by their names."""

import re

import pytest

pytestmark = pytest.mark.both_accounts

OPTIONS = """\
log_file stdout
log_level 2
lock_file {lock}
server_mode loop
server_port {port}
provider ibacmp default
"""


def start(made, host, port):
    """Its daemon, as a plain user can have it, who may not write to /run."""
    home = made.account.home
    options, addresses = home / f"{host}.options", home / f"{host}.addresses"
    options.write_text(OPTIONS.format(lock=home / f"{host}.lock", port=port))
    addresses.write_text(f"{host} ibemu0 1 default\n")
    daemon = made.start(host, "stdbuf", "-oL", "ibacm", "-P", "-A", addresses,
                        "-O", options)
    daemon.wait_for("join successful")
    daemon.wait_for("listen active")
    return daemon


def test_ibacm_asks_the_other_host_by_multicast_and_the_sa_for_the_path(fabric):
    made = fabric("single-switch:hosts=2", sm="builtin")
    # The last one leaves its port in /run, if it may, and ib_acme goes there.
    second = start(made, "node-2", 6126)
    first = start(made, "node-1", 6125)
    text = made.run("node-1", "ib_acme", "-S", "127.0.0.1", "-f", "n",
                    "-s", "node-1", "-d", "node-2", "-v").stdout
    assert "SA verification: success" in text, text
    gid = made.run("node-2", "cat",
                   "/sys/class/infiniband/ibemu0/ports/1/gids/0").stdout
    found = re.search(r"dgid: (\S+)", text)[1]
    assert found.split(":")[-4:] == [
        f"{int(part, 16):x}" for part in gid.strip().split(":")[-4:]]
    second.wait_for("acmp_process_addr_req")
    first.wait_for("acmp_process_addr_resp")
