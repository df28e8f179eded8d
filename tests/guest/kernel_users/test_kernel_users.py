"""Storage of one guest's kernel, used by the other's over our fabric."""

import pathlib
import shlex
import subprocess

import pytest

from guest import at_once, together
from mlx4_guest import CLASS
from rdma_cm_ends import MODULES, GuestEnd
from this_machine import command

HERE = pathlib.Path(__file__).parent
OURS = ["nvmet-rdma", "nvme-rdma", "ib_srpt", "ib_srp", "ib_isert", "ib_iser",
        "target_core_iblock", "brd", "sd_mod", "ext4", "crc32c_generic", "nfsd",
        "nfsv4", "rpcrdma", "rds_rdma", "configfs"]
CONFIG = "/sys/kernel/config"
FILE = "/tmp/file"
KIB = 2048
# ib_srpt listens at the service ID that is its adapter's GUID, and Linux keeps
# those that begin with 2, as our own GUIDs do, for itself.
TOPOLOGY = """\
switchguid=0x2c90200000100(2c90200000100)
Switch 2 "S-0002c90200000100"
[1] "H-0002c90100000100"[1](2c90100000101)
[2] "H-0002c90100000200"[1](2c90100000201)

caguid=0x12c90100000100
Ca 1 "H-0002c90100000100" # "node-1"
[1](2c90100000101) "S-0002c90200000100"[1]

caguid=0x12c90100000200
Ca 1 "H-0002c90100000200" # "node-2"
[1](2c90100000201) "S-0002c90200000100"[2]
"""
# modprobe: the kernel asks for modules that are there already.
MODPROBE = "#!/bin/sh\nexit 0\n"
NEVER = 2147483647  # when what the caches of NFS know expires
# Options of an export: any port, no check of subtrees, a number of its own.
EXPORTED = 0x2 | 0x400 | 0x2000


@pytest.fixture(scope="session")
def rds_echo(scratch):
    target = scratch / "rds_echo"
    subprocess.run([command("gcc"), "-Wall", "-Wextra", "-Werror", "-o", target,
                    HERE / "rds_echo.c"], check=True)
    return str(target)


def write(guest, path, text):
    lines = " ".join(map(shlex.quote, text.splitlines()))
    guest.say(f"mkdir -p $(dirname {path}); printf '%s\\n' {lines} > {path}")


def prepare(guest):
    """What Debian's packages would have made."""
    write(guest, "/sbin/modprobe", MODPROBE)
    write(guest, "/etc/netconfig", pathlib.Path("/etc/netconfig").read_text())
    write(guest, "/etc/passwd", "root:x:0:0::/:/bin/sh\n_rpc:x:107:65534::/:/bin/sh")
    guest.say("chmod 755 /sbin/modprobe && mkdir -p /etc/target /run &&"
              " ln -s /run /var/run")


@pytest.fixture(scope="module")
def shared_ends(scratch, shared_fabric, shared_plug, rds_echo):
    """The one that has storage, and the one that uses it."""
    topology = scratch / "storage.net"
    topology.write_text(TOPOLOGY)
    lab = shared_fabric(topology, sm="builtin")
    with together(*[shared_plug(lab, f"node-{number}", memory="512M",
                                modules=[*MODULES, *OURS],
                                programs=[rds_echo, "stdbuf", "rpcbind",
                                          "iscsistart"])
                    for number in (1, 2)]) as guests:
        at_once(prepare, *guests)
        ends = [GuestEnd(guest, number)
                for number, guest in enumerate(guests, 1)]
        at_once(GuestEnd.bring_up, *ends)
        for guest in guests:  # for ext4 and iSCSI
            guest.load("crc32c_generic")
        ends[0].guest.load("configfs")
        ends[0].guest.say(f"mount -t configfs none {CONFIG}")
        ends[1].guest.say(f"dd if=/dev/urandom of={FILE} bs=1k count={KIB}")
        yield ends


