#!/usr/bin/python3
"""clang-tidy: tidy.py all BUILD, or tidy.py changes BUILD BASE.

`all` looks at every source, tests and benchmarks included.  Its BUILD is a Meson
tree that compiles some sources joined (unity): most of the time goes into the
headers of libraries, and joined files have each once.  `changes` looks at those
that differ from the commit BASE, those of programs and the most changed ones
first, no more than MOST, and without the checks that walk all paths of each
function, which take half of the time.  A header that has no source of its name is
seen in one that includes it.  Its BUILD compiles each file by itself.

What was clean is remembered by content, of all headers as well, below
$XDG_CACHE_HOME: so a second look takes as long as what changed since.  What
nobody has asked for in a month is forgotten.
"""

import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 12  # files: two minutes on two processors, more of tests
QUICK = "-clang-analyzer-*"
ROOMS = "bench", "tests"  # with checks of their own
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
JOINED = "-bugprone-suspicious-include"  # of .cc files
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                     pathlib.Path.home() / ".cache") / "ibemu" / "clang-tidy"
MONTH = 30 * 24 * 3600  # seconds


def compiled(build):
    """{source: its command} of what Meson compiles in `build`, without generated
    ones, but for those that join others."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.normpath(
            pathlib.Path(entry["directory"]) / entry["file"]))
        if "-unity" in path.name or (
                build not in path.parents and path.suffix == ".cc"):
            found[path.relative_to(ROOT)] = shlex.split(entry["command"])
    return found


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


def includers():
    """{header: what includes it by itself} of the files that git knows."""
    names = subprocess.run(["git", "ls-files", "-z", "--", "*.cc", "*.h"],
                           check=True, capture_output=True, text=True,
                           cwd=ROOT).stdout.split("\0")
    files = {pathlib.Path(name) for name in names if (ROOT / name).is_file()}
    found = {}
    for file in files:
        for name in INCLUDE.findall((ROOT / file).read_text()):
            for header in pathlib.Path(name), file.parent / name:
                if header in files:
                    found.setdefault(header, set()).add(file)
    return found


def distances(header, users):
    """{file: how many includes lead from it to this header}, the nearest first."""
    steps = {header: 0}
    for file in (order := [header]):
        for user in users.get(file, ()):
            if user not in steps:
                steps[user] = steps[file] + 1
                order.append(user)
    return steps


def stand_in(header, sources, chosen, users):
    """The source in which to look at this header, which has none of its name; None
    where no source includes it.  One of a room that has all checks, if there is
    one; one that is looked at anyway costs nothing; else the nearest, of the
    header's folder rather than of another."""
    steps = distances(header, users)
    return min((source for source in sources if source in steps), default=None,
               key=lambda source: (
                   source.parts[0] in ROOMS, source not in chosen, steps[source],
                   source.parent != header.parent, source))


def touched(sources, base):
    """The sources to look at: what changed, and what a changed header is of or
    is seen in."""
    by_stem = {source.with_suffix(""): source for source in sources}
    lines, others = {}, {}
    for path, count in changed(base).items():
        source = by_stem.get(path.with_suffix(""))
        if source:
            lines[source] = lines.get(source, 0) + count
        elif path.suffix == ".h":
            others[path] = count
    users = includers() if others else {}
    for header, count in sorted(others.items()):
        source = stand_in(header, sources, lines, users)
        if source:
            lines[source] = lines.get(source, 0) + count
    programs_first = sorted(lines, key=lambda source: (
        source.parts[0] == "tests", -lines[source], source))
    return programs_first[:MOST], len(programs_first)


@functools.cache
def checks_of(room):
    """What the room's own .clang-tidy says: joined files are not below it."""
    return yaml.safe_load((ROOT / room / ".clang-tidy").read_text())["Checks"]


def options(source, build, checks):
    """clang-tidy's options for this source."""
    place = ROOT / source
    if build in place.parents:
        place = ROOT / place.relative_to(build)
    for room in ROOMS:
        if ROOT / room in place.parents:
            checks = f"{checks},{checks_of(room)}"
    return [f"--checks={checks}"]


@functools.cache
def digest(path):
    """Of what it says, wherever the tree is: what joins sources names them by
    absolute paths."""
    content = path.read_bytes().replace(str(ROOT).encode(), b"")
    return hashlib.sha256(content).hexdigest()


@functools.cache
def configuration():
    """Of this clang-tidy and its checks; those of a room are among the options."""
    version = subprocess.run(["clang-tidy", "--version"], check=True,
                             capture_output=True).stdout
    return version + (ROOT / ".clang-tidy").read_bytes()


def key(build, chosen, command):
    """Names all that clang-tidy will read, by content; None where the compiler
    can't list it."""
    done = subprocess.run(
        [*without_output(command), "-M", "-MT", "source"], cwd=build,
        capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    read = done.stdout.replace("\\\n", " ").split()[1:]
    told = hashlib.sha256(configuration())
    for word in [*chosen, *command, *(digest(build / name) for name in read)]:
        told.update(word.replace(str(ROOT), "").encode() + b"\0")
    return told.hexdigest()


def without_output(command):
    """The compiler's command without what says where its results go."""
    words = iter(command)
    for word in words:
        if word == "ccache":
            continue
        if word in ("-o", "-MF", "-MQ"):
            next(words)
        elif word not in ("-c", "-MD"):
            yield word


def is_clean(memory, name):
    """An entry that is asked for stays."""
    try:
        os.utime(memory / name)
    except FileNotFoundError:
        return False
    return True


def forget(memory, before):
    """Entries that nobody has asked for since then."""
    for entry in memory.glob("*"):
        # Another run may forget the same.
        with contextlib.suppress(FileNotFoundError):
            if entry.stat().st_mtime < before:
                entry.unlink()


def complaints(build, chosen, source, command):
    name = key(build, chosen, command)
    if name and is_clean(CLEAN, name):
        return ""
    done = subprocess.run(
        ["clang-tidy", "-quiet", "--extra-arg=-Wno-error", *chosen, "-p", build,
         source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        check=False, cwd=ROOT)
    if done.returncode == 0:
        if name:
            CLEAN.mkdir(parents=True, exist_ok=True)
            (CLEAN / name).touch()
        return ""
    return done.stdout or f"{source}: {done.stderr}"


def main():
    what, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    commands = compiled(build)
    assert commands, f"{build} compiles nothing"
    checks, sources, left = JOINED, sorted(commands), 0
    if what == "changes":
        checks = QUICK
        sources, count = touched(sources, sys.argv[3])
        left = count - len(sources)
    said = ""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for words in pool.map(lambda source: complaints(
                build, options(source, build, checks), source,
                commands[source]), sources):
            said += words
    forget(CLEAN, time.time() - MONTH)
    print(said, end="")
    print(f"clang-tidy: {len(sources)} files,"
          f" {'some with complaints' if said else 'all clean'}"
          + (f", {left} more that changed are left to `tools/dev deep tidy`"
             if left else ""))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
