"""libibverbs finds the adapters and opens them, with nothing preloaded."""

import re
import textwrap

import pytest

from harness import ROOT
from profiles import HFI1, QIB, usual

THREE = ["--topology=single-switch:hosts=4", "--host=node-1", "--host=node-2",
         "--host=node-3"]


def run(account, *command, options=()):
    return account.run("ibemu", "run", *options, "--", *command).stdout


def part_of(text):
    return int(re.search(r"vendor_part_id:\s+(\d+)\n", text)[1])


def test_ibv_devices_lists_one_adapter(account):
    lines = run(account, "ibv_devices").splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["ibemu0"]


def test_ibv_devices_lists_the_adapters_of_all_hosts(account):
    lines = run(account, "ibv_devices", options=THREE).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["ibemu0", "ibemu1",
                                                       "ibemu2"]
    assert len({line.split()[1] for line in lines[2:]}) == 3


def test_ibv_devinfo_says_what_sysfs_says(account):
    text = run(account, "ibv_devinfo", "-v")
    assert re.search(r"hca_id:\s+ibemu0\n", text)
    assert "transport:\t\t\tInfiniBand (0)" in text
    assert re.search(r"state:\s+PORT_ACTIVE \(4\)", text)
    assert re.search(r"link_layer:\s+InfiniBand", text)
    shown = run(account, "sh", "-c",
                "cd /sys/class/infiniband/ibemu0; cat fw_ver node_guid "
                "ports/1/lid ports/1/gids/0 ports/1/cap_mask").split()
    fw_ver, node_guid, lid, gid, cap_mask = shown
    assert re.search(rf"fw_ver:\s+{fw_ver}\n", text)
    assert re.search(rf"node_guid:\s+{node_guid}\n", text)
    assert re.search(rf"port_lid:\s+{int(lid, 16)}\n", text)
    assert re.search(rf"GID\[  0\]:\s+{gid}\n", text)
    assert re.search(rf"port_cap_flags:\s+{cap_mask}\n", text)


def test_verbs_name_the_adapter_of_sysfs_and_mads_that_of_the_topology(
        account, fabric):
    fabric = fabric(ROOT / "docs" / "examples" / "lab.yaml", sm="static")
    text = fabric.run("compute-001", "ibv_devinfo").stdout
    assert re.search(r"vendor_id:\s+0x1175\n", text)
    vendor, device = fabric.run(
        "compute-001", "sh", "-c",
        "cd /sys/class/infiniband/ibemu0/device && cat vendor device"
    ).stdout.split()
    assert int(vendor, 16) == usual().vendor
    assert int(device, 16) == part_of(text) == usual().device
    info = fabric.run("compute-001", "smpquery", "-D", "nodeinfo", "0").stdout
    assert re.search(r"DevId:\.+0x1021\n", info)
    assert re.search(r"VendorId:\.+0x0002c9\n", info)


def test_an_adapter_without_verbs_is_announced(account):
    for profile, verbs in ("qib", True), ("hfi1", True), ("cx7", False):
        done = account.run("ibemu", "run", f"--profile={profile}", "--", "ls",
                           "/dev/infiniband")
        assert ("uverbs0" in done.stdout) is verbs
        assert ("--profile=cx7: there is no /dev/infiniband/uverbsN"
                in done.stderr) is not verbs


def test_an_adapter_is_one_that_the_installed_libibverbs_drives(account):
    assert part_of(run(account, "ibv_devinfo")) == usual().device
    told = account.run("ibemu", "doctor", check=False).stdout
    assert re.search(rf"^ok +verbs +libibverbs has {usual().provider}.*: "
                     rf'adapters look like "{usual().name}"$', told, re.M), told


@pytest.mark.parametrize("profile", [profile for profile in (QIB, HFI1)
                                     if profile.driven],
                         ids=lambda profile: profile.name)
def test_each_profile_with_verbs_is_driven_by_its_provider(account, profile):
    text = run(account, "ibv_devinfo", options=[f"--profile={profile.name}"])
    assert part_of(text) == profile.device


def test_ibv_devinfo_opens_each_of_several_adapters(account):
    text = run(account, "ibv_devinfo", options=THREE)
    assert re.findall(r"hca_id:\s+(\w+)", text) == ["ibemu0", "ibemu1",
                                                    "ibemu2"]
    assert re.findall(r"port_lid:\s+(\d+)", text) == ["1", "2", "3"]
    one = run(account, "ibv_devinfo", "-d", "ibemu1", options=THREE)
    assert re.findall(r"hca_id:\s+(\w+)", one) == ["ibemu1"]


def test_a_nested_run_has_its_own_adapters(account):
    text = run(account, "ibemu", "run", "--host=node-3", "--", "ibv_devinfo",
               options=["--topology=single-switch:hosts=4", "--host=node-1"])
    assert re.findall(r"port_lid:\s+(\d+)", text) == ["3"]
    text = run(account, "ibemu", "run", "--topology=single-switch:hosts=2",
               "--", "ibv_devinfo",
               options=["--topology=single-switch:hosts=4", "--host=node-4"])
    assert re.findall(r"port_lid:\s+(\d+)", text) == ["1"]


def test_a_port_that_goes_down_is_seen_at_once(account, fabric):
    fabric = fabric("single-switch:hosts=2", sm="static")
    assert "PORT_ACTIVE" in fabric.run("node-1", "ibv_devinfo").stdout
    fabric.ibemu("link", "node-1/1", "down")
    assert "PORT_DOWN" in fabric.run("node-1", "ibv_devinfo").stdout


