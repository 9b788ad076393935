#!/usr/bin/env bash
# Tests of scripts/, each case a function: scripts_test.sh SOURCE_DIR CASE. The scripts run as copies in a tree with a project
# of three lines, a toolkit of empty files, and stand-ins for the programs that a case wants to fail. 77: the case cannot run here.
set -uo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/tree" bin="$work/bin" toolkit="$work/toolkit"
mkdir -p "$tree" "$bin" "$toolkit/include" "$toolkit/lib64"
cp -r "$source/scripts" "$tree/"
unset GIT_DIR CUDA_PATH
export PATH="$bin:$PATH" CUDA_HOME="$toolkit"

fail() { printf '%s\n' "$*" "--- what was said:" "$(cat "$work/said" 2>/dev/null)" >&2; exit 1; }
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"; chmod +x "$bin/$1"; }  # NAME SCRIPT
# expect CODE COMMAND...: runs it in the tree; what it says is in $work/said.
expect() {
  local wanted=$1 code=0
  shift
  (cd "$tree" && "$@") >"$work/said" 2>&1 </dev/null || code=$?
  [ "$code" = "$wanted" ] || fail "'$*' ended with $code instead of $wanted"
}
last_line_has() { tail -n 1 "$work/said" | grep -qF -- "$1" || fail "the last line lacks '$1'"; }
says() { grep -qF -- "$1" "$work/said" || fail "'$1' is not said"; }

# --- lint -----------------------------------------------------------------------------------------------------------
stand_in_formatter() { stand_in clang-format-14 "printf '%s\n' \"\$@\" >'$work/formatted'"; }

lint_fails_where_git_does() {
  stand_in_formatter
  GIT_DIR=/nonexistent expect 3 scripts/lint
  GIT_DIR=/nonexistent expect 3 scripts/lint --fix
  last_line_has "which files to check is unknown"
}

lint_fails_without_sources() {
  stand_in_formatter
  stand_in git 'exit 0'
  expect 3 scripts/lint
}

lint_checks_what_git_lists() {
  stand_in_formatter
  stand_in git 'printf "%s\n" a.cpp "folder/b c.hpp"'
  expect 0 scripts/lint
  [ "$(grep -v '^-' "$work/formatted")" = "$(printf '%s\n' a.cpp 'folder/b c.hpp')" ] || fail "checked: $(cat "$work/formatted")"
}

