"""Who hands his adapter, or his rdma_cm, to a program with other rights gets
nothing by it.

A command names the place of its answer in the memory of who writes it.  The
daemon writes there as root, so it would write into programs that their user may
not look into.
"""

import os
import pathlib
import shutil
import struct

import pytest

from c_programs import compiled

# A plain user's namespace has no other user, and his daemon no right of root's.
pytestmark = pytest.mark.parametrize("account", ["root"], indirect=True)

HERE = pathlib.Path(__file__).parent
USER, OTHER = 12346, 12347
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
           "--inh-caps=-all", "--"]
NET_RAW = 1 << 13
# struct vfs_cap_data: effective, permitted, none inheritable.
CAPABILITY = struct.pack("<5I", 0x02000001, NET_RAW, 0, 0, 0)


@pytest.fixture(scope="module")
def program(scratch):
    """Makes copies of the deputy, each with its owner and its mode."""
    assert not os.statvfs(scratch).f_flag & os.ST_NOSUID, (
        f"{scratch}: no set-id programs there, set TMPDIR")
    plain = compiled(HERE / "deputy.c", scratch)

    def copy(name, user, group, mode, capability=None):
        path = scratch / f"deputy-{name}"
        shutil.copy(plain, path)
        os.chown(path, user, group)
        path.chmod(mode)
        if capability:
            os.setxattr(path, "security.capability", capability)
        return path

    copy.plain = plain
    return copy


@pytest.fixture(params=["uverbs0", "rdma_cm"])
def device(request):
    """The file whose commands are tried."""
    return request.param


@pytest.fixture
def hand_over(fabric, program, device):
    """What a program says that a user gave a device of root's to.  The last of
    `command` are a deputy and its words."""
    lab = fabric("single-switch:hosts=2", sm="builtin")

    def run(*command, user=AS_USER, before=()):
        return lab.run("node-1", *user, program.plain, device, *before, "open",
                       *command).stderr
    return run


# What the one who opened the file may be, so that he looks like the victim.
OPENERS = pytest.mark.parametrize("before", [[], ["undumpable"]],
                                  ids=["opener", "undumpable-opener"])


@OPENERS
@pytest.mark.parametrize("how", ["", "real"])
def test_a_set_gid_program_is_not_overwritten(
        hand_over, device, program, how, before):
    victim = program("gid", 0, OTHER, 0o2755)
    assert hand_over(victim, device, "write", how, before=before) == (
        "EACCES, untouched\n")


@OPENERS
@pytest.mark.parametrize("owner", [0, OTHER])
@pytest.mark.parametrize("how", ["effective", "real", "dumpable"])
def test_a_set_uid_program_that_dropped_to_its_user_is_not_overwritten(
        hand_over, device, program, owner, how, before):
    victim = program(f"uid-{owner}-{how}", owner, 0, 0o4755)
    assert hand_over(victim, device, "write", how, before=before) == (
        "EACCES, untouched\n")


@OPENERS
@pytest.mark.parametrize("how", ["", "real"])
def test_a_program_with_capabilities_is_not_overwritten(
        hand_over, device, program, how, before):
    victim = program("capable", 0, 0, 0o755, CAPABILITY)
    assert hand_over(victim, device, "write", how, before=before) == (
        "EACCES, untouched\n")


@OPENERS
def test_a_program_that_its_user_cannot_read_is_not_overwritten(
        hand_over, device, program, before):
    victim = program("unreadable", 0, 0, 0o711)
    assert hand_over(victim, device, "write", before=before) == (
        "EACCES, untouched\n")


def test_a_program_that_gave_up_rights_is_refused(hand_over, device, program):
    """As on Linux, though here the one who would be harmed has less."""
    drop = ["/usr/bin/setpriv", f"--reuid={USER}", f"--regid={USER}",
            "--clear-groups", program.plain, device, "write"]
    assert hand_over(*drop, user=[]) == "EACCES, untouched\n"
    drop = ["/usr/bin/setpriv", "--bounding-set=-net_raw", program.plain,
            device, "write"]
    assert hand_over(*drop, user=[]) == "EACCES, untouched\n"


@pytest.mark.parametrize("user", [AS_USER, []], ids=["user", "root"])
def test_children_and_ordinary_programs_are_served(
        hand_over, device, program, user):
    assert hand_over("fork", user=user) == "taken, overwritten\n"
    assert hand_over("fork", user=user, before=["undumpable"]) == (
        "taken, overwritten\n")
    assert hand_over(program.plain, device, "write", user=user) == (
        "taken, overwritten\n")
