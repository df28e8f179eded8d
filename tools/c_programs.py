#!/usr/bin/env python3
"""tools/c_programs.py: compiles, into build/c_programs/, the C programs that
tests run on a machine without a compiler (the Debian of tools/qemu)."""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
BROUGHT = ROOT / "build/c_programs"
# What such a machine runs, each with the packages of pkg-config that it needs.
CARRIED = {
    "tests/e2e/verbs/deputy.c": [],
    "tests/e2e/verbs/held_up.c": ["fuse3"],
    "tests/e2e/verbs/long_writes.c": [],
    "tests/uml/guest/fifo_swap.c": [],
}


def compile_program(source, program, packages=()):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *packages],
                           check=True, capture_output=True, text=True
                           ).stdout.split() if packages else []
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
                    "-o", program, source, *flags], check=True)


def compiled(source, directory):
    """The program of a C file among these, in a directory that everybody may
    enter: made there once, or brought there."""
    program = directory / source.stem
    if program.exists():
        return program
    if shutil.which("gcc"):
        compile_program(source, program,
                        CARRIED[str(source.relative_to(ROOT))])
    else:
        shutil.copy(BROUGHT / source.stem, program)
    return program


def main():
    BROUGHT.mkdir(parents=True, exist_ok=True)
    for source, packages in CARRIED.items():
        path = ROOT / source
        compile_program(path, BROUGHT / path.stem, packages)


if __name__ == "__main__":
    main()