def test_a_debugger_and_a_tracer_change_nothing(account):
    for tool in (["strace", "-f", "-o", "/dev/null"],
                 ["gdb", "-batch", "-ex", "run", "--args"]):
        text = run(account, *tool, "ibv_devinfo")
        assert re.search(r"hca_id:\s+ibemu0\n", text), tool


def test_a_verbs_device_is_a_character_device(account):
    shown = run(account, "stat", "-c", "%F %Hr:%Lr", "/dev/infiniband/uverbs0")
    assert shown == "character special file 231:192\n"
    opens = """if True:
        import fcntl, os, stat
        for flags in 0, os.O_CLOEXEC, os.O_NONBLOCK | os.O_CLOEXEC:
            libc_open = __import__("ctypes").CDLL(None).open
            fd = libc_open(b"/dev/infiniband/uverbs0", os.O_RDWR | flags)
            status = os.fstat(fd)
            print(stat.S_ISCHR(status.st_mode), status.st_size,
                  os.major(status.st_rdev), os.minor(status.st_rdev),
                  fcntl.fcntl(fd, fcntl.F_GETFD) == fcntl.FD_CLOEXEC,
                  fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK != 0)
    """
    assert run(account, "python3", "-c", opens).splitlines() == [
        "True 0 231 192 False False",
        "True 0 231 192 True False",
        "True 0 231 192 True True"]


def test_statx_shows_an_open_verbs_device_without_a_size(account):
    asks = """if True:
        import ctypes, os, stat, struct
        fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
        status = ctypes.create_string_buffer(256)
        failed = ctypes.CDLL(None).statx(fd, b"", 0x1000, 0x7ff, status)
        mode, size = struct.unpack_from("=H10xQ", status, 28)
        print(failed, stat.S_ISCHR(mode), size)
    """
    assert run(account, "python3", "-c", asks) == "0 True 0\n"


def test_two_processes_open_one_adapter(account):
    text = run(account, "sh", "-c",
               "ibv_devinfo >a & ibv_devinfo >b & wait; "
               "cmp a b && grep -c hca_id a")
    assert text.split() == ["1"]


def test_who_outlives_its_run_opens_files_as_before(account):
    """The filter stays with a process; who answers it must stay, too."""
    orphan = """
        import os, time
        while os.getppid() != int(os.environ["AFTER"]):
            time.sleep(0.05)
        os.fstat(os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC))
        with open("late", "w") as late:
            late.write("opened")
    """
    program = account.home / "orphan.py"
    program.write_text(textwrap.dedent(orphan))
    program.chmod(0o644)
    done = account.run(
        "sh", "-c", "AFTER=1 ibemu run -- sh -c "
        "'setsid python3 orphan.py <&- >&- 2>&- &'")
    assert done.stdout == ""
    account.run("sh", "-c", "until test -s late; do sleep 0.05; done")


QUEUE_PAIRS = """
import errno
import pyverbs.cq, pyverbs.device, pyverbs.pd, pyverbs.pyverbs_error, pyverbs.qp

context = pyverbs.device.Context(name="ibemu0")
pd = pyverbs.pd.PD(context)
cq = pyverbs.cq.CQ(context, 10)
init = pyverbs.qp.QPInitAttr(scq=cq, rcq=cq)
kept = []
try:
    while len(kept) < 10:
        kept.append(pyverbs.qp.QP(pd, init))
except pyverbs.pyverbs_error.PyverbsRDMAError as refused:
    print(len(kept), errno.errorcode[refused.error_code])
"""


LIMITED = """
generator: single-switch:hosts=3
profiles:
  weak: {match: node-1, max_qp: 3, max_cqe: 20, max_mr_size: 65536}
  few-reads: {match: node-2, max_qp_rd_atom: 2}
"""


def refusals(lab, host):
    return re.findall(
        rf"(?m)^{host} process \d+: (\w+ was refused with EINVAL: .*)$",
        lab.ibemu("why", host).stdout)


def test_an_adapter_has_the_limits_of_its_topology(account, fabric):
    file = account.home / "lab.yaml"
    file.write_text(LIMITED)
    file.chmod(0o644)
    lab = fabric(file, sm="static")
    told = lab.run("node-1", "ibv_devinfo", "-v").stdout
    assert re.search(r"max_qp:\s+3\n", told)
    assert re.search(r"max_cqe:\s+20\n", told)
    assert re.search(r"max_mr_size:\s+0x10000\n", told)
    assert re.search(r"max_qp_rd_atom:\s+2\n",
                     lab.run("node-2", "ibv_devinfo", "-v").stdout)
    count = [lab.run(host, "/usr/bin/python3", "-c", QUEUE_PAIRS).stdout
             for host in ("node-1", "node-2")]
    assert count == ["3 ENOMEM\n", ""]
    for option, number, error in (("-r", 100, "create CQ"),
                                  ("-s", 65537, "register MR")):
        refused = lab.run("node-1", "ibv_rc_pingpong", option, number,
                          check=False)
        assert f"Couldn't {error}" in refused.stderr
    lab.account.run(
        *lab.on("node-2", "node-3"), "/usr/bin/python3", "-c",
        (ROOT / "tests/e2e/verbs/two_ends.py").read_text(), "read", 1,
        check=False)
    assert [refusals(lab, host) for host in ("node-1", "node-2")] == [
        ["CREATE_CQ was refused with EINVAL: cqe is 101: there may be 1 to 20",
         "REG_MR was refused with EINVAL: 65537 bytes: a region has at most "
         "65536"],
        ["MODIFY_QP was refused with EINVAL: max_dest_rd_atomic is 4: there may "
         "be 0 to 2"]]
