#!/usr/bin/env python3
"""embed_page.py OUTPUT FILE...: writes a C++ source with the contents of the
live view's files, for daemon/web/view/page_files.h."""

import pathlib
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def literal(line):
    """A C string literal; octal, for those end after three digits."""
    return '"' + "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?'
        else f"\\{byte:03o}" for byte in line) + '"'


def entry(path):
    url = "/" if path.name == "index.html" else "/" + re.escape(path.name)
    lines = path.read_bytes().splitlines(keepends=True)
    text = "\n".join("     " + literal(line) for line in lines)
    return (f"    {{{literal(url.encode())}, {literal(TYPES[path.suffix].encode())},\n"
            f"{text}}},\n")


def main(output, *files):
    entries = "".join(entry(pathlib.Path(file)) for file in files)
    pathlib.Path(output).write_text(f"""\
#include "daemon/web/view/page_files.h"

namespace ibemu::daemon {{
namespace {{

constexpr PageFile kPageFiles[] = {{
{entries}}};

}}  // namespace

std::span<const PageFile> PageFiles() {{ return kPageFiles; }}

}}  // namespace ibemu::daemon
""")


if __name__ == "__main__":
    main(*sys.argv[1:])
