"""Ceph, whose messages go over verbs: a monitor, two OSDs that keep objects in
memory, and a client, each on a host of its own, on good links and on bad ones.
"""

import json
import random
import re
import uuid

import pytest

from bad_links import check_flaps_are_told
from harness import DEADLINE, SYSFS_PORT, Fabric, until

# A cluster takes long to come up, and shows nothing of rights that shorter
# tests do not: one account will do.
pytestmark = [pytest.mark.deep,
              pytest.mark.parametrize("module_account", ["plain"],
                                      indirect=True, scope="module")]

MONITOR, *OSDS, CLIENT = HOSTS = ["node-1", "node-2", "node-3", "node-4"]
AT = "[v2:198.18.0.1:3300]"
# Pools: how many copies must be written.
ONE_WILL_DO, BOTH_OR_NONE = "one-will-do", "both-or-none"
SIZE = 3 << 20
MTU = 1024  # Ceph's choice
BLOCK, FEW, MANY = 16 << 10, 200, 1000
# More than wait for an acknowledgement on the busy connections together.
LOST = 600
SECONDS = 6
WRITE = "write", "-b", BLOCK, "--no-cleanup"

# Peers tell their queue pairs' numbers by TCP.  Queues are short, and who has
# nothing to do sleeps.  One OSD is believed when it says that the other is
# gone, and who is said to be may come back as often as it likes.
CONFIGURATION = """
[global]
fsid = {identity}
mon_host = {at}
ms_bind_msgr1 = false
ms_type = async+rdma
ms_async_rdma_device_name = ibemu0
ms_async_rdma_buffer_size = 16384
ms_async_rdma_send_buffers = 128
ms_async_rdma_receive_buffers = 512
ms_async_rdma_receive_queue_len = 128
ms_async_rdma_polling_us = 0
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = {home}
crash_dir = {home}
log_file = {home}/$name.log
pid_file =
admin_socket =
mon_data = {home}/mon.a
mon_cluster_log_file = {home}/cluster.log
mon_osd_min_down_reporters = 1
osd_data = {home}/osd.$id
osd_objectstore = memstore
osd_heartbeat_interval = 1
osd_heartbeat_grace = 6
osd_max_markdown_count = 1000
"""


class FabricWithNetwork(Fabric):
    """The same, where each run has a network."""

    def on(self, *hosts):
        return [*super().on(*hosts)[:-1], "--net", "--"]

    def hw_counter(self, host, name):
        # The network of a host is one run's alone.
        return int(self.account.run(*super().on(host), "cat",
                                    f"{SYSFS_PORT}/hw_counters/{name}").stdout)


class Cluster:
    """All of it, on a fabric, whose end is that of the daemons, too."""

    def __init__(self, lab):
        self.lab, self.home = lab, lab.account.home
        identity = str(uuid.uuid4())
        self._configuration = self.home / "ceph.conf"
        self._configuration.write_text(
            CONFIGURATION.format(identity=identity, at=AT, home=self.home))
        known = self.home / "monmap"
        lab.account.run("monmaptool", "--create", "--fsid", identity, "--addv",
                        "a", AT, known)
        self._serve(MONITOR, "ceph-mon", "a", "--monmap", known)
        for number, host in enumerate(OSDS):
            name = uuid.uuid4()
            self.ceph("osd", "new", name, number)
            self._serve(host, "ceph-osd", number, "--osd-uuid", name,
                        "--no-mon-config")
        until(lambda: self.osds_up() == len(OSDS))
        for pool, least in (ONE_WILL_DO, 1), (BOTH_OR_NONE, 2):
            self.ceph("osd", "pool", "create", pool, 8, "--size", 2)
            self.ceph("osd", "pool", "set", pool, "min_size", least)

    def _serve(self, host, program, name, *options):
        """Makes what a daemon keeps, and starts it."""
        command = [program, "--conf", self._configuration, "-i", name]
        self.lab.account.run("mkdir", self.home / f"{program[-3:]}.{name}")
        self.lab.account.run(*command, "--mkfs", *options)
        self.lab.start(host, *command, "-f")

    def ceph(self, *words):
        return self.lab.run(CLIENT, "ceph", "--conf", self._configuration,
                            "--format", "json", *words).stdout

    def osds_up(self):
        return json.loads(self.ceph("osd", "stat"))["num_up_osds"]

    def _rados(self, pool, *words):
        return "rados", "--conf", self._configuration, "--pool", pool, *words

    def rados(self, pool, *words, **options):
        return self.lab.run(CLIENT, *self._rados(pool, *words), **options)

    def start_rados(self, pool, *words):
        return self.lab.start(CLIENT, *self._rados(pool, *words))

    def write(self, seconds, *options):
        """Writes blocks for so long at most; returns how many were written."""
        return blocks(self.rados(ONE_WILL_DO, "bench", seconds, *WRITE,
                                 *options).stdout)


