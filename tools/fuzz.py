#!/usr/bin/python3
"""Runs each fuzz target on its corpus for a while, one for each processor at a
time; writes a JUnit file."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1  # libFuzzer's own: the same inputs on every machine


def run(target, seconds):
    """Returns what went wrong, or None."""
    name = target.name.removesuffix("_fuzz")
    corpus = ROOT / "tests" / "fuzz" / "corpus" / name
    if not any(corpus.iterdir()):
        return f"{corpus} is empty: a fuzzer needs examples to start from"
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [target, f"-max_total_time={seconds}", f"-seed={SEED}",
             "-timeout=100", f"-artifact_prefix={scratch}/", scratch, corpus],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False)
    lines = done.stdout.splitlines()
    ran = next((line for line in reversed(lines) if line.startswith("Done")), "")
    print(f"{name}: {ran or 'exit status ' + str(done.returncode)}")
    return None if done.returncode == 0 else "\n".join(lines[-60:])


def main():
    build, seconds, report = sys.argv[1:]
    targets = sorted(pathlib.Path(build, "tests", "fuzz").glob("*_fuzz"))
    suite = ElementTree.Element("testsuite", name="fuzz")
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = pool.map(lambda target: run(target.resolve(), int(seconds)),
                            targets)
        for target, problem in zip(targets, problems):
            case = ElementTree.SubElement(suite, "testcase", classname="fuzz",
                                          name=target.name)
            if problem:
                failures += 1
                print(problem)
                ElementTree.SubElement(case, "failure").text = "".join(
                    c for c in problem if c.isprintable() or c == "\n")
    ElementTree.ElementTree(suite).write(report)
    return 1 if failures or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
