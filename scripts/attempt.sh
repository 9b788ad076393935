# Sourced by scripts that run long commands: their output goes to a log, and the last line of a failure names its cause.

# cause_of STATUS LOG: one line on why a command ended with STATUS, from what it left in LOG.
cause_of() {
  local status=$1 log=$2
  if [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
    echo "it was ended by signal SIG$(kill -l $((status - 128)))"
    return
  fi
  awk -v status="$status" '
    /^ *Subprocess killed/ { killed = 1 }  # of ninja, by CMake, which goes on about itself
    # CMake says where, and in indented paragraphs below, what: the first says it, or, where no place is given, all together.
    cmake == 1 && /^  / { sub(/^ +/, ""); cmake_text = cmake_text " " $0; text_seen = 1; next }
    cmake == 1 && (NF || (text_seen && placed)) { cmake = 2 }
    /^CMake Error/ && !cmake { cmake = 1; placed = / at /; cmake_text = $0; next }
    # What apt-get and pip could not reach they say in passing; the error is then that they have found nothing.
    /^W: Failed to fetch|^WARNING: Retrying/ { if (!unreachable) unreachable = $0; next }
    /^E: Can not write log/ { next }  # only that there is no pseudo-terminal
    /(^E|^Error|^ERROR|[Ee]rror): |undefined reference|cannot find -l|No space left on device/ { if (!error) error = $0 }
    NF { last = $0 }
    END {
      cause = killed ? "its process was killed" : cmake ? cmake_text : error ? error : last ? last : "nothing was said, exit status " status
      sub(/^ +/, "", cause)
      print cause (unreachable ? " (" unreachable ")" : "")
    }' "$log"
}

# attempt LOG WHAT COMMAND...: runs COMMAND with its output in LOG. Where it fails, that of its end, and a last line with what
# failed, why, and $remedy, go to standard error, and the script ends with exit code 3.
attempt() {
  local log=$1 what=$2 status=0
  shift 2
  "$@" >"$log" 2>&1 || status=$?
  [ $status -ne 0 ] || return 0
  tail -n 30 "$log" >&2
  echo "$(basename "$0"): $what failed: $(cause_of $status "$log")${remedy:+; $remedy} (the whole log: $log)" >&2
  exit 3
}
