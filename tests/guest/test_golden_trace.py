"""The commands that Linux's own driver gives: the golden data that ibemu's
driver is compared with (tests/hca/mlx4/golden_trace_test.cc)."""

import os
import pathlib

from mlx4_guest import CLASS, DRIVER, FUNCTION, load

GOLDEN = pathlib.Path(__file__).with_name("golden") / "mlx4_driver.txt"
DRIVERS = ["mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs"]


def masked(line):
    """Without what the kernel leaves to chance."""
    words = line.split()
    # Into how many pieces memory falls that is given to the firmware depends
    # on what else the kernel has in it.
    if words[0] in ("MAP_FA", "MAP_ICM_AUX"):
        return words[0]
    return line


def commands(text):
    """Those of a trace: MAD_IFC apart, in no order and once each, as threads
    and events of the kernel's come to them when they come."""
    lines = [masked(line) for line in text.splitlines()
             if not line.startswith("#")]
    return ([line for line in lines if not line.startswith("MAD_IFC")],
            {line for line in lines if line.startswith("MAD_IFC")})


def test_the_driver_gives_the_commands_that_are_kept(fabric, plug, tmp_path):
    trace = tmp_path / "trace"
    lab = fabric("single-switch:hosts=2", sm="static")
    with plug(lab, "node-2", f"--trace={trace}", modules=DRIVERS,
              programs=[]) as guest:
        load(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        guest.say(f"echo {FUNCTION} > {DRIVER}/unbind")
    kept = GOLDEN.read_text()
    if os.environ.get("IBEMU_RECORD_GOLDEN"):
        head = [line for line in kept.splitlines() if line.startswith("#")]
        GOLDEN.write_text("\n".join(head) + "\n" + trace.read_text())
        return
    for now, then in zip(commands(trace.read_text()), commands(kept)):
        assert now == then
