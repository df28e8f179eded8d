"""What a program registered ends with it, for who has the keys.

The daemon of root's run may reach into every program, so into a set-id one that
takes the place of the program which registered memory.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

# A plain user's namespace has no other user, and his daemon no right of root's.
pytestmark = pytest.mark.parametrize("account", ["root"], indirect=True)

HERE = pathlib.Path(__file__).parent
USER, OTHER = 12346, 12347


@pytest.fixture(scope="module")
def keeper(scratch):
    program = scratch / "keeper"
    if not program.exists():
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-pie",
                        "-no-pie", "-o", program, HERE / "keeper.c",
                        "-libverbs"], check=True)
    return program


def test_a_set_id_program_is_not_reached_by_the_keys_of_the_one_before(
        account, keeper, scratch):
    assert not os.statvfs(scratch).f_flag & os.ST_NOSUID, (
        f"{scratch}: no set-id programs there, set TMPDIR")
    victim = scratch / "keeper-set-uid"
    shutil.copy(keeper, victim)
    os.chown(victim, OTHER, 0)
    victim.chmod(0o4755)
    done = account.run(
        "ibemu", "run", "--", "setpriv", f"--reuid={USER}", f"--regid={USER}",
        "--clear-groups", "--inh-caps=-all", "--", keeper, "run", victim)
    assert done.stdout == "untouched, set-uid\n"
    assert done.stderr == "failed\n"
