#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation tells the truth: links lead somewhere, every command in it can be typed as it stands, and the
tutorial works from its first step to its last without a GPU.

usage: docs_test.py links SOURCE_DIR
       docs_test.py commands SOURCE_DIR PGTUNE FAKE_WORKER FEW   (each command of README.md and docs/; FEW: pgtune of few recordings)
       docs_test.py tutorial SOURCE_DIR PGTUNE               (docs/tutorial.md in its order, on recordings; what it and README.md show)
       docs_test.py operation SOURCE_DIR PGTUNE WORKER       (the operation that docs/how-to/operation.md has typed in)"""
import glob
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# Why a command is not run here. Its options are held against its --help all the same.
NOT_RUN = [
    (r"ladder .*--counters", "needs a GPU and ncu"),
    (r"(ladder|inspect) .*--device sm_", "compiles with NVRTC"),
    (r"inspect ", "compiles with NVRTC"),
    (r"export header", "compiles the winners with NVRTC"),
    (r"^run ", "its program is the reader's"),
    (r"doctor", "looks for a real GPU"),
    (r"db merge /shared", "its files are a cluster's"),
    (r"search .*--db /shared", "its files are a cluster's"),
    (r"--db validation.db", "a suite of many shapes takes a GPU hours"),
    (r"import ", "its file is another tool's"),
    (r"slurm .*--device recording", "needs a cluster"),
]


def pages(source):
    found = [os.path.join(source, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return found + sorted(glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True))


def anchors(text):
    """The names that headings of a page get on a forge."""
    out = set()
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        out.add(re.sub(r"[^\w\- ]", "", plain.replace("`", "").lower()).replace(" ", "-"))
    return out


def check_links(source):
    wrong, links = [], 0
    for page in pages(source):
        text = re.sub(r"```.*?```", "", open(page, encoding="utf-8").read(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(there):
                wrong.append(f"{os.path.relpath(page, source)}: {target} does not exist")
            elif anchor and anchor not in anchors(open(there, encoding="utf-8").read()):
                wrong.append(f"{os.path.relpath(page, source)}: {target}: no such heading")
    # Every page is reachable from the index.
    index = open(os.path.join(source, "docs", "README.md"), encoding="utf-8").read()
    for page in glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True):
        name = os.path.relpath(page, os.path.join(source, "docs"))
        if name != "README.md" and f"({name})" not in index:
            wrong.append(f"docs/README.md does not list {name}")
    if links < 20:
        wrong.append(f"only {links} links were found: the test looks for them wrongly")
    return wrong


def steps_of(text):
    """The pgtune commands of a page's sh and console blocks, without comments: a list of pairs, the words and the lines that a
    console block shows of the output. A list, because those lines are complete only at the end of their block."""
    found = []
    for kind, block in re.findall(r"```(sh|console)\n(.*?)```", text, re.S):
        shown = []
        for line in block.replace("\\\n", " ").splitlines():
            words = line.removeprefix("$ ").split(" > ")[0].strip()
            if (kind == "sh" or line.startswith("$ ")) and re.match(r"(scripts/|build/bin/)?pgtune ", words):
                shown = []
                found.append((shlex.split(words.replace("$(hostname)", "host"), comments=True)[1:], shown))
            elif kind == "console":
                shown.append(line)
    return found


def commands_of(page):
    return [words for words, _ in steps_of(open(page, encoding="utf-8").read())]


def not_printed(shown, printed):
    """The first lines of `shown` that are not in `printed` where they should be, but for numbers, versions of templates and the width of
    columns: `...` stands for lines left out. Nothing: all are there."""
    def plain(lines):
        return [" ".join(re.sub(r"\b[0-9a-f]{8}\b|\d+(\.\d+)?", "0", line).split()) for line in lines]

    lines, position = plain(printed.rstrip().splitlines()), 0
    parts = [part.strip("\n").split("\n") if part.strip() else [] for part in re.split(r"^\.\.\.$", "\n".join(shown), flags=re.M)]
    for number, part in enumerate(parts):
        starts = [position] if number == 0 else range(position, len(lines) + 1)
        if number > 0 and number == len(parts) - 1 and part:
            starts = [max(position, len(lines) - len(part))]
        position = next((start + len(part) for start in starts if lines[start:start + len(part)] == plain(part)), None)
        if position is None:
            return part
    return [] if parts[-1] == [] or position == len(lines) else ["the end"]


def files_of(page):
    """The files that a page shows whole, by name: blocks whose first line has the name behind the language."""
    return dict(re.findall(r"```[a-z]+ +([\w.]+)\n(.*?)```", open(page, encoding="utf-8").read(), re.S))


class Place:
    """A folder with what the documentation's commands take for granted."""

    def __init__(self, source, program, worker):
        self.folder, self.program = tempfile.mkdtemp(prefix="pgtune-docs-"), program
        self.environment = {"HOME": self.folder, "PATH": os.environ["PATH"], "PGTUNE_WORKER": worker, "PGTUNE_LOCK_DIR": self.folder}
        model = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 4,
                 "num_hidden_layers": 2, "vocab_size": 1000, "torch_dtype": "bfloat16"}
        for name, text in (("shapes.txt", "1024x1024x1024\n512x512x512 tn\n"), ("config.json", json.dumps(model)),
                           ("model.txt", "1..64x512x512 nt bf16\n")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in ("recordings", "configs", "examples"):
            os.symlink(os.path.join(source, name), os.path.join(self.folder, name))

    def add_template(self, manual):
        """The manual's own example, where its commands look for it."""
        os.makedirs(os.path.join(self.folder, "path", "to"))
        text = open(manual, encoding="utf-8").read()
        for language, name in (("json", "mine.json"), ("cuda", "naive.cu")):
            with open(os.path.join(self.folder, "path", "to", name), "w", encoding="utf-8") as file:
                file.write(re.search(rf"```{language}\n(.*?)```", text, re.S).group(1))

    def add_operation(self, manual):
        """The files of the manual's own operation, as it says to type them in."""
        os.makedirs(os.path.join(self.folder, "stencil2d"))
        for name, text in files_of(manual).items():
            with open(os.path.join(self.folder, "stencil2d", name), "w", encoding="utf-8") as file:
                file.write(text)

    def run(self, words, **more):
        return subprocess.run([self.program, *words], cwd=self.folder, env={**self.environment, **more}, capture_output=True, text=True, timeout=240)

    @functools.lru_cache(maxsize=None)
    def options_of(self, names):
        """The options that a command's full help names; None where there is no such command."""
        shown = self.run([*names, "--help-all"])
        return set(re.findall(r"--?[a-z][a-z0-9-]*", shown.stdout)) if shown.returncode == 0 else None

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def unknown_options(place, words):
    """Options that the command's full help does not name."""
    names = []
    for word in words:
        if word.startswith("-") or not re.fullmatch(r"[a-z]+", word):
            break
        names.append(word)
    while names:
        known = place.options_of(tuple(names))
        if known is not None:
            return [w for w in words if re.match(r"--?[a-z]", w) and w.split("=")[0] not in known]
        names.pop()
    return [" ".join(words[:2])]


def check_commands(source, program, worker, few):
    place, wrong, run, left = Place(source, program, worker), [], 0, 0
    place.add_template(os.path.join(source, "docs", "how-to", "template.md"))
    place.add_operation(os.path.join(source, "docs", "how-to", "operation.md"))
    # What reports, bench and export ask for is there before them.
    for more in (["--dtype", "f32"], ["--dtype", "f32", "--db", "old.db"]):
        made = place.run(["search", "--shape", "4096x4096x4096", "--strategy", "guided", "--variants", "4", "-q", *more])
        if made.returncode != 0:
            return [f"cannot prepare the database: {made.stderr}"]
    seen = set()
    for page in pages(source):
        for words in commands_of(page):
            name = os.path.relpath(page, source) + ": pgtune " + " ".join(words)
            if tuple(words) in seen:
                continue
            seen.add(tuple(words))
            bad = unknown_options(place, words)
            if bad:
                wrong.append(f"{name}: there is no {', '.join(bad)}")
                continue
            if any(re.search(pattern, " ".join(words)) for pattern, _ in NOT_RUN):
                left += 1
                continue
            # The whole space is not needed to see that a search is one; a budget in seconds would be waited for.
            if words[0] == "search":
                limits = ("--budget", "--total", "--variants")
                words = [w for i, w in enumerate(words) if w not in limits and (i == 0 or words[i - 1] not in limits)] + ["--variants", "3"]
                # Nor is each M of a long range, nor a model fitted to the searches before it.
                if any(w.startswith("1..") for w in words):
                    words = [re.sub(r"^1\.\.\d+x", "1..64x", w) for w in words] + ["--db", "range.db"]
                # A model would be fitted anew after every few searches, half of what these commands take.
                if "--strategy" not in words and "--effort" not in words:
                    words += ["--strategy", "guided"]
            # Nor are twenty runs of each strategy, which take two minutes of CPU time.
            if words[0] == "simulate" and "--repeats" not in words:
                words = [*words, "--repeats", "1"]
            # These fit a model, which few recordings make short.
            learns = words[0] in ("guess", "pipeline") or "model.txt" in words or any("1.." in word for word in words)
            place.program = few if learns else program
            done = place.run(words)
            run += 1
            if done.returncode != 0:
                wrong.append(f"{name}: ends with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    place.remove()
    print(f"docs_test: {run} commands were run, of {left} that need a GPU, a toolkit or a cluster only the options were checked")
    return wrong + ([f"only {run} commands were found"] if run < 20 else [])


def check_shown(place, name, text):
    """Runs a page's steps in their order; what is wrong with them, and all that they printed, by step."""
    wrong, said = [], []
    for words, shown in steps_of(text):
        done = place.run(words)
        said.append(done.stderr + done.stdout)
        missing = not_printed(shown, said[-1]) if shown else []
        if done.returncode != 0:
            wrong.append(f"{name}: pgtune {' '.join(words)} ends with {done.returncode}: {done.stderr[-400:]}")
        elif missing:
            wrong.append(f"{name}: pgtune {' '.join(words)} does not print there:\n" + "\n".join(missing))
    return wrong, said


def check_tutorial(source, program):
    readme = "\n".join(re.findall(r"```console\n.*?```", open(os.path.join(source, "README.md"), encoding="utf-8").read(), re.S))
    place = Place(source, program, "/nowhere/pgtune-worker")
    wrong, said = check_shown(place, "README.md", readme)
    place.remove()
    if len(said) != 1:
        wrong.append(f"README.md shows the output of {len(said)} commands and not of one")
    place = Place(source, program, "/nowhere/pgtune-worker")
    text = open(os.path.join(source, "docs", "tutorial.md"), encoding="utf-8").read()
    failed, said = check_shown(place, "tutorial", text.split("## With a GPU")[0])
    wrong, run, said = wrong + failed, len(said), "".join(said)
    for written in ("report.html",):
        if not os.path.exists(os.path.join(place.folder, written)):
            wrong.append(f"tutorial: {written} was not written")
    for word in ("recorded answers, nothing is run here", "why: In each", "joules", "tie: "):
        if word not in said:
            wrong.append(f"tutorial: nothing printed '{word}', which it speaks of")
    place.remove()
    print(f"docs_test: {run} steps of the tutorial were run")
    return wrong + ([] if run >= 7 else [f"only {run} steps were found"])


def check_operation(source, program, worker):
    """What the page has typed in is the example, and from an empty folder its commands lead to a compiled kernel."""
    manual, wrong, said = os.path.join(source, "docs", "how-to", "operation.md"), [], {}
    example, shown = os.path.join(source, "examples", "operations", "stencil2d"), files_of(manual)
    for name in sorted(set(os.listdir(example)) | set(shown)):
        path = os.path.join(example, name)
        if name not in shown or not os.path.exists(path) or shown[name] != open(path, encoding="utf-8").read():
            wrong.append(f"operation.md does not show {name} as examples/operations/stencil2d has it")
    place = Place(source, program, worker)
    for name in os.listdir(place.folder):
        os.unlink(os.path.join(place.folder, name))
    place.add_operation(manual)
    for words in commands_of(manual):
        if words[0] not in ("space", "inspect") or "stencil2d/stencil2d.json" not in words:
            continue
        done = place.run(words)
        said[words[0]] = done.stdout
        if done.returncode != 0:
            wrong.append(f"operation.md: pgtune {' '.join(words)} ends with {done.returncode}: {done.stderr[-400:]}")
    place.remove()
    for command, word in (("space", "stencil2d_columns for stencil2d H=4096,W=4096"), ("inspect", "registers")):
        if word not in said.get(command, ""):
            wrong.append(f"operation.md: {command} of its operation did not print '{word}'")
    return wrong


CHECKS = {"links": check_links, "commands": check_commands, "tutorial": check_tutorial,
          "operation": check_operation}
if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
    sys.exit(__doc__)
problems = CHECKS[sys.argv[1]](*sys.argv[2:])
for problem in problems:
    print("docs_test: " + problem, file=sys.stderr)
sys.exit(1 if problems else 0)
