#!/usr/bin/env python3
"""relative_sources.py TREE: lets the files in which Meson joins sources (unity)
name them as the build tree TREE sees them, instead of by absolute paths.

So the compiler's cache finds them in any clone as they are, and need not have
their headers read first, which takes two thirds of a build from the cache.
Meson writes the files anew with each configuration: they get the time that they
had, unless they name other sources, or all would be compiled again, as it is by
who runs ninja by hand after a change of a meson.build."""

import os
import pathlib
import shutil
import sys


def rewrite(file, tree):
    text = file.read_text()
    relative = text.replace(f"<{tree}/", "<")
    if relative == text:
        return
    kept = file.with_suffix(".relative")
    if not kept.exists() or kept.read_text() != relative:
        kept.write_text(relative)
    shutil.copy2(kept, file)


def main():
    tree = os.path.realpath(sys.argv[1])
    for file in pathlib.Path(tree).rglob("*-unity*.cpp"):
        rewrite(file, tree)


if __name__ == "__main__":
    main()
