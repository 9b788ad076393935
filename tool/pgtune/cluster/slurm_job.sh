# What follows is the same in every job. Called without arguments it submits; Slurm calls it as 'task', and as 'merge'
# once every task has ended, however it ended.
set -u
again="bash $(printf '%q' "$script")"  # for messages
say() { printf 'pgtune: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$*"; exit "$code"; }

# What a task's end counts for: other problems or options make it another task, and it runs again.
key() { { printf '%s\n' "${options[@]}"; problems "$1"; } | cksum | tr ' ' -; }

write_state() {  # NUMBER WORD CODE
  local file="$folder/state/task-$1"
  printf '%s %s %s %s %s\n' "$(key "$1")" "$2" "$3" "${SLURM_ARRAY_JOB_ID}_$1" "${SLURMD_NODENAME:-$(hostname)}" >"$file.$$" &&
    mv -f "$file.$$" "$file" || die 3 "cannot write $file; is the folder writable on this node, with room left?"
}
read_state() {  # NUMBER: sets word (none, started, ended), code, job and node
  local its_key
  word=none code=0 job="$(cat "$folder/state/job" 2>/dev/null)_$1" node=""
  [ -f "$folder/state/task-$1" ] || return 0
  read -r its_key word code job node <"$folder/state/task-$1"
  [ "$its_key" = "$(key "$1")" ] || word=none code=0
}
# Exit code 1 is an answer too: for some problem no variant is valid, nor will be next time.
finished() { read_state "$1"; [ "$word" = ended ] && [ "$code" -le 1 ]; }

# Sets `state` to the word that Slurm has for a job, such as RUNNING or TIMEOUT; to nothing where it has forgotten the job,
# is not here or does not answer, which its programs wait minutes for.
answers=""
ask_slurm() {  # JOB
  state=""
  [[ $1 == [0-9]* ]] || return 0
  [ -n "$answers" ] || { timeout 20 scontrol ping >/dev/null 2>&1 && answers=yes || answers=no; }
  [ "$answers" = yes ] || return 0
  state=$(scontrol --oneliner show job "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | head -n 1)
  [ -n "$state" ] || state=$(sacct --noheader --allocations --parsable2 --format=State --jobs="$1" 2>/dev/null | head -n 1)
}

# One line a task; ends with 0 where all are done, 1 where that is so and a problem has nothing valid, 5 where work is left.
status() {
  local number text count state left=0 nothing=0 log
  printf 'task  problems  state\n'
  for ((number = 0; number < tasks; ++number)); do
    count=$(problems "$number" | wc -l) log="logs/task-$number.log"
    if finished "$number"; then
      text='done'
      [ "$code" = 0 ] || { nothing=$((nothing + 1)) text="done, but a problem has nothing valid: $log"; }
    else
      left=$((left + 1))
      ask_slurm "$job"
      case "$word $state" in
        ended*) text="failed with exit code $code on $node: $log" ;;
        *" PENDING" | *" REQUEUED" | *" REQUEUE_HOLD") text=waiting ;;
        *" RUNNING" | *" COMPLETING" | *" CONFIGURING" | *" SUSPENDED") text="running${node:+ on $node}" ;;
        "none ") text="not started" ;;
        none*) text="not started: job $job is $state" ;;
        "started ") text="stopped on $node before its end: $log" ;;
        started*) text="stopped on $node, $state: $log" ;;
      esac
    fi
    printf '%4d  %8d  %s\n' "$number" "$count" "$text"
  done
  if [ $left -gt 0 ]; then
    printf '%d of %d tasks are done. Once none is running, submit the others again; what they have measured is kept:\n  %s\n' \
      $((tasks - left)) "$tasks" "$again"
    return 5
  fi
  printf 'All %d tasks are done.\n' "$tasks"
  [ $nothing -eq 0 ]
}

task() {
  local number=${SLURM_ARRAY_TASK_ID:?this runs inside a job array} list result=0
  [ "$number" -lt "$tasks" ] || die 2 "there is no task $number: this job has $tasks"
  mkdir -p "$folder/state" || die 3 "cannot write to $folder on $(hostname); do all nodes share it?"
  if finished "$number"; then
    say "task $number was done before, by job $job on $node"
    exit "$code"
  fi
  [ -x "$pgtune" ] || die 3 "there is no program $pgtune on $(hostname); put pgtune where all nodes see it, or name it in PGTUNE"
  # A signal reaches pgtune too, which keeps what it has and ends; this shell lives on to note how.
  trap : TERM INT
  write_state "$number" started 0
  list="$folder/task-$number.txt"
  problems "$number" >"$list.$$" && mv -f "$list.$$" "$list" || die 3 "cannot write $list"
  say "$(date -u +%Y-%m-%dT%H:%M:%SZ) task $number of job $SLURM_ARRAY_JOB_ID on ${SLURMD_NODENAME:-$(hostname)}, GPU ${CUDA_VISIBLE_DEVICES:-unset}; problems: $(wc -l <"$list")"
  "$pgtune" search "$list_option" "$list" --db "$folder/task-$number.db" "${jobs:---jobs=${SLURM_CPUS_PER_TASK:-1}}" "${options[@]}" || result=$?
  write_state "$number" ended "$result"
  exit "$result"
}