@pytest.fixture
def ends(shared_ends):
    for end in shared_ends:
        end.guest.renew()
    return shared_ends


def disk(guest, number):
    guest.load("brd")
    return f"/dev/ram{number}"


def assert_copies_whole(client, place):
    """FILE to a directory and back, past all that the client remembers."""
    client.say(f"cp {FILE} {place}/copy && sync &&"
               " echo 3 > /proc/sys/vm/drop_caches")
    client.say(f"cmp {FILE} {place}/copy")


def assert_holds_a_file(client, device):
    """A file system of a disk of the other machine."""
    client.load("ext4")
    client.say(f"mke2fs {device} && mkdir -p /mnt")
    for _ in range(2):
        client.say(f"mount -t ext2 {device} /mnt")
        assert_copies_whole(client, "/mnt")
        client.say("umount /mnt")


def md5(guest, device, kib):
    return guest.say(f"dd if={device} bs=1k count={kib} 2>/dev/null"
                     " | md5sum")


def test_a_disk_by_nvme_over_rdma_holds_a_file(ends):
    target, client = ends[0].guest, ends[1].guest
    device = disk(target, 0)
    target.load("nvmet-rdma")
    place = f"{CONFIG}/nvmet"
    target.say(
        f"cd {place} && mkdir subsystems/disk &&"
        " echo 1 > subsystems/disk/attr_allow_any_host &&"
        " mkdir subsystems/disk/namespaces/1 &&"
        f" echo -n {device} > subsystems/disk/namespaces/1/device_path &&"
        " echo 1 > subsystems/disk/namespaces/1/enable && mkdir ports/1 &&"
        f" cd ports/1 && echo rdma > addr_trtype && echo ipv4 > addr_adrfam &&"
        f" echo {ends[0].ipv4} > addr_traddr && echo 4420 > addr_trsvcid &&"
        f" ln -s {place}/subsystems/disk subsystems/disk")
    client.load("nvme-rdma")
    client.say(f"echo nqn=disk,transport=rdma,traddr={ends[0].ipv4},"
               "trsvcid=4420,hostnqn=client > /dev/nvme-fabrics")
    client.until("[ -b /dev/nvme0n1 ]")
    assert_holds_a_file(client, "/dev/nvme0n1")
    assert md5(client, "/dev/nvme0n1", KIB) == md5(target, device, KIB)
    client.say("echo 1 > /sys/class/nvme/nvme0/delete_controller")
    client.until("! [ -b /dev/nvme0n1 ]")


def share(target, number, module):
    """Makes a disk known to what has it in common for SRP and iSCSI; where it
    is in CONFIG, and the disk."""
    device = disk(target, number)
    for name in ("target_core_iblock", module):
        target.load(name)
    place = f"{CONFIG}/target/core/iblock_{number}/disk"
    target.say(f"mkdir -p {place} && cd {place} &&"
               f" echo udev_path={device} > control && echo 1 > enable")
    return place, device


def test_a_disk_by_srp_holds_a_file(ends):
    target, client = ends[0].guest, ends[1].guest
    shared, device = share(target, 1, "ib_srpt")
    gid, initiator = [guest.say(f"cat {CLASS}/ports/1/gids/0").replace(":", "")
                      for guest in (target, client)]
    service = target.say(f"cat {CLASS}/node_guid").replace(":", "")
    target.say(
        f"cd {CONFIG}/target && mkdir -p srpt/0x{gid}/0x{gid} &&"
        f" cd srpt/0x{gid}/0x{gid} && mkdir lun/lun_0 &&"
        f" ln -s {shared} lun/lun_0/disk &&"
        # Who may log in: the name of the initiator's port, and its interface ID.
        f" cd acls && mkdir 0x{0:016x}{initiator[16:]} && cd 0x* &&"
        f" mkdir lun_0 && ln -s ../../lun/lun_0 lun_0/disk && cd ../.. &&"
        " echo 1 > enable")
    for module in ("sd_mod", "ib_srp"):
        client.load(module)
    client.say(f"echo id_ext={service},ioc_guid={service},dgid={gid},pkey=ffff,"
               f"service_id={service} >"
               " /sys/class/infiniband_srp/srp-mlx4_0-1/add_target")
    client.until("[ -b /dev/sda ]")
    assert_holds_a_file(client, "/dev/sda")
    assert md5(client, "/dev/sda", KIB) == md5(target, device, KIB)
    client.say("echo 1 > $(ls -d /sys/class/srp_remote_ports/*)/delete")
    client.until("! [ -b /dev/sda ]")


