#!/usr/bin/env python3
"""Fails if the rooms of the tree are not what their meson.build files say.

A room is a folder whose meson.build has a list NAME_rooms (NAME: the path, with
"_" for "/").  It may include headers of itself and of the rooms in that list,
which holds no room that it does not include.  Meson wants each room defined
before it is named, so there are no circles.  Beyond that:
- what one room alone may use: libfuse, liburing, gRPC, OpenSSL, libsystemd;
- what must not know each other: our driver and the model that judges it;
- the clock, chance and sleep come from base/ and loop/, not from behind the back
  of Timers and Random;
- a class is in the file of its name, so each .cc file has a header of its own,
  other than a program's (*_main.cc);
- the first sentence of a header is a noun phrase that says what is there, after
  the name of the class or function if it begins with one;
- no two headers define a class, a struct or an enum of one name at namespace
  level: one name is one thing;
- a meson.build names each source of a room, each test and each fuzz target;
- the tests of a room are in the folder of its path in tests/, and one that has a
  header's name is in that of this header;
- a folder holds at most 35 files and has a README.md;
- the table of ARCHITECTURE.md names no room above one that it includes."""

import pathlib
import re
import sys

NO_ROOMS = {"bench", "testing", "tests", "build"}  # they may include all
ONLY_IN = {"fuse": "cuse/fuse", "liburing": "loop", "openssl": "peers",
           "systemd": "launch/systemd",
           **dict.fromkeys(["grpc", "grpcpp", "google"], "peers or cli/device_plugin")}
STRANGERS = [("hca/mlx4", "hca/model"), ("hca/mlx4", "fabric"),
             ("hca/mlx4", "hca/remote")]
CLOCKS = {
    "base",  # Random
    "loop",  # Timers
    "launch", "cli",  # of one process, that has no loop
    "daemon/web",  # httplib's threads have none
    "fast_path/preload", "lint",  # of a program that is not ours
}
# Where wall-clock time is part of what is told or asked, another process is
# waited for while the loop stands still, or a seed is drawn that nobody chose.
CLOCK_FILES = {
    "daemon/adapters/hca_access.cc",
    "daemon/capture/capture_methods.cc",
    "daemon/draw_seed.cc",
    "daemon/fabric_backend.cc",
    "daemon/hca_backend.cc",
    "daemon/remote_node/remote_cable.cc",
    "peers/refusal_log.cc",
    "peers/subnet_proxy.cc",
    "topology/formats/progress_line.cc",
}
# Of an interface: rooms that implement it run them.
SUITES = {"verbs/providers"}
MOST_FILES = 35
# What a list of names leaves out of "NAME_fuzz.cc" and the like.
ENDINGS = "", "_main", "_test", "_fuzz"
CLOCK = re.compile(
    r"\babsl::(Now|SleepFor|GetCurrentTimeNanos|BitGen)\b|_clock::now\b|"
    r"\brandom_device\b|_distribution\b|"
    r"\b(nano|u)?sleep\(|\bsleep_for\b|\bclock_gettime\b|\brand\(|"
    r"\bgetrandom\(|\bwait_(for|until)\(")
INCLUDE = re.compile(
    r'#include (?:"(\w[\w/]*)/\w+\.h"|<(fuse|liburing|grpc|grpcpp|google|openssl|'
    r'systemd)\b)')
# A definition at namespace level, where nothing is indented; no member of a
# class that another header declares ("class Loop::Watcher {").
DEFINITION = re.compile(
    r"^(?:class|struct|union|enum(?: class| struct)?)\s+(?:alignas\([^)]*\) )?"
    r"(\w+)(?: final)?(?:\s*:(?!:)[^;{]*)?\s*\{", re.M)
# "CallBudget: ", "HardwareAddress and Encapsulation: ", "ReadFile(): ".
NAMED = re.compile(
    r"([A-Z]\w*(?:\(\))?(?:(?:, | and )[A-Z]\w*(?:\(\))?)*): ")
QUESTION = re.compile(r"(?:what|who|whom|whose|why|how|where|when|which|whether)\b",
                      re.I)
