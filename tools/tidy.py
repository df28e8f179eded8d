#!/usr/bin/python3
"""clang-tidy: tidy.py all BUILD, or tidy.py changes BUILD BASE.

BUILD is a Meson tree that compiles each file by itself.  `all` looks at every
source, tests included; `changes` at those that differ from the commit BASE, those
of programs and the most changed ones first, no more than MOST, and without the
checks that walk all paths of each function, which take half of the time.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 12  # files: two minutes on two processors, more of tests
QUICK = ["--checks=-clang-analyzer-*"]


def compiled(build):
    """The sources that Meson compiles in `build`, without generated ones."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.normpath(
            pathlib.Path(entry["directory"]) / entry["file"]))
        if build not in path.parents and path.suffix == ".cc":
            yield path.relative_to(ROOT)


def changed(base):
    """{file: lines added and deleted}; a file that only moved has none."""
    numbers = subprocess.run(
        ["git", "diff", "-M", "-z", "--numstat", base, "--", "*.cc", "*.h"],
        check=True, capture_output=True, text=True, cwd=ROOT).stdout
    fields = iter(numbers.split("\0"))
    found = {}
    for field in fields:
        if not field:
            continue
        added, deleted, name = field.split("\t")
        if not name:  # moved: its old and its new name follow
            next(fields)
            name = next(fields)
        if int(added) + int(deleted):
            found[pathlib.Path(name)] = int(added) + int(deleted)
    return found


def touched(sources, base):
    """The sources to look at: what changed, and what a changed header is of."""
    sources = sorted(set(sources))
    by_stem = {source.with_suffix(""): source for source in sources}
    lines = {}
    for path, count in changed(base).items():
        source = by_stem.get(path.with_suffix(""))
        if source:
            lines[source] = lines.get(source, 0) + count
    programs_first = sorted(lines, key=lambda source: (
        source.parts[0] == "tests", -lines[source], source))
    return programs_first[:MOST], len(programs_first)


def complaints(build, options, source):
    done = subprocess.run(
        ["clang-tidy", "-quiet", "--extra-arg=-Wno-error", *options, "-p", build,
         source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        check=False, cwd=ROOT)
    if done.returncode == 0:
        return ""
    return done.stdout or f"{source}: {done.stderr}"


def main():
    what, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    options, left = [], 0
    if what == "all":
        sources = sorted(set(compiled(build)))
        assert sources, f"{build} compiles nothing"
    else:
        options = QUICK
        sources, count = touched(compiled(build), sys.argv[3])
        left = count - len(sources)
    said = ""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for words in pool.map(lambda source: complaints(build, options, source),
                              sources):
            said += words
    print(said, end="")
    print(f"clang-tidy: {len(sources)} files"
          f" {'with complaints' if said else 'clean'}"
          + (f", {left} more that changed are left to `tools/dev deep tidy`"
             if left else ""))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
