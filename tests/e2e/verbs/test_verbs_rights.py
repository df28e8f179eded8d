"""Whose rights count when a supervisor opens a verbs device for a client."""

import os
import re
import textwrap

import pytest

root_alone = pytest.mark.parametrize("account", ["root"], indirect=True)

USER = 12346
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
           "--"]

OPEN = textwrap.dedent("""
    import errno, os, sys
    try:
        fd = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
        print(os.readlink(f"/proc/self/fd/{fd}"),
              f"{os.fstat(fd).st_mode & 0o777:o}")
    except OSError as error:
        print(errno.errorcode[error.errno])
""")
PYTHON = ["/usr/bin/python3", "-c", OPEN]
NODE = "/dev/infiniband/uverbs0"


def run(account, *command):
    return account.run("ibemu", "run", "--", *command).stdout


@root_alone  # a plain user's namespace has one user
def test_a_user_in_roots_run_uses_the_adapter_as_himself(account):
    text = run(account, *AS_USER, "ibv_devinfo")
    assert re.search(r"hca_id:\s+ibemu0\n", text)
    assert "PORT_ACTIVE" in text
    pair = ("ibv_rc_pingpong -n 100 -s 4096 -e > /dev/null & "
            "until ibv_rc_pingpong -n 100 -s 4096 -e localhost; do "
            "sleep 0.1; done; wait")
    assert "100 iters in" in run(account, *AS_USER, "sh", "-c", pair)


# What a user makes of /dev/infiniband in namespaces of his own: .uverbs0 is
# another file that root may open, and he may not.
UMAD = "/dev/infiniband/umad0"
SHAM = "mkdir sham real && mount --bind /dev/infiniband real && "
BIND = " && mount --rbind sham /dev/infiniband"
WAYS = {
    "link": SHAM + "ln -s $PWD/real/umad0 sham/.uverbs0" + BIND,
    "bind": SHAM + "touch sham/.uverbs0 && "
            "mount --bind real/umad0 sham/.uverbs0" + BIND,
    "cover": f"mount --bind {UMAD} /dev/infiniband/.uverbs0",
    "link-to-a-secret": SHAM + "ln -s $SECRET sham/.uverbs0" + BIND,
}


@root_alone
@pytest.mark.parametrize("way", WAYS)
def test_a_user_gets_nothing_by_another_files_name(account, scratch, way):
    secret = account.home / "secret"
    secret.touch()
    secret.chmod(0o600)
    work = scratch / f"rights-{way}"
    work.mkdir()
    os.chown(work, USER, USER)
    script = f"cd {work} && {WAYS[way]} && exec \"$@\""
    told = run(account, *AS_USER, "env", f"SECRET={secret}", "unshare", "-Urm",
               "sh", "-ec", script, "sh", *PYTHON, NODE)
    # A mount on a name of the run's own goes when somebody looks it up.
    assert told.strip() in ("EACCES", "ENOENT", "ENXIO", "ELOOP",
                            "/dev/infiniband/.uverbs0 666"), told


@root_alone
def test_root_in_a_namespace_of_its_own_has_the_adapter(account):
    told = run(account, *AS_USER, "unshare", "-Urm", *PYTHON, NODE)
    assert told == "/dev/infiniband/.uverbs0 666\n"
    assert run(account, *PYTHON, NODE) == told


def test_a_name_that_linux_does_not_know_is_none(account):
    for name in "uverbs00", "uverbs+0", "uverbs 0", "uverbs0/../uverbs0":
        assert run(account, *PYTHON, f"/dev/infiniband/{name}") in (
            "ENOENT\n", "ENOTDIR\n")