ROOMS = re.compile(r"^(\w+)_rooms = \[([^\]]*)\]", re.M)


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def read_rooms(root):
    """{path of a room: (paths of the rooms it names, its meson.build)}"""
    names, lists = {}, {}
    for path in sorted(root.rglob("meson.build")):
        folder = path.parent.relative_to(root).as_posix()
        if folder.split("/")[0] in NO_ROOMS:
            continue
        for name, listed in ROOMS.findall(path.read_text()):
            names[name] = folder
            lists[folder] = (name, [word for word in
                                    re.split(r"[\s,]+", listed) if word])
    return names, lists


def declared(names, lists):
    """Yields complaints about the lists; returns what they name."""
    rooms, faults = {}, []
    for folder, (name, words) in lists.items():
        where = f"{folder}/meson.build"
        if name != folder.replace("/", "_"):
            faults.append(f"{where}: the list of {folder}/ is called "
                          f"{folder.replace('/', '_')}_rooms, not {name}_rooms")
        for word in words:
            if word not in names:
                faults.append(f'{where}: there is no room "{word}"')
        rooms[folder] = {names[word] for word in words if word in names}
    return rooms, faults


def clock_allowed(path, folder):
    return path in CLOCK_FILES or any(inside(folder, room) for room in CLOCKS)


def violations(root):
    names, lists = read_rooms(root)
    rooms, faults = declared(names, lists)
    yield from faults
    for folder, known in sorted(rooms.items()):
        for other, stranger in STRANGERS:
            for used in sorted(known):
                if (inside(folder, other) and inside(used, stranger) or
                        inside(folder, stranger) and inside(used, other)):
                    yield (f"{folder}/meson.build: {folder}/ must not know "
                           f"{used}/")
        included = set()
        for path in sorted((root / folder).glob("*.[hc]*")):
            file = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                where = f"{file}:{number}"
                if (CLOCK.search(line.split("//")[0]) and
                        not clock_allowed(file, folder)):
                    yield f"{where}: time and chance come from base/"
                match = INCLUDE.match(line)
                if not match:
                    continue
                used, library = match.groups()
                if library and not any(inside(folder, room) for room in
                                       ONLY_IN[library].split(" or ")):
                    yield f"{where}: only {ONLY_IN[library]}/ may use {library}"
                if used in rooms:
                    included.add(used)
                    if used != folder and used not in known:
                        yield (f"{where}: {folder}/ may not include {used}/: "
                               f"{folder}/meson.build does not name it")
        for unused in sorted(known - included):
            yield (f"{folder}/meson.build: {folder}/ includes nothing of "
                   f"{unused}/")


def headerless(root):
    """Complaints about .cc files of rooms whose stem no header has."""
    rooms, _ = declared(*read_rooms(root))
    for folder in sorted(rooms):
        for path in sorted((root / folder).glob("*.cc")):
            if (not path.stem.endswith("_main") and
                    not path.with_suffix(".h").exists()):
                yield (f"{path.relative_to(root).as_posix()}: there is no "
                       f"{path.stem}.h: a class is in the file of its name")


def untitled(root):
    """Complaints about first sentences of headers."""
    rooms, _ = declared(*read_rooms(root))
    for path in sorted(path for folder in rooms
                       for path in (root / folder).glob("*.h")):
        where = f"{path.relative_to(root).as_posix()}:1"
        comment, code = re.match(r"((?://[^\n]*\n)*)(.*)", path.read_text(),
                                 re.S).groups()
        title = re.sub(r"\n// ?", " ", comment.removeprefix("// "))
        named = NAMED.match(title)
        if QUESTION.match(title[named.end() if named else 0:]):
            yield (f"{where}: a header begins with a noun phrase that says what "
                   "is there, not with a question")
        for name in re.findall(r"\w+", named[1]) if named else []:
            if not name.isupper() and name != "and" and not re.search(
                    rf"^\s*(?:class|struct|enum class|using) {name}\b|"
                    rf"^[^/\n]*\b{name}\(", code, re.M):
                yield f"{where}: the header has no {name}"


def namesakes(root):
    """Complaints about names that several headers of rooms give to a class."""
    rooms, _ = declared(*read_rooms(root))
    headers = {}
    for folder in sorted(rooms):
        for path in sorted((root / folder).glob("*.h")):
            for name in DEFINITION.findall(path.read_text()):
                headers.setdefault(name, []).append(
                    path.relative_to(root).as_posix())
    for name, where in sorted(headers.items()):
        if len(where) > 1:
            yield (f"{where[1]}: {name} is in {where[0]}, too: "
                   "one name is one thing")


