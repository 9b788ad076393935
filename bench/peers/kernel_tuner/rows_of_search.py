"""What a search tried and when, from its database: rows_of_search.py DB START END SECONDS SEED DEVICE CODE OUT.json (times
of the process in Unix seconds)
"""

import json
import os
import sqlite3
import statistics
import sys

from bests import bests

path, start, end, seconds, seed, device, code, out = (
    sys.argv[1],
    *map(float, sys.argv[2:5]),
    int(sys.argv[5]),
    sys.argv[6],
    int(sys.argv[7]),
    sys.argv[8],
)
db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
samples = {}  # the screening's, per launch; the median of a trial's is what pgtune ranks by
for trial, time_s, launches in db.execute(
    "SELECT samples.trial, time_s, launches FROM samples JOIN stages ON stages.id = samples.stage WHERE stages.name = 'screen'"
):
    samples.setdefault(trial, []).append(time_s / launches)
rows, kinds, seen = [], {}, set()
for trial, at, kind, key in db.execute(
    "SELECT trials.id, recorded_at, outcomes.kind, variants.key FROM trials JOIN outcomes ON outcomes.id = trials.outcome "
    "JOIN variants ON variants.id = trials.variant ORDER BY trials.id"
):
    kinds[kind] = kinds.get(kind, 0) + 1
    if key in seen:  # a variant counts once, at its first trial
        continue
    seen.add(key)
    time_s = statistics.median(samples[trial]) if kind == "ok" and trial in samples else None
    rows.append([at / 1e3 - start, time_s, key])
best = db.execute(
    "SELECT variants.key, best.time_s, best.complete FROM best JOIN variants ON variants.id = best.variant"
).fetchone()
at_times = bests(rows, seconds)
# What the search answers at the end of its budget, after its race and final.
at_times[1]["screened"] = at_times[1]["variant"]
if best:
    at_times[1].update(variant=best[0], own_time_s=best[1])
compile_s = [row[0] for row in db.execute("SELECT compile_s FROM builds")]
document = {
    "tool": "pgtune",
    "strategy": "random",
    "seed": seed,
    "device": device,
    "cores": len(os.sched_getaffinity(0)),
    "seconds": seconds,
    "error": f"exit code {code}" if code else None,
    "answer": best and best[0],
    "complete": best and bool(best[2]),
    "took_s": end - start,
    "outcomes": kinds,
    "builds": len(compile_s),
    "compile_sum_s": sum(compile_s),
    "at": at_times,
    "rows": rows,
}
with open(out, "w") as file:
    json.dump(document, file)
print(
    "pgtune seed",
    seed,
    [(e["seconds"], e["tried"], e["own_time_s"] and round(e["own_time_s"] * 1e6, 2)) for e in at_times],
    f"took {end - start:.1f} s",
    kinds,
)