def test_a_disk_by_iser_holds_a_file(ends):
    target, client = ends[0].guest, ends[1].guest
    shared, device = share(target, 2, "ib_isert")
    name, portal = "iqn.2026-11.lab:disk", f"{ends[0].ipv4}:3260"
    target.say(
        f"mkdir -p {CONFIG}/target/iscsi/{name}/tpgt_1 &&"
        f" cd {CONFIG}/target/iscsi/{name}/tpgt_1 && mkdir np/{portal} &&"
        f" echo 1 > np/{portal}/iser && echo 0 > attrib/authentication &&"
        " echo 0 > attrib/demo_mode_write_protect &&"
        " echo 1 > attrib/generate_node_acls && mkdir lun/lun_0 &&"
        f" ln -s {shared} lun/lun_0/disk && echo 1 > enable")
    for module in ("sd_mod", "ib_iser"):
        client.load(module)
    client.say(f"iscsistart -i iqn.2026-11.lab:client -t {name} -g 1"
               f" -a {ends[0].ipv4} -p 3260 -P iface.transport_name=iser")
    client.until("[ -b /dev/sda ]")
    assert_holds_a_file(client, "/dev/sda")
    assert md5(client, "/dev/sda", KIB) == md5(target, device, KIB)


def test_files_by_nfs_over_rdma(ends):
    target, client = ends[0].guest, ends[1].guest
    for module in ("nfsd", "rpcrdma"):
        target.load(module)
    caches = "/proc/net/rpc"
    target.say("rpcbind")  # nfsd tells it of its port
    target.say(
        "mkdir -p /srv && mount -t tmpfs none /srv &&"
        " mount -t nfsd none /proc/fs/nfsd && cd /proc/fs/nfsd &&"
        # For clients of an earlier server, of which there was none.
        " echo 10 > nfsv4leasetime && echo 10 > nfsv4gracetime &&"
        f" echo 'nfsd {ends[1].ipv4} {NEVER} all' > {caches}/auth.unix.ip/channel"
        f" && echo 'all /srv {NEVER} {EXPORTED} 65534 65534 0' >"
        f" {caches}/nfsd.export/channel &&"
        rf" echo 'all 1 \x00000000 {NEVER} /srv' > {caches}/nfsd.fh/channel &&"
        " echo 2 > threads && echo rdma 20049 > portlist")
    for module in ("nfsv4", "rpcrdma"):
        client.load(module)
    client.say("mkdir -p /nfs && mount -t nfs4 -o"
               f" addr={ends[0].ipv4},clientaddr={ends[1].ipv4},vers=4.1,"
               f"proto=rdma,port=20049 {ends[0].ipv4}:/ /nfs")
    assert_copies_whole(client, "/nfs")
    there = target.say("md5sum < /srv/copy")
    assert there == client.say(f"md5sum < {FILE}")
    client.say("umount /nfs")
    target.say("echo 0 > /proc/fs/nfsd/threads")


def test_messages_by_rds(ends):
    for end in ends:
        end.guest.load("rds_rdma")
    server = ends[0].start("rds_echo", ends[0].ipv4)
    server.until("waits")
    said = ends[1].run("rds_echo", ends[1].ipv4, ends[0].ipv4, FILE)
    assert said.status == 0, said.output
    assert f"{KIB} KiB came back as they went" in said.output
    server.kill()