lint_limits_words_and_sentences() {
  command -v python3 >/dev/null || exit 77
  stand_in_formatter
  stand_in git 'echo a.cpp'
  mkdir -p "$tree/docs/contributing" "$tree/docs/reference"
  repeat() { local i; for ((i = 0; i < $2; ++i)); do printf '%s ' "$1"; done; }
  refused() { expect 1 scripts/lint; says "check-prose: $1"; rm "$tree/README.md" "$tree/docs"/*/*.md; }
  repeat "A sentence of five words." 200 >"$tree/README.md"
  # Code, tables and markers are no sentences, and a command with its options is one word.
  { repeat "word" 39; printf '`scripts/lint --fix`.\n\n'; repeat "Two words." 40; printf '\n```sh\n'; repeat "word" 50
    printf '\n```\n\n| '; repeat "word" 50; printf '|\n'; } >"$tree/docs/contributing/architecture.md"
  repeat "word" 50 >"$tree/docs/reference/commands.md"
  expect 0 scripts/lint
  echo "More." >>"$tree/README.md"
  refused "README.md has 1001 words, and 1000 are its limit"
  { repeat "word" 41; echo .; repeat "Two words." 40; } >"$tree/README.md"
  cp "$tree/README.md" "$tree/docs/contributing/any.md"
  refused "docs/contributing/any.md: a sentence of 41 words, and 40 is the limit: word word"
  { repeat "word" 15; echo "word."; } >"$tree/README.md"
  touch "$tree/docs/contributing/any.md"
  refused "README.md: its sentences have 16.0 words in the mean, and 16 is the limit"
  repeat "A sentence of five words." 401 >"$tree/docs/contributing/architecture.md"
  touch "$tree/README.md"
  refused "docs/contributing/architecture.md has 2005 words, and 2000 are its limit"
  repeat "A sentence of five words." 5001 >"$tree/docs/contributing/any.md"
  touch "$tree/README.md"
  refused "docs/ has 25005 words, and 25000 are its limit"
}

lint_alone_fails_where_git_does() {
  stand_in_formatter
  stand_in cmake 'exit 0'
  mkdir -p "$tree/build"
  echo "CUDAToolkit_ROOT:UNINITIALIZED=$toolkit" >"$tree/build/CMakeCache.txt"
  local broken
  for broken in "*diff*" "*ls-files\ --others*"; do
    stand_in git "case \"\$*\" in $broken) exit 128 ;; *--cached*) echo a.cpp ;; esac"
    expect 3 scripts/lint --alone main
    last_line_has "which files to check is unknown"
  done
}

no_script_hides_an_exit_code() {  # 'done < <(git ...)' goes on when git fails
  ! grep -nF '< <(' "$source"/scripts/* "$source/.ci/run" >"$work/said" || fail "process substitution hides how a command ended"
}

# --- setup ----------------------------------------------------------------------------------------------------------
project() {
  command -v cmake >/dev/null && command -v ninja >/dev/null && command -v flock >/dev/null || exit 77
  echo '#define CUDA_VERSION 13000' >"$toolkit/include/cuda.h"
  touch "$toolkit/lib64/libnvrtc.so" "$toolkit/lib64/libcublasLt.so" "$toolkit/lib64/libcudart_static.a"
  stand_in dpkg-query "printf 'install ok installed'"
  stand_in apt-get 'exit 1'
  cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.24)
project(tiny LANGUAGES NONE)
if(EXISTS ${CMAKE_SOURCE_DIR}/broken)
  message(FATAL_ERROR "the reason why")
endif()
add_custom_command(OUTPUT made COMMAND sh ${CMAKE_SOURCE_DIR}/step.sh VERBATIM)
add_custom_target(everything ALL DEPENDS made)
END
  echo 'echo whole >made' >"$tree/step.sh"
}
is_built() { [ "$(cat "$tree/build/made" 2>/dev/null)" = whole ] || fail "nothing was built"; }

setup_configures_again_after_a_failure() {
  project
  touch "$tree/broken"
  expect 3 scripts/setup
  last_line_has "the reason why"
  rm "$tree/broken"
  expect 0 scripts/setup
  is_built
  expect 0 scripts/setup
  [ ! -s "$work/said" ] || fail "a set-up that is done already did something"
}

setup_configures_again_after_a_killed_cmake() {  # killed when its cache was written, its build files not
  project
  stand_in cmake "'$(command -v cmake)' \"\$@\" || exit; if [ -e kill ]; then rm kill build/build.ninja; kill -9 \$\$; fi"
  touch "$tree/kill"
  expect 3 scripts/setup
  last_line_has "SIGKILL"
  expect 0 scripts/setup
  is_built
}

setup_builds_again_after_a_killed_ninja() {
  project
  stand_in ninja "case \"\$*\" in *--version* | *-t*) ;; *) if [ -e '$tree/kill' ]; then rm '$tree/kill'; echo half >'$tree/build/made'; kill -9 \$\$; fi ;; esac
exec '$(command -v ninja)' \"\$@\""
  touch "$tree/kill"
  expect 3 scripts/setup
  last_line_has "the build failed: its process was killed"
  expect 0 scripts/setup
  is_built
}

setup_fetches_again_after_a_killed_pip() {
  project
  # A python3 that makes a venv whose python is a pip: dead half-way where there is a file named kill.
  cat >"$work/pip" <<'END'
#!/bin/sh
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nvidia/cu13/include" "$2/nvidia/cu13/lib"
if [ -e kill ]; then rm kill; kill -9 $$; fi
echo '#define CUDA_VERSION 13000' >"$2/nvidia/cu13/include/cuda.h"
touch "$2/nvidia/cu13/lib/libnvrtc.so.13"
END
  chmod +x "$work/pip"
  stand_in python3 "for venv; do :; done; mkdir -p \"\$venv/bin\" && cp '$work/pip' \"\$venv/bin/python\""
  touch "$tree/kill"
  expect 3 scripts/setup --wheels
  last_line_has "SIGKILL"
  expect 0 scripts/setup --wheels
  [ -e "$tree/.deps/cuda/lib64/libnvrtc.so" ] && [ -e "$tree/.deps/cuda/include/cuda.h" ] || fail "the toolkit is not whole"
  is_built
}

setup_waits_for_what_was_left_running() {
  project
  mkdir "$tree/.deps"
  (flock 9 && touch "$work/held" && until [ -e "$work/go" ]; do sleep 0.05; done; touch "$work/over") 9>"$tree/.deps/lock" &
  until [ -e "$work/held" ]; do sleep 0.05; done
  (expect 0 scripts/setup; [ -e "$work/over" ] || fail "set-up did not wait") &
  local setup=$!
  until grep -qs 'waiting for another set-up' "$work/said"; do
    kill -0 $setup 2>/dev/null || { touch "$work/go"; fail "set-up did not wait"; }
    sleep 0.05
  done
  touch "$work/go"
  wait $setup || exit 1
  is_built
}

setup_takes_no_folder_for_a_toolkit() {
  project
  mv "$toolkit"/* "$tree/"
  stand_in python3 'echo no wheels in this test >&2; exit 1'
  # Without nvcc the folder that is worked in is no toolkit; what is installed here, if anything, decides how this ends.
  PATH="$bin:/usr/bin:/bin"
  unset CUDA_HOME
  (cd "$tree" && scripts/setup) >"$work/said" 2>&1
  ! grep -qF 'Toolkit in .' "$work/said" || fail "the folder that is worked in is taken for a toolkit"
  (cd "$tree" && CUDA_HOME=. scripts/setup --build-dir "$work/other") >"$work/said" 2>&1
  says "'.' is no absolute path; not using it"
  ! grep -qF 'configuring with the CUDA Toolkit in .' "$work/said" || fail "a relative CUDA_HOME is taken for a toolkit"
}

# --- test-bare --------------------------------------------------------------------------------------------------------
test_bare_says_why_no_chroot_can_be_made() {
  stand_in debootstrap "echo 'E: Failed getting release file' >&2; exit 1"
  mkdir "$work/tmp"
  TMPDIR="$work/tmp" expect 3 scripts/test-bare
  if [ "$(id -u)" -ne 0 ]; then
    last_line_has "needs root"
  elif unshare --mount true 2>/dev/null; then
    last_line_has "E: Failed getting release file"
  fi
  [ -z "$(ls "$work/tmp")" ] || fail "something was left behind"
}

# --- record -----------------------------------------------------------------------------------------------------------
# A pgtune that notes how it was called, sees the GPU in $work/gpu, ends a search with the code in $work/code and copies what is
# in the database.
stand_in_pgtune() {
  echo "NVIDIA H200" >"$work/gpu"
  mkdir -p "$tree/recordings"
  cat >"$tree/scripts/pgtune" <<END
#!/usr/bin/env bash
echo "\$*" >>"$work/called"
if [ "\$1" = devices ]; then
  [ ! -s "$work/gpu" ] || printf '{\n  "devices": [\n    {\n      "name": "%s"\n    }\n  ]\n}\n' "\$(cat "$work/gpu")"
  exit
fi
while [ \$# -gt 0 ]; do
  case "\$1" in --db) database=\$2 ;; -o) copy=\$2 ;; search) searches=yes ;; prune) prunes=yes ;; esac
  shift
done
[ -z "\${prunes:-}" ] || exit 0
[ -z "\${searches:-}" ] || { echo searched >>"\$database"; exit "\$(cat "$work/code")"; }
cp "\$database" "\$copy"
END
  chmod +x "$tree/scripts/pgtune"
  : >"$work/called"
}

record_uses_every_gpu_and_goes_on_where_it_stopped() {
  stand_in_pgtune
  echo old | tee "$tree/recordings/h200-f32.db.zst" "$tree/recordings/h200-f32-2.db.zst" >/dev/null
  echo 130 >"$work/code"
  expect 130 scripts/record f32
  [ "$(cat "$tree/recordings/h200-f32.db.zst")" = old ] || fail "a recording of half a suite"
  echo 0 >"$work/code"
  expect 0 scripts/record f32
  [ "$(grep -c searched "$tree/recordings/h200-f32.db.zst")" = 2 ] || fail "the database of the first run was not used again"
  [ ! -e "$tree/recordings/h200-f32-2.db.zst" ] || fail "a part of the old recording is left"
  [ "$(grep -c '^search --device all --shapes configs/shapes/sgemm.txt' "$work/called")" = 2 ] || fail "$(cat "$work/called")"
  grep -q '^db prune --keep 1 --any-board --unfinished --db .*/f32.newest.db$' "$work/called" || fail "$(cat "$work/called")"
  expect 0 scripts/record --device 0,2 --variants 28 bf16
  grep -q '^search --device 0,2 .*--dtype bf16.*--variants 28' "$work/called" || fail "$(cat "$work/called")"
}

record_names_its_files_by_the_gpu() {
  stand_in_pgtune
  echo 0 >"$work/code"
  echo "NVIDIA H100 80GB HBM3" >"$work/gpu"
  expect 0 scripts/record --budget 30s f32
  [ -s "$tree/recordings/h100-f32.db.zst" ] || fail "$(ls "$tree/recordings")"
  : >"$work/gpu"
  expect 3 scripts/record f32
  last_line_has "no GPU to measure on"
}

record_searches_with_the_program_that_it_is_given() {
  stand_in_pgtune
  echo 0 >"$work/code"
  mkdir -p "$tree/elsewhere"
  mv "$tree/scripts/pgtune" "$tree/elsewhere/pgtune"
  expect 0 scripts/record --pgtune elsewhere/pgtune small skinny
  [ -s "$tree/recordings/h200-small.db.zst" ] && [ -s "$tree/recordings/h200-skinny.db.zst" ] || fail "$(ls "$tree/recordings")"
  grep -q '^search .*--shapes configs/shapes/small.txt' "$work/called" || fail "$(cat "$work/called")"
}

record_draws_unbiased_tables_into_a_folder_of_their_own() {
  stand_in_pgtune
  echo 0 >"$work/code"
  expect 0 scripts/record unbiased-gemm unbiased-sgemm
  [ -s "$tree/recordings/unbiased/h200-gemm.db.zst" ] && [ -s "$tree/recordings/unbiased/h200-sgemm.db.zst" ] || fail "no recording"
  [ "$(grep -c -- '--strategy stratified --grid full --settled 32' "$work/called")" = 2 ] || fail "$(cat "$work/called")"
  [ "$(grep -c -- '--variants 300' "$work/called")" = 2 ] || fail "$(cat "$work/called")"
  grep -- 'unbiased-gemm.txt' "$work/called" | grep -q -- '--template gemm_wgmma' || fail "$(cat "$work/called")"
  expect 0 scripts/record --variants 40 unbiased-sgemm
  grep -q -- '--variants 40' "$work/called" || fail "$(cat "$work/called")"
}

# --- the last line of a failure -------------------------------------------------------------------------------------
cause_is() {  # STATUS CAUSE, the log from standard input
  cat >"$work/log"
  local cause
  cause=$(cause_of "$1" "$work/log")
  [ "$cause" = "$2" ] || fail "the cause is not '$2' but '$cause'"
}

causes_of_failures() {
  . "$source/scripts/attempt.sh"
  cause_is 1 'CMake Error at cmake/Dependencies.cmake:3 (find_package): By not providing "Findfmt.cmake" this project has asked CMake.' <<'END'
-- Found Threads: TRUE
CMake Error at cmake/Dependencies.cmake:3 (find_package):
  By not providing "Findfmt.cmake" this project has
  asked CMake.

  Could not find a package configuration file
-- Configuring incomplete, errors occurred!
END
  cause_is 1 "CMake Error: Running 'ninja' failed with: no such file or directory" <<'END'
CMake Error:
  Running

   'ninja'

  failed with:

   no such file or directory

CMake Warning:
  Manually-specified variables were not used by the project:
END
  cause_is 1 'tuner/a.cpp:3:1: error: expected unqualified-id' <<'END'
[1/3] Building CXX object
FAILED: a.o
tuner/a.cpp:3:1: error: expected unqualified-id
ninja: build stopped: subcommand failed.
END
  cause_is 1 "a.cpp:(.text+0x5): undefined reference to \`f()'" <<'END'
a.cpp:(.text+0x5): undefined reference to `f()'
collect2: error: ld returned 1 exit status
END
  cause_is 100 "E: Unable to locate package libcli11-dev (W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org')" <<'END'
W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'
E: Unable to locate package libcli11-dev
E: Unable to locate package libfmt-dev
END
  cause_is 137 'it was ended by signal SIGKILL' <<<'[1/3] Building'
  cause_is 1 'sudo: a password is required' <<<'sudo: a password is required'
  cause_is 4 'nothing was said, exit status 4' </dev/null
}

# --- test -----------------------------------------------------------------------------------------------------------
tests_have_their_files_in_memory_where_there_is_room() {
  local say='set -euo pipefail; . scripts/test-folder.sh; echo "folder ${TEST_TMPDIR:-none}"' folder
  expect 0 env TEST_TMPDIR=/given bash -c "$say"
  says "folder /given"
  stand_in df 'echo Avail; echo 100'
  expect 0 env -u TEST_TMPDIR bash -c "$say"
  says "folder none"
  stand_in df 'exit 1'
  expect 0 env -u TEST_TMPDIR bash -c "$say"
  says "folder none"
  [ -w /dev/shm ] || exit 77
  stand_in df 'echo Avail; echo 4096'
  expect 0 env -u TEST_TMPDIR bash -c "$say"
  folder=$(sed -n 's/^folder //p' "$work/said")
  [ ! -e "$folder" ] || fail "$folder is left behind"
}

# --- planted mistakes -----------------------------------------------------------------------------------------------
mutate_plants_what_its_seed_says_and_no_equivalents() {
  command -v python3 >/dev/null || exit 77
  mkdir -p "$tree/tuner/stats"
  cat >"$tree/tuner/stats/half.cpp" <<'END'
bool half(int a, int b) {  // a < b is no code here
  const char* text = "a < b";
  if (a < b && a != 1) return true;
  return text == nullptr;
}
END
  (cd "$tree" && git init -q && git add tuner) || exit 77
  expect 0 scripts/mutate --list --count 50
  local line changed mistakes="$work/mistakes"
  cp "$work/said" "$mistakes"
  line="if (a < b && a != 1) return true;"
  for changed in "if (a <= b && a != 1) return true;" "if (a < b || a != 1) return true;" "if (a < b && a == 1) return true;" \
                 "if (a < b && a != 2) return true;" "if (false) return true;" "if (a < b && a != 1) return false;"; do
    says "$changed"
  done
  [ "$(grep -c '^    .*text != nullptr' "$mistakes")" = 1 ] || fail "a return is not changed once"
  ! grep -q '"a <= b"\|a <= b is' "$mistakes" || fail "a text or a comment is changed"
  expect 0 scripts/mutate --list --count 50
  cmp -s "$work/said" "$mistakes" || fail "the same seed plants others"
  expect 0 scripts/mutate --list --count 50 --seed 2
  ! cmp -s "$work/said" "$mistakes" || fail "another seed plants the same in the same order"
  printf '%s | %s | %s | %s\n' tuner/stats/half.cpp "$line" "if (false) return true;" "a reason" \
    tuner/stats/half.cpp "gone" "gone too" "a reason" >"$tree/scripts/mutate-equivalents.txt"
  expect 0 scripts/mutate --list --count 50
  ! grep -q 'if (false)' "$work/said" || fail "an equivalent is planted"
  says "names what is not there any more: tuner/stats/half.cpp: gone"
  expect 2 scripts/mutate --list elsewhere
  says "no host code in elsewhere"
}

# --- CI -------------------------------------------------------------------------------------------------------------
# A tree whose scripts note that they ran; the test in a browser leaves a screenshot.
ci_tree() {
  local script
  rm -rf "$tree" && mkdir -p "$tree/scripts" "$tree/.ci" "$tree/tests/browser"
  cp "$source/.ci/run" "$tree/.ci/"
  for script in $ci_scripts scripts/test; do ci_step "$script" ""; done
  ci_step tests/browser/run "mkdir -p build/page-screenshots && echo image >build/page-screenshots/page.png"
  stand_in apt-get 'exit 0'
  stand_in cmake 'exit 0'
  stand_in python3 'mkdir -p build/axe/bin && printf "#!/bin/sh\n" >build/axe/bin/pip && chmod +x build/axe/bin/pip'  # -m venv
}
ci_scripts="scripts/lint scripts/figures scripts/test-bare scripts/setup tests/browser/run scripts/test-slurm scripts/test-wheel scripts/sanitize scripts/fuzz"
ci_step() {  # SCRIPT COMMANDS
  printf '#!/bin/sh\necho "%s $*" >>ran\n%s\n' "$1" "$2" >"$tree/$1"
  chmod +x "$tree/$1"
}

ci_runs_every_step_and_keeps_the_screenshots() {
  ci_tree
  expect 0 .ci/run
  local ran
  for ran in "scripts/lint " "scripts/figures --check" "scripts/test-bare " "scripts/test-slurm " "scripts/test-wheel --prebuilt" "scripts/sanitize address .*tool_test" \
             "scripts/sanitize thread .*device_test" "scripts/fuzz --seconds 5"; do
    grep -qx -- "$ran.*" "$tree/ran" || fail "'$ran' did not run"
  done
  [ "$(cat "$tree/artifacts/page-screenshots/page.png")" = image ] || fail "the screenshots are not in artifacts/"
  says "CPU s  both README commands in a bare Debian"
}

ci_fails_where_a_step_does() {
  local script code
  for script in $ci_scripts; do
    # 3 is a step's word for what cannot run here, which nothing has accepted.
    for code in 7 3; do
      ci_tree
      ci_step "$script" "echo '$script says why'; exit $code"
      expect $code .ci/run
      says "$script says why"
    done
  done
}

ci_goes_on_without_what_is_accepted_by_name() {
  ci_tree
  ci_step scripts/test-bare "echo 'no chroot' >&2; exit 3"
  ci_step scripts/test-slurm "exit 3"
  PGTUNE_CI_WITHOUT="chroot slurm" expect 0 .ci/run
  says "no chroot"
  says "without chroot, as PGTUNE_CI_WITHOUT accepts"
  grep -qx "scripts/test " "$tree/ran" || fail "the README's test command did not run"
  PGTUNE_CI_WITHOUT=chroot expect 3 .ci/run
  ci_step scripts/test-bare "exit 1"
  PGTUNE_CI_WITHOUT="chroot slurm" expect 1 .ci/run
}

# --- sanitize-gpu -----------------------------------------------------------------------------------------------------
# A program with one test of two variants, and a compute-sanitizer that ends with $work/code after $work/seconds.
stand_in_sanitizer() {
  cat >"$work/variants" <<'END'
#!/bin/sh
case "$*" in *list_tests*) echo "  AreRightOnSmall/mine  # GetParam()" ;; *) echo "launched 2 variants" ;; esac
END
  chmod +x "$work/variants"
  stand_in compute-sanitizer "case \"\$1\" in --version) echo 'Version 1'; exit ;; esac
echo \$\$ >'$work/pid'; sleep \$(cat '$work/seconds'); echo 'launched 2 variants'; echo '======== ERROR SUMMARY: 0 errors'; exit \$(cat '$work/code')"
}

sanitize_gpu_says_what_each_tool_found() {
  stand_in_sanitizer
  echo 0 | tee "$work/seconds" >"$work/code"
  expect 0 scripts/sanitize-gpu --program "$work/variants" --logs "$work/logs"
  [ "$(grep -c 'OnSmall/mine  *2  *0 .* ok$' "$work/said")" = 4 ] || fail "not four tools without a finding"
  echo 99 >"$work/code"
  expect 1 scripts/sanitize-gpu --program "$work/variants" --logs "$work/logs"
  last_line_has "exit 99"
}

sanitize_gpu_leaves_nothing_running_where_it_is_interrupted() {
  stand_in_sanitizer
  echo 60 >"$work/seconds"
  (cd "$tree" && exec scripts/sanitize-gpu --program "$work/variants" --logs "$work/logs") >"$work/said" 2>&1 &
  local script=$! code=0
  until [ -s "$work/pid" ]; do kill -0 "$script" 2>/dev/null || fail "it ended by itself"; sleep 0.05; done
  kill -TERM "$script"
  wait "$script" || code=$?
  [ "$code" = 143 ] || fail "it ended with $code"
  local left=100
  # Gone, or dead and not yet seen to be by whoever inherits it.
  while grep -q '^State:.*[^Z] (' "/proc/$(cat "$work/pid")/status" 2>/dev/null; do
    [ $((left -= 1)) -gt 0 ] || fail "the tool goes on"
    sleep 0.05
  done
}

# --- validation suites ------------------------------------------------------------------------------------------------
# --- figures ----------------------------------------------------------------------------------------------------------
figures_writes_pages_and_finds_what_differs() {
  command -v python3 >/dev/null || exit 77
  mkdir -p "$tree/docs"
  cp -r "$source/docs/results" "$tree/docs/"
  printf '%s\n' 'Median <!-- figures:value int8 median -->2<!-- /figures -->.' '<!-- figures:rows int8 problem -->' \
    'An example: `<!-- figures:any -->`.' >"$tree/README.md"
  expect 1 scripts/figures --check
  says "figures: README.md: figures:rows has no <!-- /figures --> after it"
  sed -i 's/^An/<!-- \/figures --> An/' "$tree/README.md"
  expect 1 scripts/figures --check
  says "README.md is not what docs/results gives"
  printf '\033[1mfast\033[0m & 10%%\r\033[32mfaster\033[0m <1>\n' >"$tree/docs/results/search.txt"
  expect 0 scripts/figures
  expect 0 scripts/figures --check
  grep -q 'Median <!-- figures:value int8 median -->1\.[0-9][0-9][0-9]<!-- /figures -->\.' "$tree/README.md" || fail "no median: $(cat "$tree/README.md")"
  grep -qx '| 2048x2048x2048 nt |' "$tree/README.md" || fail "no table: $(cat "$tree/README.md")"
  grep -q '#116329.*>faster<' "$tree/docs/results/search-light.svg" || fail "no green word"
  ! grep -q '>fast<' "$tree/docs/results/search-light.svg" || fail "what was written over is shown"
  local wrong
  for wrong in 's/^# commit: .*/# commit: ?/=int8.csv does not say commit' 's/ nt,int8,1/ nt,int8,2/=README.md is not what'; do
    cp "$source/docs/results/int8.csv" "$tree/docs/results/int8.csv"
    sed -i "${wrong%=*}" "$tree/docs/results/int8.csv"
    expect 1 scripts/figures --check
    says "${wrong##*=}"
  done
  sed -i 's/figures:rows int8/figures:rows int9/' "$tree/README.md"
  expect 1 scripts/figures --check
  says "there is no docs/results/int9.csv"
  sed -i 's/figures:rows int9/figures:columns int8/' "$tree/README.md"
  expect 1 scripts/figures --check
  says "there is no figure columns"
  expect 2 scripts/figures --chec
}

validation_suites_are_as_drawn() {
  command -v python3 >/dev/null || exit 77
  mkdir -p "$tree/configs"
  cp -r "$source/configs/shapes" "$tree/configs/"
  rm -r "$tree/configs/shapes/validation"
  expect 0 scripts/draw-validation-shapes
  # Families come from models that the script does not know.
  diff -r -x families.txt "$source/configs/shapes/validation" "$tree/configs/shapes/validation" >"$work/said" || fail "the files are not what the script draws"
}

"$2"