merge() {
  local number databases=() new="$folder/merged.$$.db" result=0
  for ((number = 0; number < tasks; ++number)); do
    # A task that was killed as it began leaves an empty file.
    [ ! -s "$folder/task-$number.db" ] || databases+=("$folder/task-$number.db")
  done
  if [ ${#databases[@]} -eq 0 ]; then
    status
    die 5 "no task has left a database in $folder"
  fi
  # A journal belongs to the file of its name: one that somebody writes to must not be replaced.
  [ ! -s "$folder/merged.db-wal" ] && [ ! -s "$folder/merged.db-journal" ] ||
    die 4 "$folder/merged.db is being written to, or who did was killed; move it away with its journal, then: $again merge"
  ulimit -n "$(ulimit -Hn)"  # all databases are open at once
  "$pgtune" db merge "${databases[@]}" -o "$new" || { result=$?; status; exit $result; }
  mv -f "$new" "$folder/merged.db" || die 3 "cannot write $folder/merged.db"
  "$pgtune" report --db "$folder/merged.db" >"$folder/report.txt" || result=$?
  cat "$folder/report.txt"
  echo
  status || result=$?
  say "merged: $folder/merged.db; report: $folder/report.txt"
  exit $result
}

submit_merge() {  # JOB: after it. A job of one task without a GPU: this script without its #SBATCH lines.
  { printf '#!/bin/bash\nset -- merge\n'; sed '/^#SBATCH/d' "$0"; } |
    sbatch --parsable --dependency="$1" --kill-on-invalid-dep=yes --job-name=pgtune-merge --nodes=1 --ntasks=1 --time=30 \
      --requeue --chdir="$folder" --output="$folder/logs/merge.log" "${merge_options[@]}"
}

submit() {
  local number list="" before job merge_job
  command -v sbatch >/dev/null || die 3 "sbatch is not here; run this on a login node of the cluster"
  mkdir -p "$folder/state" "$folder/logs" || die 3 "cannot write to $folder; give 'pgtune slurm --folder' one that all nodes share"
  before=$(cat "$folder/state/job" 2>/dev/null)
  if [ -n "$before" ] && [ -n "$(timeout 20 squeue --noheader --jobs="$before" 2>/dev/null)" ]; then
    die 3 "job $before is still at work on this; wait for it, or end it: scancel $before"
  fi
  for ((number = 0; number < tasks; ++number)); do
    finished "$number" || list+="${list:+,}$number"
  done
  if [ -z "$list" ]; then
    merge_job=$(submit_merge singleton) || exit 3
    say "all $tasks tasks are done; job ${merge_job%%;*} merges them into $folder/merged.db"
    return
  fi
  job=$(sbatch --parsable --array="$list%$gpus" "$0" task) || exit 3
  job=${job%%;*}  # a cluster's name may follow
  echo "$job" >"$folder/state/job" || die 3 "cannot write to $folder/state"
  merge_job=$(submit_merge "afterany:$job") ||
    die 3 "job $job runs, but its merge was not accepted; when it is done: $again merge"
  say "submitted job $job, tasks $list, and job ${merge_job%%;*}, which merges them into $folder/merged.db"
  say "where they stand: $again status"
}

case "${1:-}" in
  "")
    [ -n "${SLURM_ARRAY_TASK_ID:-}" ] || { submit; exit; }
    # Submitted with sbatch itself: the first task submits the merge.
    if [ "$SLURM_ARRAY_TASK_ID" = "${SLURM_ARRAY_TASK_MIN:-0}" ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
      mkdir -p "$folder/state" && echo "$SLURM_ARRAY_JOB_ID" >"$folder/state/job"
      submit_merge "afterany:$SLURM_ARRAY_JOB_ID" >/dev/null || say "no merge was submitted from here; when all is done: $again merge"
    fi
    task
    ;;
  task) task ;;
  merge) merge ;;
  status) status ;;
  *) die 2 "unknown argument '$1'. Without one this submits; otherwise give status or merge." ;;
esac