def blocks(said):
    """How many `rados bench` tells of."""
    return int(re.search(r"Total (?:writes|reads) made: +(\d+)", said)[1])


@pytest.fixture(scope="module")
def whole(module_account):
    lab = FabricWithNetwork(module_account, "ceph",
                            f"single-switch:hosts={len(HOSTS)}", sm="builtin")
    try:
        yield Cluster(lab)
    finally:
        lab.stop()


@pytest.fixture
def cluster(whole):
    yield whole
    whole.lab.ibemu("fault", "reset")


def check_an_object(cluster, pool):
    there, back = cluster.home / "there", cluster.home / "back"
    there.write_bytes(random.Random(7).randbytes(SIZE))
    cluster.rados(pool, "put", "object", there)
    cluster.rados(pool, "get", "object", back)
    assert there.read_bytes() == back.read_bytes()


def test_an_object_comes_back_as_it_was_by_verbs(cluster):
    for host in (*OSDS, CLIENT):  # loses nothing, but counts
        cluster.lab.ibemu("fault", "add", "qp", f"{host}/*", "loss", "0%",
                          "opcode", "rc-send-middle", "dir", "rx")
    check_an_object(cluster, BOTH_OR_NONE)
    # 14 of 16 packets of a full buffer, to everybody who has the object now.
    assert all(fault["rx"]["packets"] > SIZE / MTU * 3 / 4
               for fault in cluster.lab.faults())


def test_what_was_written_is_read(cluster):
    assert cluster.write(DEADLINE, "--max-objects", FEW) == FEW
    said = cluster.rados(ONE_WILL_DO, "bench", DEADLINE, "seq").stdout
    assert blocks(said) == FEW


def test_lost_acknowledgements_fail_no_write(cluster):
    def sent_again():
        return sum(cluster.lab.hw_counter(host, "local_ack_timeout_err")
                   for host in HOSTS)

    before = sent_again()
    cluster.lab.ibemu("fault", "add", "qp", f"{OSDS[0]}/*", "loss", "opcode",
                      "ack", "nth", f"1-{LOST}")
    assert cluster.write(DEADLINE, "--max-objects", MANY) == MANY
    fault, = cluster.lab.faults()
    assert fault["tx"]["lost"] == fault["rx"]["lost"] == LOST
    assert sent_again() > before
    assert (f"acted {2 * LOST} times: loss 100% opcode ack nth 1-{LOST}\n" in
            cluster.lab.ibemu("why", OSDS[0]).stdout)


# What was sent is sent again 32 times, about once in a second.  Nobody writes
# meanwhile: README.md says why.
def test_an_osd_that_hears_no_acknowledgements_says_why_and_recovers(cluster,
                                                                     events):
    lab, osd = cluster.lab, OSDS[0]
    heard = events(lab, "qp")
    lab.ibemu("fault", "add", "--name=deaf", "qp", f"{osd}/*", "loss", "opcode",
              "ack", "dir", "rx")
    heard.wait_for(f"{osd} .* ended with RETRY_EXC_ERR")
    assert re.search("RETRY_EXC_ERR: .*: lost by deaf",
                     lab.ibemu("why", osd).stdout)
    lab.ibemu("fault", "rm", "deaf")
    check_an_object(cluster, BOTH_OR_NONE)


def test_a_flapping_link_fails_no_write(cluster):
    cluster.lab.ibemu("fault", "add", "link", f"{OSDS[0]}/1", "flap", "500ms",
                      "100ms")
    assert cluster.write(SECONDS) > 0
    check_flaps_are_told(cluster.lab, HOSTS)


def test_without_an_osd_writes_go_on_or_fail_and_the_reason_is_told(cluster,
                                                                    events):
    lab, osd = cluster.lab, OSDS[0]
    heard = events(lab, "qp")
    writing = cluster.start_rados(ONE_WILL_DO, "bench", SECONDS, *WRITE)
    writing.wait_for("^ +1 ")  # so many seconds are over
    lab.ibemu("link", f"{osd}/1", "down")
    assert writing.wait() == 0, writing.output
    until(lambda: cluster.osds_up() == 1)
    refused = cluster.rados(BOTH_OR_NONE, "--rados-osd-op-timeout", SECONDS,
                            "put", "object", "/dev/null", check=False)
    assert refused.returncode != 0
    assert "(110) Connection timed out" in refused.stderr
    heard.wait_for(f"{osd} .* ended with RETRY_EXC_ERR")
    assert re.search("RETRY_EXC_ERR: .*: the link was down from",
                     lab.ibemu("why", osd).stdout)
    lab.ibemu("link", f"{osd}/1", "up")
    until(lambda: cluster.osds_up() == len(OSDS))
    check_an_object(cluster, BOTH_OR_NONE)
