#!/usr/bin/env bash
# usage: exported_operations.sh PGTUNE SOURCE_FOLDER CUDA_INCLUDE WORK_FOLDER
# As a user would: tunes a softmax and a grouped GEMM for some seconds, exports both with --verify, compiles a program with
# the host's compiler and runs it: its results are compared with float64 on the host. Exit code 77 where there is no GPU.
set -euo pipefail
pgtune=$1 source=$2 include=$3 work=$4
"$pgtune" devices >/dev/null 2>&1 || { echo "needs a GPU"; exit 77; }
rm -rf "$work" && mkdir -p "$work"
database="$work/operations.db"
"$pgtune" search --db "$database" --operation softmax --size M=4096,N=8192 --dtype bf16 --variants 5 -q
"$pgtune" search --db "$database" --operation gemm_grouped --size G=8,M=1000,N=1024,K=1024 --dtype bf16 --variants 5 -q
"$pgtune" export header --db "$database" --verify --namespace best -o "$work/best.hpp"
"$pgtune" export header --db "$database" --operation softmax --jit --verify -o "$work/best_softmax.hpp"
"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -Werror -isystem "$include" -I"$work" "$source/tests/gpu/programs/operations.cpp" \
  -o "$work/operations" -l:libcuda.so.1 -pthread -ldl
"$work/operations"
