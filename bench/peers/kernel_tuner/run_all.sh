#!/bin/bash
# Runs FIRST..LAST of one or both tools, one after the other: run_all.sh DEVICE CORES FIRST LAST OUT [kt|pgtune|both]
# CORES as taskset wants them (0-15). One run takes some 63 s of each tool; with 'both' a pair takes some 126 s. LIMIT
# (seconds, default none): begins no further run that would end later.
set -u
device=$1 cores=$2 first=$3 last=$4 out=$5 which=${6:-both} here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
export KT_SECONDS=${KT_SECONDS:-60}
one=$((KT_SECONDS + 6))
for ((run = first; run <= last; ++run)); do
  for tool in kt pgtune; do
    [ "$which" = both ] || [ "$which" = $tool ] || continue
    file=$(printf '%s/%s-%02d.json' "$out" $tool "$run")
    [ ! -e "$file" ] || continue  # done in an earlier call
    [ -z "${LIMIT:-}" ] || [ $((SECONDS + one)) -le "$LIMIT" ] || { echo "no time left for $file"; continue; }
    if [ $tool = kt ]; then
      taskset -c "$cores" timeout -k 5 $((KT_SECONDS + 60)) python3 "$here/run_kernel_tuner.py" "$run" "$KT_SECONDS" "$file" "$device"
    else
      taskset -c "$cores" timeout -k 5 $((KT_SECONDS + 60)) bash "$here/run_pgtune.sh" "$run" "$device" "$file"
    fi || echo "run $run of $tool failed (exit code $?)"
  done
done
