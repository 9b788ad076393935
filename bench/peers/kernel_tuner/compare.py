#!/usr/bin/env python3
"""Times the bests of all runs again by one pgtune bench, and prints the table: compare.py RUNS DEVICE [OUT.json]
[--rounds 12] [--bench FILE.json]

RUNS is the folder that run_all.sh filled. With --bench the bench is not run, but its earlier JSON read.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("runs")
parser.add_argument("device")
parser.add_argument("out", nargs="?", default="compare.json")
parser.add_argument("--rounds", default="12")
parser.add_argument("--bench")
parser.add_argument(
    "--at-once",
    type=int,
    default=48,
    help="variants of one bench; more are timed by several, each with the variant that most runs chose",
)
arguments = parser.parse_args()
root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
shape = os.environ.get("KT_SHAPE", "3072x2048x1536")

runs = []
for path in sorted(glob.glob(os.path.join(arguments.runs, "*-[0-9][0-9].json"))):
    with open(path) as file:
        runs.append(json.load(file))
count = {}
for run in runs:
    for entry in run["at"]:
        if entry["variant"]:
            count[entry["variant"]] = count.get(entry["variant"], 0) + 1
variants = sorted(count, key=lambda v: -count[v])
print(f"{len(runs)} runs, {len(variants)} variants to time again", flush=True)
if not variants:
    sys.exit("nothing to time")


def bench(keys, index):
    if arguments.bench:
        with open(arguments.bench) as file:
            return json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        words = [
            os.path.join(root, "build/bin/pgtune"),
            "bench",
            "--template",
            "sgemm_simt",
            "--shape",
            shape,
            "--rounds",
            arguments.rounds,
            "--device",
            arguments.device,
            "--db",
            os.path.join(folder, "bench.db"),
            "--json",
            "--quiet",
        ]
        for key in keys:
            words += ["--variant", key]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True)
        if done.returncode not in (0, 1, 5) or not done.stdout.strip().startswith("{"):
            sys.exit(f"bench ended with {done.returncode}: {done.stderr[-2000:]}")
        document = json.loads(done.stdout)
        with open(os.path.splitext(arguments.out)[0] + f".bench{index}.json", "w") as file:
            json.dump(document, file)
        return document


def times(document):
    out = {}
    for entry in document["variants"]:
        now = entry.get("now") or {}
        if now.get("time_s"):
            out[entry["variant"]] = now["time_s"]
    return out


again, common = {}, variants[0]
rest, index = variants[1:], 0
while rest or index == 0:
    keys, rest = [common] + rest[: arguments.at_once - 1], rest[arguments.at_once - 1 :]
    measured = times(bench(keys, index))
    scale = (
        again[common] / measured[common] if index and common in measured else 1
    )  # several benches meet in their common variant
    again.update({key: time_s * scale for key, time_s in measured.items() if key not in again})
    index += 1
    if arguments.bench:
        break
missing = [key for key in variants if key not in again]
if missing:
    print("not timed again:", *missing, sep="\n  ")
fastest = min(again.values())


def percent(value):
    return "-" if value is None else f"{100 * value:.2f} %"


print(f"fastest {fastest * 1e6:.2f} us: {min(again, key=again.get)}")
summary = {}
print(
    "| tool | seed | variants after half | after all | a second | loss after half | after all |\n|---|---|---|---|---|---|---|"
)
for run in sorted(runs, key=lambda r: (r["tool"], r["seed"])):
    losses = [again[e["variant"]] / fastest - 1 if e["variant"] in again else None for e in run["at"]]
    tried = [e["tried"] for e in run["at"]]
    rate = tried[1] / run["at"][1]["seconds"]
    run["losses"] = losses
    table = summary.setdefault(run["tool"], [])
    if run.get("error") is None:
        table.append((*tried, rate, *losses))
    print(
        f"| {run['tool']} | {run['seed']} | {tried[0]} | {tried[1]} | {rate:.1f} | {percent(losses[0])} | {percent(losses[1])} |"
        + (f" {run['error']}" if run.get("error") else "")
    )
print(
    "\n| | runs | variants after half | after all | a second | loss after half: median | worst | after all: median | worst |\n|---|---|---|---|---|---|---|---|---|"
)
for tool, table in summary.items():
    if not table:
        continue
    columns = [[row[i] for row in table if row[i] is not None] for i in range(5)]
    mid = [statistics.median(c) if c else None for c in columns]
    print(
        f"| {tool} | {len(table)} | {mid[0]:g} ({min(columns[0])} to {max(columns[0])}) | {mid[1]:g} ({min(columns[1])} to {max(columns[1])}) | {mid[2]:.1f} | {percent(mid[3])} | "
        f"{percent(max(columns[3]) if columns[3] else None)} | {percent(mid[4])} | {percent(max(columns[4]) if columns[4] else None)} |"
    )
with open(arguments.out, "w") as file:
    json.dump(
        {
            "shape": shape,
            "best_s": fastest,
            "again": again,
            "runs": [{k: v for k, v in run.items() if k != "rows"} for run in runs],
        },
        file,
        indent=1,
    )
