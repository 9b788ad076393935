// SPDX-License-Identifier: MIT
#include "bench/merge_bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "bench/process.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::bench {
namespace {

/// Of recordings/h200-f32.db.zst; each file takes the next ones, from the front again after the last.
constexpr std::array kShapes{"512x512x512",          "1024x1024x1024",       "1024x1024x1024 tn",
                             "1000x1000x1000",       "127x129x131",          "64x12544x147",
                             "256x256x256 batch 8",  "256x256x256 batch 16", "512x512x512 batch 8",
                             "512x512x512 batch 16", "16x4096x4096",         "64x4096x4096"};

double run_or_throw(const std::vector<std::string>& command) {
  const Run result = run(command);
  if (result.exit_code != 0)
    throw std::runtime_error(fmt::format("{} exited with {}", fmt::join(command, " "), result.exit_code));
  return result.wall_s;
}

void print_times(const std::string& what, const std::vector<double>& times_s) {
  const auto [low, high] = std::minmax_element(times_s.begin(), times_s.end());
  fmt::print("{:<10} {:8.0f} ms  ({:.0f} to {:.0f}, {} runs)\n", what, 1e3 * stats::median(times_s), 1e3 * *low,
             1e3 * *high, times_s.size());
}

}  // namespace

void bench_merge(int databases, int problems) {
  constexpr int kRuns = 7;
  const std::string pgtune = tool::own_executable().parent_path() / "pgtune";
  const support::ScratchFolder scratch;
  ::setenv("PGTUNE_WORKER", (tool::own_executable().parent_path() / "pgtune-fake-worker").c_str(), 1);
  std::vector<std::string> merge{pgtune, "db", "merge"};
  std::uintmax_t bytes = 0;
  std::size_t next = 0;
  for (int i = 0; i < databases; ++i) {
    const std::string list = scratch / "shapes.txt", database = scratch / fmt::format("task-{}.db", i);
    std::ofstream shapes(list);
    for (int k = 0; k < problems; ++k) shapes << kShapes[next++ % kShapes.size()] << '\n';
    shapes.close();
    run_or_throw({pgtune, "search", "--template", "sgemm_simt", "--strategy", "random", "--variants", "64", "--shapes",
                  list, "--db", database, "-q"});
    bytes += std::filesystem::file_size(database);
    merge.push_back(database);
  }
  merge.insert(merge.end(), {"-o", ""});
  std::vector<double> merging_s, reporting_s;
  for (int i = 0; i < kRuns; ++i) {
    merge.back() = scratch / fmt::format("merged-{}.db", i);
    merging_s.push_back(run_or_throw(merge));
    reporting_s.push_back(run_or_throw({pgtune, "report", "--db", merge.back()}));
  }
  fmt::print("databases  {}, {} problems searched into each, {:.1f} MB in all\n", databases, problems,
             static_cast<double>(bytes) / 1e6);
  fmt::print("merged     {:.1f} MB\n", static_cast<double>(std::filesystem::file_size(merge.back())) / 1e6);
  print_times("db merge", merging_s);
  print_times("report", reporting_s);
}

}  // namespace pgtune::bench
