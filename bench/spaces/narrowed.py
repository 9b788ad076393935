"""Spaces for studies: gemm_wgmma as it is now, with few values of its parameters, written beside this file."""
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TILE = ("BM", "BN", "SCHEDULE", "WARPGROUPS_M", "STAGES")


def quoted(value):
    return f"'{value}'" if isinstance(value, str) else str(value)


def write_space(name, tiles, values, rules=()):
    """`tiles` are values of TILE's parameters, tried together, STAGES as None for as many as fit; `values` those of other
    parameters, the first as default. All else keeps its default. `rules` are further expressions that a variant has to satisfy."""
    space = json.loads((ROOT / "configs" / "gemm_wgmma.json").read_text())
    for field in ("preset", "seeds", "former_parameters"):
        space.pop(field)
    space["name"] = name
    space["source"] = "../../templates/gemm_wgmma.cu"
    rules = [" || ".join("(" + " && ".join(f"{part} == {quoted(value)}" for part, value in zip(TILE, tile) if value) + ")"
                         for tile in tiles)] + list(rules)
    for parameter in space["parameters"]:
        if parameter["name"] == "STAGES" and tiles[0][-1] is None:
            continue
        if parameter["name"] in TILE:
            place = TILE.index(parameter["name"])
            parameter["values"] = sorted({tile[place] for tile in tiles})
            parameter["default"] = tiles[0][place]
            if isinstance(tiles[0][place], str):
                parameter["values"] = ["cooperative", "pingpong"]  # the source names every label
        elif parameter["name"] in values and not isinstance(parameter["default"], str):
            parameter["values"] = values[parameter["name"]]
            parameter["default"] = parameter["values"][0]
        elif isinstance(parameter["default"], str):
            wanted = values.get(parameter["name"], [parameter["default"]])
            rules.append(" || ".join(f"{parameter['name']} == {quoted(value)}" for value in wanted))
            parameter["default"] = wanted[0]
        else:
            parameter["values"] = [parameter["default"]]
    # A study needs no rules that keep the whole space small.
    kept = [rule for rule in space["constraints"] if "DEPARTURES" not in rule["expr"]]
    space["constraints"] = [{"expr": rule, "reason": "not part of this study"} for rule in rules] + kept
    (ROOT / "bench" / "spaces" / f"{name}.json").write_text(json.dumps(space, indent=1) + "\n")
