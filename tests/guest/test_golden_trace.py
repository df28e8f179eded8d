"""The commands that Linux's own driver gives: the golden data that ibemu's
driver is compared with (tests/hca/mlx4/golden_trace_test.cc)."""

import os
import pathlib

from mlx4_guest import CLASS, DRIVER, FUNCTION, NETWORK, connect, load
from pingpong import play

KEPT = pathlib.Path(__file__).with_name("golden")
DRIVERS = ["mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs"]
PINGPONGS = {"ibv_rc_pingpong": [], "ibv_uc_pingpong": [],
             "ibv_ud_pingpong": [], "ibv_srq_pingpong": ["-q", "1"]}
# Of programs' objects: their numbers, and where their memory lies.
CHANCE = {"in", "pd", "usr_page", "mem_key", "local_qpn", "remote_qpn",
          "cqn_snd", "cqn_rcv", "srqn", "next_send_psn", "next_rcv_psn",
          "start_address", "mtt_addr", "mtt_base_addr", "entity_size",
          "log_page_size", "log2_page_size", "page_offset"}


def masked(line):
    """Without what the kernel leaves to chance."""
    words = line.split()
    # Into how many pieces memory falls that is given to the firmware depends
    # on what else the kernel has in it.
    if words[0] in ("MAP_FA", "MAP_ICM_AUX"):
        return words[0]
    return line


def said(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def commands(text):
    """Those of a trace: MAD_IFC apart, in no order and once each, as threads
    and events of the kernel's come to them when they come."""
    lines = [masked(line) for line in said(text)]
    return ([line for line in lines if not line.startswith("MAD_IFC")],
            {line for line in lines if line.startswith("MAD_IFC")})


def of_programs(text):
    """Commands without CHANCE."""
    lines = []
    for line in commands(text)[0]:
        name, told, *fields = line.split()
        lines.append(" ".join([name, told, *(
            field for field in fields if field.split("=")[0] not in CHANCE)]))
    return lines


def check(name, text, ordered):
    """Against what is kept under this name; or keeps it, if that is wanted."""
    file = KEPT / name
    kept = file.read_text()
    if os.environ.get("IBEMU_RECORD_GOLDEN"):
        head = [line for line in kept.splitlines() if line.startswith("#")]
        file.write_text("\n".join(head) + "\n" + text)
        return
    assert ordered(text) == ordered(kept)


def test_the_driver_gives_the_commands_that_are_kept(fabric, plug, tmp_path):
    trace = tmp_path / "trace"
    lab = fabric("single-switch:hosts=2", sm="static")
    with plug(lab, "node-2", f"--trace={trace}", modules=DRIVERS,
              programs=[]) as guest:
        load(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        guest.say(f"echo {FUNCTION} > {DRIVER}/unbind")
    check("mlx4_driver.txt", trace.read_text(), commands)


def test_the_driver_gives_the_commands_for_programs_that_are_kept(
        fabric, plug, tmp_path):
    trace = tmp_path / "trace"
    lab = fabric("single-switch:hosts=2", sm="static")
    found = ""
    with plug(lab, "node-2", f"--trace={trace}", machine=NETWORK,
              programs=list(PINGPONGS)) as guest:
        load(guest)
        connect(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        for program, options in PINGPONGS.items():
            before = len(trace.read_text())
            play(lab, guest, program, 10, "-r", "100", *options)
            lines = of_programs(trace.read_text()[before:])
            found += "\n".join([f"PROGRAM {program}", *lines, ""])
    check("mlx4_programs.txt", found, said)
