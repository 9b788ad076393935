# SPDX-License-Identifier: MIT
"""pgtune from Python: runs the program and gives its JSON as objects. It can nothing that the command line cannot.

    import pgtune
    answer = pgtune.search("4096x4096x4096", dtype="bf16", budget="60s")
    print(answer["best"]["ratio_to_baseline"])
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

__all__ = ["Error", "best", "program", "run", "search"]

Json = Dict[str, Any]
PathLike = Union[str, "os.PathLike[str]"]


class Error(RuntimeError):
    """pgtune ended with another exit code than 0; the message is what it said."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  #: 1 nothing valid found, 2 usage, 3 environment, 4 database, 5 stopped early


def program() -> str:
    """The path of the installed program: this package's own, else the one on PATH."""
    try:
        files = metadata.files("pgtune") or []
    except metadata.PackageNotFoundError:  # only on PYTHONPATH
        files = []
    for file in files:
        if file.name == "pgtune" and file.parent.name == "bin":
            return str(Path(str(file.locate())).resolve())
    found = shutil.which("pgtune")
    if found is None:
        raise Error("there is no program pgtune on PATH; install it, or this package again", 3)
    return found


def run(*arguments: PathLike) -> Any:
    """The JSON that `pgtune ARGUMENTS --json` prints. Raises Error where it fails."""
    command = [program(), *map(os.fspath, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("pgtune: ")]
        raise Error("\n".join(lines) or f"pgtune ended with {done.returncode}", done.returncode)
    return json.loads(done.stdout)


def _options(options: Dict[str, Any]) -> List[str]:
    """lock_clocks=True as --lock-clocks, seed=3 as --seed=3; None and False are left out."""
    words = []
    for name, value in options.items():
        if value is not None and value is not False:
            option = "--" + name.replace("_", "-")
            words.append(option if value is True else f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def search(shape: str, *, db: Optional[PathLike] = None, **options: Any) -> Json:
    """`pgtune search --shape SHAPE`: one problem's answer. Options are those of the command line."""
    result: Json = run("search", "--shape", shape, *_options({"db": db, **options}))
    return result


def best(db: Optional[PathLike] = None, **options: Any) -> List[Json]:
    """`pgtune show`: the best stored result of each problem of a database, with its variant's parameters."""
    results: List[Json] = run("show", *_options({"db": db, **options}))["results"]
    return results
