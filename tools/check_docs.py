#!/usr/bin/env python3
"""check_docs.py ROOT BUILD: fails unless man pages and completions name exactly
the commands, options and values that the built programs' --help does, and every
man page and every file of docs/ that any text of the tree names is there, as
are the files, folders and classes that the documents for readers of the code
name."""

import pathlib
import re
import subprocess
import sys

MAN = "docs/man"
COMPLETIONS = "packaging/completions"
# What needs no telling in each man page's section.
EVERYWHERE = {"--help": frozenset()}


def values_of(text):
    return frozenset(re.findall(r"[a-z0-9]\w*", text))


# --- What the programs say: {command: {option: {value, ...}}}, {command: words}

HELP_OPTION = re.compile(r"(?:^  |\[)(--[a-z-]+)(?:=([a-z][a-z0-9|]*)?)?", re.M)
HELP_USAGE = re.compile(r"(?:Usage:|or: ) +ibemu ([a-z-]+) (.*)")


def ask(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def options_in_help(text):
    options = dict(EVERYWHERE)
    for name, values in HELP_OPTION.findall(text):
        options[name] = options.get(name, frozenset()) | values_of(values)
    return options


def words_in_help(command, text):
    """What may follow the command: "add", "ls"; or "up", "down"."""
    words = set()
    for name, rest in HELP_USAGE.findall(text):
        assert name == command, text
        words |= set(re.findall(r"^[a-z]+(?![a-z=])", rest))
        words |= set(re.findall(r"\.\.\.\|([a-z]+)\]", rest))
        words |= set("|".join(re.findall(r" ([a-z]+\|[a-z]+)", rest)).split("|"))
    return words - {""}


def commands_in_help(text):
    return re.findall(r"^  ([a-z-]+)  +\S", text, re.M)


def listed_in_help(text, heading):
    """What stands at the beginning of the lines of a list: fault words, kinds."""
    lines = text.split(heading)[1].split("\nExample")[0]
    return {name for names in re.findall(r"^  ([a-z]+(?:, [a-z]+)*) ", lines, re.M)
            for name in names.split(", ")}


# --- What the man pages say

MAN_OPTION = re.compile(r"^\.It Fl -([a-z-]+)(?: Ns = Ns (?:Cm (.*)|Ar .*))?$",
                        re.M)


def options_in_man(text):
    return {"--" + name: values_of(values)
            for name, values in MAN_OPTION.findall(text)} | EVERYWHERE


def sections(text, macro):
    """{title: text} of the parts that a macro (".Ss", ".Sh") begins."""
    parts = re.split(rf"^\.{macro} (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def words_in_man(command, text):
    usage = re.findall(rf"^\.Cm {command}\b(.*)\n((?:\.(?:Ar|Cm|Op) .*\n)*)",
                       text, re.M)
    words = set()
    for first, more in usage:
        words |= values_of(first)
        for line in re.findall(r"^\.Cm (.*\|.*)$", more, re.M):
            words |= values_of(line)
        words |= set(re.findall(r"^\.Ar .* Cm ([a-z]+)$", more, re.M))
    return words


def listed_in_man(text, heading):
    return set(re.findall(r"^\.It (?:Cm|Li) ([a-z]+)\b", text.split(heading)[1],
                          re.M))


# --- What all texts say of them

PAGE = re.compile(r"\b(ibemu[a-z-]*)\(([1-8])\)|^\.Xr (ibemu[a-z-]*) ([1-8])", re.M)
FILE = re.compile(r"(?<![\w/.])docs/[\w./-]*\w")


def dangling(root):
    """Yields complaints about man pages and files of docs/ that are not there."""
    names = ask("git", "-C", root, "ls-files", "-z").split("\0")[:-1]
    for name in names:
        path = root / name
        try:
            text = path.read_text() if path.is_file() else ""
        except UnicodeDecodeError:
            continue
        for groups in PAGE.findall(text):
            page = ".".join(filter(None, groups))
            if not (root / MAN / page).exists():
                yield f"{name}: there is no {MAN}/{page}"
        for file in FILE.findall(text):
            if not (root / file).exists():
                yield f"{name}: there is no {file}"


# --- What the documents for readers of the code name

MAP = ("ARCHITECTURE.md", "README.md", "GLOSSARY.md")
NAMED = re.compile(r"`((?:[\w.-]+/)+|(?!NAME)(?:[\w.-]+/)*[\w.-]+"
                   r"\.(?:cc|h|py|md|build))`")
CLASS = re.compile(r"`((?:[a-z_]+::)*)([A-Z]\w*[a-z]\w*)(?:<T>)?(?:\(\))?`")


def unfound(root, document):
    """Files and folders: below the root, beside the document, or in a folder of
    what stands before them on the line."""
    for line in (root / document).read_text().splitlines():
        places = [root, (root / document).parent]
        for name in NAMED.findall(line):
            found = [place / name for place in places if (place / name).exists()]
            if not found:
                yield f"{document}: there is no {name}"
            places += [place for path in found for place in (path, *path.parents)
                       if place != root and root in place.parents]


def misnamed(root):
    names = ask("git", "-C", root, "ls-files").splitlines()
    for document in names:
        if document in MAP or (document.endswith("/README.md") and
                               not document.startswith("tests/")):
            yield from unfound(root, document)
    headers = [(root / name).read_text() for name in names
               if name.endswith(".h") and not name.startswith("tests/")]
    for space, name in CLASS.findall((root / "GLOSSARY.md").read_text()):
        space = "::".join(["namespace ibemu", *space.split("::")[:-1]])
        if not any(space in text and re.search(rf"\b{name}\b", text)
                   for text in headers):
            yield f"GLOSSARY.md: no header has {name} in {space}"


# --- What the completions say

def bash_tables(text):
    """{function: {pattern: value}} of functions that are one `case`."""
    return {
        name: {pattern: value
               for patterns, value in re.findall(r"^ +([\w| -]+)\) echo \"(.*)\" ;;",
                                                 body, re.M)
               for pattern in patterns.split(" | ")}
        for name, body in re.findall(r"^(\w+)\(\) \{\n(.*?)^\}", text, re.M | re.S)
    }


def bash(root):
    text = (root / COMPLETIONS / "ibemu.bash").read_text()
    tables = bash_tables(text)
    options = {
        command: {name.rstrip("="): values_of(
            tables["_ibemu_values"].get(name.rstrip("="), ""))
            for name in names.split()}
        for command, names in tables["_ibemu_options"].items()}
    words = {command: set(words.split())
             for command, words in tables["_ibemu_words"].items()}
    listed = re.search(r'_ibemu_commands\(\) \{\n  echo "(.*)"', text)[1].split()
    return options, words, listed


ZSH_OPTION = re.compile(r"'\*?(--[a-z-]+)=?-?\[[^]]*\](?::[^:']*:(?:\(([^)]*)\))?)?")


def zsh(root):
    text = (root / COMPLETIONS / "_ibemu").read_text()
    functions = {name: body for name, body in re.findall(
        r"^(\w+)\(\) \{\n(.*?)^\}", text, re.M | re.S)}
    shared = {name: spec for name, spec in re.findall(
        r"^  local (\w+)=('--.*')$", functions["_ibemu_command"], re.M)}
    bodies = {"ibemud": functions["_ibemud_line"]}
    for names, body in re.findall(r"^    ([a-z| -]+)\)(.*?);;",
                                  functions["_ibemu_command"], re.M | re.S):
        for name in names.split(" | "):
            bodies[name] = re.sub(r'"\$(\w+)"', lambda use: shared[use[1]], body)
    options = {name: {option: values_of(values)
                      for option, values in ZSH_OPTION.findall(body)}
               for name, body in bodies.items()}
    words = {name: values_of(" ".join(re.findall(r"'2:\w+:\((.*?)\)", body)))
             for name, body in bodies.items()}
    for name, body in bodies.items():
        for function in re.findall(r"'\*:\w+:(_ibemu_\w+)'", body):
            first = re.search(r"CURRENT == 2 \)\); then\n +compadd (.*)",
                              functions.get(function, ""))
            words[name] |= values_of(first[1] if first else "")
    listed = re.findall(r"^    ['\"]([a-z-]+):", functions["_ibemu_line"], re.M)
    return options, words, listed


FISH_LINE = re.compile(
    r"^\$c(?: -n '__ibemu_uses ([\w -]+?)(?:; and [^']*)?')?(?: (.*))?$", re.M)


def fish(root, commands):
    options = {command: dict(EVERYWHERE) for command in commands}
    words = {command: set() for command in commands}
    text = (root / COMPLETIONS / "ibemu.fish").read_text()
    for users, rest in FISH_LINE.findall(text):
        option = re.search(r"-l ([a-z-]+)", rest)
        values = re.search(r" -a (?:'([a-z0-9 ]+)'|([a-z]+))$", rest)
        values = values_of(" ".join(filter(None, values.groups()))
                           if values else "")
        for command in users.split():
            if option:
                options.setdefault(command, {})["--" + option[1]] = values
            else:
                words.setdefault(command, set()).update(values - {"link"})
    options["ibemud"] = {}
    for line in (root / COMPLETIONS / "ibemud.fish").read_text().splitlines():
        if option := re.match(r"\$c -l ([a-z-]+)", line):
            values = re.search(r" -a ([a-z]+|'[a-z0-9 ]+')$", line)
            options["ibemud"]["--" + option[1]] = values_of(
                values[1] if values else "")
    return options, words, re.findall(r"^__ibemu_command ([\w-]+)", text, re.M)


def differences(where, said, told):
    for name in sorted(told.keys() | said.keys()):
        if name not in told:
            yield f"{where}: {name} is not in --help"
        elif name not in said:
            yield f"{where}: {name} of --help is missing"
        elif said[name] != told[name]:
            yield (f"{where}: {name} has {sorted(said[name])}, "
                   f"in --help {sorted(told[name])}")


def complaints(root, build):
    top = ask(build / "ibemu", "help")
    commands = commands_in_help(top)
    helps = {name: ask(build / "ibemu", name, "--help") for name in commands}
    daemon = ask(build / "ibemud", "--help")
    options = {name: options_in_help(text) for name, text in helps.items()}
    options["ibemud"] = options_in_help(daemon)
    words = {name: words_in_help(name, text) for name, text in helps.items()}

    pages = {path.name: path.read_text()
             for path in (root / MAN).glob("*.[1-8]")}
    told = sections(pages["ibemu.1"].split("\n.Sh ENVIRONMENT")[0], "Ss")
    yield from differences("ibemu.1", {name: options_in_man(text)
                                       for name, text in told.items()},
                           {name: options[name] for name in commands})
    yield from differences("ibemu.1", {name: words_in_man(name, text)
                                       for name, text in told.items()},
                           words)
    yield from differences("ibemud.8", options_in_man(pages["ibemud.8"]),
                           options["ibemud"])
    yield from differences(
        "ibemu-hca-model.1", options_in_man(pages["ibemu-hca-model.1"]),
        options_in_help(ask(build / "ibemu-hca-model", "--help")))
    steps = commands_in_help(ask(build / "ibemu-mounts", "--help"))
    described = re.findall(r"^\.It Cm (\w+)", pages["ibemu-mounts.8"], re.M)
    yield from differences("ibemu-mounts.8", dict.fromkeys(described),
                           dict.fromkeys(steps))

    yield from differences(
        "ibemu-events.7", dict.fromkeys(
            listed_in_man(pages["ibemu-events.7"], "further keys:") - {"lost"}),
        dict.fromkeys(listed_in_help(helps["events"], "KIND is one of")))
    yield from differences(
        "ibemu-faults.7", dict.fromkeys(
            listed_in_man(pages["ibemu-faults.7"], "Of a link:")),
        dict.fromkeys(listed_in_help(helps["fault"], "WHAT of a link")))
    yield from dangling(root)
    yield from misnamed(root)
    index = (root / "docs/README.md").read_text()
    for page in sorted(pages.keys()):
        if f"(man/{page})" not in index:
            yield f"docs/README.md: {page} is missing"

    for file, (known, followers, listed) in {
            "ibemu.bash": bash(root), "_ibemu": zsh(root),
            "ibemu.fish": fish(root, commands)}.items():
        yield from differences(file, dict.fromkeys(listed),
                               dict.fromkeys([*commands, "help"]))
        for name in sorted(options.keys() | known.keys()):
            yield from differences(f"{file}, {name}", known.get(name, {}),
                                   options.get(name, {}))
        for name in commands:
            if set(followers.get(name, ())) != words[name]:
                yield (f"{file}, {name}: is followed by "
                       f"{sorted(followers.get(name, ()))}, in --help by "
                       f"{sorted(words[name])}")

    version = ask(build / "ibemu", "--version").split()[1]
    latest = re.match(r"ibemu \((.*?)\)",
                      (root / "debian/changelog").read_text())[1]
    if latest != version:
        yield f"debian/changelog: {latest} is not {version} of meson.build"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit("\n".join(complaints(pathlib.Path(sys.argv[1]),
                                  pathlib.Path(sys.argv[2]).absolute())) or 0)
