#!/usr/bin/env bash
# The installed tree: usable where it was installed, moved elsewhere, read-only, from a path with blanks, by a user who is
# not root.
# usage: install_test.sh CMAKE BUILD_DIR
set -euo pipefail
cmake=$1 build=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/pgtune install.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() { echo "install_test: $*" >&2; exit 1; }
# use PREFIX: as a stranger, with nothing of this environment, from another folder.
as_stranger=()
[ "$(id -u)" -ne 0 ] || as_stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups)
use() {
  cd /
  # A recorded answer needs no worker; inspect has the worker found, and compile where there is one.
  "${as_stranger[@]}" env -i PATH=/usr/bin:/bin HOME="$home" CUDA_HOME="${CUDA_HOME:-}" "$@"
}
check() {
  local prefix=$1
  home=$(mktemp -d "$work/home.XXXXXX") && chmod 777 "$home"
  use "$prefix/bin/pgtune" --version >"$work/version" || fail "--version fails in $prefix"
  grep -q '^pgtune [0-9]' "$work/version" || fail "--version says '$(cat "$work/version")'"
  use "$prefix/bin/pgtune" search --shape 4096x4096x4096 --device recording --json >"$work/answer" 2>"$work/said" ||
    fail "there is no recorded answer in $prefix: $(cat "$work/said")"
  grep -q '"ratio_to_baseline"' "$work/answer" || fail "a recorded answer in $prefix has no ratio"
  use "$prefix/bin/pgtune" doctor >"$work/doctor" 2>&1 || true  # without a GPU it ends with 3
  if [ -e "$build/bin/pgtune-worker" ]; then
    # Lines are broken at 80 columns, names at blanks too.
    tr -s ' \n' ' ' <"$work/doctor" | grep -qF "$prefix/libexec/pgtune/pgtune-worker" ||
      fail "not the installed worker: $(head -3 "$work/doctor")"
  fi
}

chmod 755 "$work"
prefix="$work/a prefix"
"$cmake" --install "$build" --prefix "$prefix" --strip >/dev/null
for file in bin/pgtune share/man/man1/pgtune.1 share/bash-completion/completions/pgtune share/zsh/site-functions/_pgtune \
            share/fish/vendor_completions.d/pgtune.fish share/doc/pgtune/copyright share/pgtune/shapes/gemm.txt; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done
bash -n "$prefix/share/bash-completion/completions/pgtune"
check "$prefix"
mv "$prefix" "$work/moved to"
ln -s "$work/moved to/bin/pgtune" "$work/pgtune"
chmod -R a-w "$work/moved to"
check "$work/moved to"
use "$work/pgtune" --version >/dev/null || fail "a link to the program does not work"
