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


def literal(data):
    """A C string literal; octal, for those end after three digits."""
    return '"' + "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?'
        else f"\\{byte:03o}" for byte in data) + '"'


def array(name, data):
    """An array, for C++ compilers need not take literals as long as a library
    of JavaScript."""
    values = [str(byte if byte < 128 else byte - 256) for byte in data]
    lines = [",".join(values[i:i + 32]) for i in range(0, len(values), 32)]
    return f"constexpr char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main(output, *names):
    arrays, entries = "", ""
    for number, path in enumerate(map(pathlib.Path, names)):
        url = "/" if path.name == "index.html" else "/" + re.escape(path.name)
        arrays += array(f"kContents{number}", path.read_bytes())
        entries += (f"    {{{literal(url.encode())},"
                    f" {literal(TYPES[path.suffix].encode())},\n"
                    f"     {{kContents{number}, sizeof(kContents{number})}}}},\n")
    pathlib.Path(output).write_text(f"""\
#include "daemon/web/view/page_files.h"

namespace ibemu::daemon {{
namespace {{

{arrays}
constexpr PageFile kPageFiles[] = {{
{entries}}};

}}  // namespace

std::span<const PageFile> PageFiles() {{ return kPageFiles; }}

}}  // namespace ibemu::daemon
""")


if __name__ == "__main__":
    main(*sys.argv[1:])
