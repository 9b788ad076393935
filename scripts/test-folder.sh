# Sourced by what runs tests: sets TEST_TMPDIR, where GoogleTest's programs put their files, to a folder in memory that goes
# with the script. On a disk they would wait for it at every transaction of thousands of databases. Where TEST_TMPDIR is
# set, or /dev/shm is small or starts no programs (some tests run what they write), all stays as it is.
test_folder() {
  [ -z "${TEST_TMPDIR:-}" ] || return 0
  local room
  room=$(df --output=avail -m /dev/shm 2>/dev/null | tail -1) || return 0
  [ "${room:-0}" -ge 2048 ] || return 0
  folder_in_memory=$(mktemp -d /dev/shm/pgtune-test.XXXXXX 2>/dev/null) || return 0
  trap 'rm -rf "$folder_in_memory"' EXIT
  chmod 1777 "$folder_in_memory"  # as /tmp: some tests are two users
  printf '#!/bin/sh\n' >"$folder_in_memory/program"
  chmod +x "$folder_in_memory/program"
  if "$folder_in_memory/program" 2>/dev/null; then export TEST_TMPDIR="$folder_in_memory"; fi
}
test_folder
