#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when a source's unnamed namespace has a name that a header has in an enclosing namespace.

In a build in batches such a source may come before another one whose header means the outer name, and gets the inner
one without a word from the compiler: a constant or a type is then another one than where files compile one by one.
Functions are left out: where arguments differ, the compiler complains.
usage: hidden_names.py TREE [ROOM...]    rooms that stand on the core, beside its own folders
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("tuner", "tool", "db", "tests", "bench")
TOKEN = re.compile(
    r"namespace(?P<named>(?:\s+[\w:]+)?)\s*\{|(?P<alias>namespace\s+\w+\s*=)|(?P<open>\{)|(?P<close>\})"
    r"|(?:struct|class|enum|union)\s+(?:class\s+)?(?P<type>[A-Z]\w*)(?=[^;{}()=]*\{)|using\s+(?P<using>[A-Z]\w*)\s*="
    r"|constexpr\b[^;={(]*?\b(?P<constant>k[A-Z]\w*)\s*(?:=|\{)")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\d)\'(?:\\.|[^\'\\\n])\'', re.S)


def names(text):
    """(namespace, whether an unnamed one is around, name) of what is declared outside of types and functions."""
    text = NOISE.sub('""', text)
    scopes = []  # each a tuple of names of a namespace, "" for an unnamed one, or None for another block
    at = 0
    while match := TOKEN.search(text, at):
        at = match.end()
        if match["named"] is not None:
            scopes.append(tuple(match["named"].split()[0].split("::")) if match["named"].strip() else ("",))
        elif match["open"]:
            scopes.append(None)
        elif match["close"]:
            if scopes:
                scopes.pop()
        elif None not in scopes:
            name = match["type"] or match["using"] or match["constant"]
            if match["constant"] and text[at - 1] == "{":
                at -= 1
            path = [part for scope in scopes for part in scope]
            if name:
                yield "::".join(part for part in path if part), "" in path, name


def main(tree, rooms):
    outer = collections.defaultdict(dict)  # name -> namespace -> header
    inner = []
    for folder in (*FOLDERS, *rooms):
        for path in sorted((tree / folder).rglob("*.[hc]pp")):
            if path.is_relative_to(tree / "tests/project"):  # this check's own offender
                continue
            for namespace, unnamed, name in names(path.read_text()):
                if path.suffix == ".hpp" and not unnamed:
                    outer[name].setdefault(namespace, path.relative_to(tree))
                elif path.suffix == ".cpp" and unnamed:
                    inner.append((path.relative_to(tree), namespace, name))
    if not outer or not inner:
        sys.exit(f"{tree} has no declarations to compare")
    found = [
        f"{path}: {name} hides {namespace}::{name} of {header}"
        for path, own, name in inner
        for namespace, header in outer[name].items() if own.startswith(namespace + "::")
    ]
    if found:
        sys.exit("Names in unnamed namespaces that hide those of an enclosing namespace:\n" + "\n".join(found))
    print(f"{len(inner)} names in unnamed namespaces, {len(outer)} in headers: none hides another")


main(pathlib.Path(sys.argv[1]), sys.argv[2:])
