#!/usr/bin/python3
"""clang-tidy over the programs' sources: tidy.py UNITY_BUILD BUILD.

Most of its time goes into headers, so it first looks at a dozen files at once,
as Meson's unity build joins them.  What it says of those is no more than a
hint: two files may use one name for two things.  So it looks again, file by
file, at each dozen that it had something to say of, and that is what counts.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

# Those that walk all paths of each function take half of the time: they are
# left to `tools/dev lint`.  With the compiler's warnings the build deals.
COMMON = ["clang-tidy", "-quiet", "--extra-arg=-Wno-error"]
CHECKS = "--checks=-clang-analyzer-*"
JOINED = [CHECKS + ",-bugprone-suspicious-include",
          r"--header-filter=/(base|mad|verbs|fabric|hca|sysfs|cuse|daemon)/.*\.(h|cc)$"]


def sources(build):
    """Yields what Meson compiles in `build`."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        yield pathlib.Path(os.path.normpath(
            pathlib.Path(entry["directory"]) / entry["file"]))


def complaints(build, options, file):
    done = subprocess.run([*COMMON, *options, "-p", build, file],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    return done.stdout if done.returncode else ""


def look(unity, build, unit):
    """Returns (how many files, what clang-tidy says of them)."""
    joined = [pathlib.Path(os.path.normpath(name))
              for name in re.findall(r"#include\s*<(.*\.cc)>", unit.read_text())]
    # What a program made is nobody's style.
    files = [file for file in joined if unity not in file.parents] or [unit]
    if joined and not complaints(unity, JOINED, unit):
        return len(files), ""
    if joined:
        print(f"{unit.name}: file by file", flush=True)
    return len(files), "".join(
        complaints(build, [CHECKS], file) for file in files)


def main():
    unity, build = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    count, said = 0, ""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for files, words in pool.map(lambda unit: look(unity, build, unit),
                                     sources(unity)):
            count += files
            said += words
    print(said, end="")
    print(f"clang-tidy: {count} files {'with complaints' if said else 'clean'}")
    return 1 if said or not count else 0


if __name__ == "__main__":
    sys.exit(main())