def uncompiled(root):
    """Complaints about .cc files of rooms and tests that no meson.build names."""
    rooms, _ = declared(*read_rooms(root))
    sources = [path for room in rooms for path in (root / room).glob("*.cc")]
    sources += [path for ending in ENDINGS[2:]
                for path in (root / "tests").rglob(f"*{ending}.cc")]
    named = {}
    for path in sorted(sources):
        folders = list(path.parents)
        for folder in folders[:folders.index(root)]:
            if folder not in named:
                build = folder / "meson.build"
                named[folder] = {name + ending for name in re.findall(
                    r"'([\w./-]+)'", build.read_text() if build.exists() else "")
                    for ending in ENDINGS}
            relative = path.relative_to(folder)
            if {relative.as_posix(), relative.with_suffix("").as_posix(),
                path.stem} & named[folder]:
                break
        else:
            yield (f"{path.relative_to(root).as_posix()}: no meson.build "
                   "names it, so nothing compiles it")


def misplaced(root):
    """Complaints about unit tests that are elsewhere than what they test: the
    header of their name, where they include it or both have the same room of the
    top level."""
    rooms, _ = declared(*read_rooms(root))
    headers = {}
    for room in rooms:
        for path in (root / room).glob("*.h"):
            headers.setdefault(path.stem, []).append(room)
    tests = root / "tests"
    for path in sorted(tests.rglob("*_test.cc")):
        folder = path.parent.relative_to(tests).as_posix()
        if folder in SUITES:
            continue
        where = path.relative_to(root).as_posix()
        if folder not in rooms:
            yield (f"{where}: folders of tests/ are those of rooms, and there is "
                   f"no room {folder}/")
            continue
        name, text = path.stem.removesuffix("_test"), path.read_text()
        homes = sorted(
            room for room in headers.get(name, ())
            if room.split("/")[0] == folder.split("/")[0] or
            f'#include "{room}/{name}.h"' in text)
        if homes and folder not in homes:
            yield (f"{where}: the test of {homes[0]}/{name}.h belongs to "
                   f"tests/{homes[0]}/")


def disordered(root):
    """Complaints about rooms that include what stands below them in the map."""
    rooms, _ = declared(*read_rooms(root))
    rows = re.findall(r"^\| `([\w/]+)/` \|",
                      (root / "ARCHITECTURE.md").read_text(), re.M)
    places = {}
    for room in sorted(rooms):
        names = [row for row in rows if inside(room, row)]
        if not names:
            yield f"ARCHITECTURE.md: no row of the rooms has {room}/"
            continue
        places[room] = rows.index(max(names, key=len))
    for room in sorted(places):
        for below in sorted(other for other in rooms[room]
                            if places.get(other, -1) > places[room]):
            yield (f"ARCHITECTURE.md: {room}/ includes {below}/, which stands "
                   "below it")


def includers(rooms):
    """{room: its users, as its README.md has them}"""
    return {room: ", ".join(sorted(user for user, used in rooms.items()
                                   if room in used)) or "nobody"
            for room in rooms}


def untold(root):
    """Complaints about folders that hold rooms, and their README.md files."""
    rooms, _ = declared(*read_rooms(root))
    folders = {folder for room in rooms
               for folder in [room, *map(str, pathlib.PurePath(room).parents)]}
    for folder in sorted(folders - {"."}):
        files = [path for path in (root / folder).iterdir() if path.is_file()]
        if len(files) > MOST_FILES:
            yield f"{folder}/: {len(files)} files; {MOST_FILES} are the most"
        if not (root / folder / "README.md").exists():
            yield f"{folder}/: no README.md says what lives here"
    for room, users in includers(rooms).items():
        readme = root / room / "README.md"
        line = f"Included by: {users}."
        if readme.exists() and line not in readme.read_text().splitlines():
            yield f'{room}/README.md: it has to say "{line}"'


if __name__ == "__main__":
    tree = pathlib.Path(sys.argv[1])
    sys.exit("\n".join([*violations(tree), *headerless(tree),
                        *untitled(tree), *namesakes(tree),
                        *uncompiled(tree), *misplaced(tree),
                        *disordered(tree), *untold(tree)])
             or 0)
