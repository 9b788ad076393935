// SPDX-License-Identifier: MIT
// An exported header on a GPU: every entry bit for bit against the worker's own launch, over poisoned workspaces, in
// graphs, between unmapped memory, from sixteen threads and on two streams of unequal priority; with --time also what
// it costs. Prints a table last; exit code 1 where anything differs, 77 where there is no GPU it was made for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#define PGTUNE_CUBLASLT_FALLBACK
#include "best_gemm.hpp"
#include "tests/gpu/exported_checks.hpp"
#include "tests/gpu/exported_times.hpp"
#include "tests/gpu/exported_worker.hpp"

namespace pgtune::gpu {
namespace {

struct Options {
  bool time = false, lines = false;
  double seconds = 1e9;  ///< no entry is begun after that
  const char* gpu = "0";
};

/// Of the process; every other GPU of the machine has some entries too, at the end.
int run(const Options& options) {
  const auto begin = Clock::now();
  const auto ordinal = find_gpu(options.gpu);
  if (!ordinal) {
    fmt::print("needs a GPU: {}\n", ordinal.error().text());
    return 77;
  }
  must(cudaSetDevice(*ordinal), "choosing the device");
  ExportedDevice device(*ordinal);
  ExportedChecks checks(device);
  ExportedTimes times(device);
  int count = 0;
  const best_gemm::Entry* entries = best_gemm::entries(&count);
  best_gemm::Gemm gemm;
  expect(best_gemm::Gemm::select(entries[0].problem, {}, *ordinal, {}, gemm) == best_gemm::Status::not_prepared,
         "a device that is not prepared was taken");
  if (!device.prepare()) return 77;
  if (best_gemm::Gemm::select(entries[0].problem, {}, *ordinal, {}, gemm) != best_gemm::Status::ok) {
    fmt::print("not the GPU it was tuned on: {}\n", gemm.choice().why);
    return 77;
  }
  device.build(entries, count);
  fmt::print("the worker's builds: done after {:.0f} s\n", seconds_since(begin));
  std::vector<ExportedRow> rows;
  for (int i = 0; i < count && seconds_since(begin) < options.seconds; ++i) {
    rows.push_back(checks.check(entries[i], options.time ? &times : nullptr));
    const ExportedRow& row = rows.back();
    if (options.lines)
      fmt::print("{:44} workspace {:>9}, stored {:8.2f} us, worker's {:8.2f} us, run {:8.2f} us, run/worker {:.4f}\n",
                 problem_of(entries[i]).title(), row.workspace_bytes, 1e6 * row.stored_s, 1e6 * row.worker_s,
                 1e6 * row.run_s, row.ratio);
    std::fflush(stdout);
  }
  checks.threads(entries[0]);
  checks.threads(entries[count / 2]);
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus), "counting GPUs");
  constexpr int kEntriesElsewhere = 5;
  for (int other = 0; other < gpus; ++other) {
    if (other == *ordinal) continue;
    must(cudaSetDevice(other), "choosing the device");
    ExportedDevice second(other);
    ExportedChecks its_checks(second);
    if (!second.prepare()) continue;
    for (int i = 0; i < std::min(count, kEntriesElsewhere); ++i) its_checks.check(entries[i]);
    fmt::print("GPU {}: {} entries beside GPU {}\n", other, std::min(count, kEntriesElsewhere), *ordinal);
  }
  must(cudaSetDevice(*ordinal), "choosing the device");
  fmt::print("{} of {} entries in {:.0f} s, {} failures\n", rows.size(), count, seconds_since(begin), failures);
  if (options.time) {
    show_times(rows);
    times.on_host(entries[0]);
    times.on_host(entries[count / 2]);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgtune::gpu

/// [--time] [--lines] [--seconds S] [--gpu N]
int main(int count, char** arguments) {
  pgtune::gpu::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--time") {
      options.time = true;
    } else if (word == "--lines") {
      options.lines = true;
    } else if (word == "--seconds" && more) {
      options.seconds = std::atof(arguments[++i]);
    } else if (word == "--gpu" && more) {
      options.gpu = arguments[++i];
    } else {
      fmt::print("[--time] [--lines] [--seconds S] [--gpu N]\n");
      return 2;
    }
  }
  return pgtune::gpu::run(options);
}
