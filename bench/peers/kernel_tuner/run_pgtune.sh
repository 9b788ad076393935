#!/bin/bash
# One run of pgtune's random search from cold caches: run_pgtune.sh SEED DEVICE OUT.json
# PGTUNE_JOBS (default: pgtune's own choice), KT_SHAPE, KT_SECONDS (default 60) as in run_kernel_tuner.py.
set -u
seed=$1 device=$2 out=$(realpath -m "$3") here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../../..") shape=${KT_SHAPE:-3072x2048x1536} seconds=${KT_SECONDS:-60}
cold=$(mktemp -d -t pgtune-cold-XXXXXX)
mkdir "$cold"/{cache,data,config,cuda}
cd "$root" || exit
words=(search --template sgemm_simt --shape "$shape" --strategy random --grid full --budget "${seconds}s" --seed "$seed" --device "$device" --db "$cold/run.db" --json --quiet)
[ -z "${PGTUNE_JOBS:-}" ] || words+=(--jobs "$PGTUNE_JOBS")
start=$(date +%s.%N)
env -u PGTUNE_DB XDG_CACHE_HOME="$cold/cache" XDG_DATA_HOME="$cold/data" XDG_CONFIG_HOME="$cold/config" CUDA_CACHE_PATH="$cold/cuda" \
  build/bin/pgtune "${words[@]}" > "$cold/answer.json" 2> "$cold/log"
code=$?
end=$(date +%s.%N)
[ $code = 0 ] || tail -n 20 "$cold/log" >&2
python3 "$here/rows_of_search.py" "$cold/run.db" "$start" "$end" "$seconds" "$seed" "$device" "$code" "$out" || cp "$cold/log" "$out.log"
rm -rf "$cold"
exit $code
