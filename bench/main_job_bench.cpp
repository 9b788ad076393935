// SPDX-License-Identifier: MIT
// Figures of the main job: start-up, a recorded answer, the compile pool's speed and memory, and with --gpu a whole
// search on the first GPU. Prints one table; run it on an otherwise idle machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "bench/fleet_bench.hpp"
#include "bench/merge_bench.hpp"
#include "bench/million_bench.hpp"
#include "bench/process.hpp"
#include "bench/space_bench.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::bench {
namespace {

constexpr const char* kShape = "4096x4096x4096";
constexpr std::size_t kPoolJobs = 8;
constexpr std::size_t kPoolBuilds = 64;

class Report {
 public:
  void add(const std::string& what, const std::string& value, const std::string& spread, const std::string& count) {
    table_.add_row({what, value, spread, count});
  }

  void add_times(const std::string& what, const std::vector<double>& times_s) {
    const auto [low, high] = std::minmax_element(times_s.begin(), times_s.end());
    add(what, fmt::format("{:.1f} ms", 1e3 * stats::median(times_s)),
        fmt::format("{:.1f} to {:.1f}", 1e3 * *low, 1e3 * *high), std::to_string(times_s.size()));
  }
  void print() const { fmt::print("{}", table_.text()); }

 private:
  tool::TextTable table_{{{"what"}, {"median", tool::Align::kRight}, {"range"}, {"runs", tool::Align::kRight}}};
};

/// Times `count` runs of pgtune; `arguments` may differ from run to run. A run that fails ends the benchmark.
template <typename Arguments>
std::vector<double> time_runs(const std::string& pgtune, int count, Arguments arguments) {
  std::vector<double> times_s;
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> command{pgtune};
    for (const std::string& argument : arguments(i)) command.push_back(argument);
    const Run result = run(command);
    if (result.exit_code != 0)
      throw std::runtime_error(fmt::format("{} exited with {}", fmt::join(command, " "), result.exit_code));
    times_s.push_back(result.wall_s);
  }
  return times_s;
}

/// Builds the first variants of every template for sm_90a with a cold cache and `kPoolJobs` workers.
void bench_compile_pool(const tool::Paths& paths, const support::ScratchFolder& scratch, Report& report) {
  const DeviceInfo device = architecture_info("sm_90a").value();
  const Problem problem = parse_shape(kShape).and_then(with_default_strides).value();
  const space::TemplateDefinition definition = tool::Catalogue().load("sgemm_simt");
  const space::Enumeration space = tool::value_or_throw(space::enumerate(definition, problem, device));
  device::CompilePool pool({.worker_path = paths.worker, .cache_dir = scratch / "cold-cache", .jobs = kPoolJobs});

  const auto start = std::chrono::steady_clock::now();
  const std::size_t stride = std::max<std::size_t>(space.variants.size() / kPoolBuilds, 1);
  std::size_t submitted = 0, finished = 0, failed = 0;
  std::vector<double> compile_s;
  std::int64_t peak_bytes = 0;
  const std::size_t total = std::min(kPoolBuilds, space.variants.size());
  while (finished < total) {
    for (; submitted < total && submitted - finished < pool.slots(); ++submitted) {
      const Variant& variant = space.variants[submitted * stride];
      pool.submit({.id = static_cast<protocol::RequestId>(submitted),
                   .variant = variant,
                   .source = definition.source,
                   .defines = tool::value_or_throw(space::make_defines(definition, variant, problem, device)),
                   .architecture = device.architecture});
    }
    std::vector<protocol::Event> events;
    if (const auto polled = pool.poll(events); !polled) throw tool::CommandError(polled.error());
    for (const protocol::Event& event : events) {
      const auto& done = std::get<protocol::BuildDone>(event);
      ++finished;
      if (done.outcome.kind == OutcomeKind::kOk) {
        compile_s.push_back(done.build.compile_s);
      } else {
        ++failed;
      }
    }
    peak_bytes = std::max(peak_bytes, descendants_pss_bytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.add(fmt::format("compile pool, {} jobs, {} builds ({} failed)", kPoolJobs, total, failed),
             fmt::format("{:.1f}/s", static_cast<double>(total) / wall_s), "", "1");
  report.add("  NVRTC time of one build", fmt::format("{:.2f} s", stats::median(compile_s)), "",
             std::to_string(compile_s.size()));
  report.add("  peak memory of all workers", fmt::format("{:.2f} GB", static_cast<double>(peak_bytes) / 1e9), "", "1");
}

int run_all(bool gpu) {
  const std::filesystem::path own = tool::own_executable();
  const std::string pgtune = own.parent_path() / "pgtune";
  const tool::Paths paths = tool::Paths::find(tool::process_environment, own);
  const support::ScratchFolder scratch;
  setenv("PGTUNE_CACHE_DIR", (scratch / "cache").c_str(), 1);
  Report report;
  report.add_times("pgtune --help", time_runs(pgtune, 30, [](int) { return std::vector<std::string>{"--help"}; }));
  const auto search = [&](const std::string& device, const std::string& database) {
    return std::vector<std::string>{"search", "--shape", kShape, "--json", "--device", device, "--db", database};
  };
  report.add_times("a recorded answer",
                   time_runs(pgtune, 7, [&](int i) { return search("recording", scratch / fmt::format("{}.db", i)); }));
  if (std::filesystem::exists(paths.worker)) bench_compile_pool(paths, scratch, report);
  if (gpu)
    report.add_times("search on GPU 0, whole space, cold cache",
                     time_runs(pgtune, 1, [&](int) { return search("0", scratch / "gpu.db"); }));
  report.print();
  return 0;
}

}  // namespace
}  // namespace pgtune::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int index, int otherwise) { return argc > index ? std::atoi(argv[index]) : otherwise; };
  try {
    if (what.empty() || (what == "--gpu" && argc == 2)) return pgtune::bench::run_all(!what.empty());
    if (what == "spaces" && argc == 2) {
      pgtune::bench::bench_spaces();
      return 0;
    }
    if (what == "million" && argc == 2) {
      pgtune::bench::bench_million();
      return 0;
    }
    constexpr int kDatabases = 64, kProblems = 4;
    if (what == "merge" && argc <= 4 && number(2, kDatabases) > 0 && number(3, kProblems) > 0) {
      pgtune::bench::bench_merge(number(2, kDatabases), number(3, kProblems));
      return 0;
    }
    if (what == "fleet" && argc >= 4 && argc <= 5 && number(2, 0) > 0 && number(3, 0) > 0) {
      pgtune::bench::bench_fleet(number(2, 0), number(3, 0), static_cast<unsigned>(number(4, 1)));
      return 0;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "pgtune-bench: {}\n", error.what());
    return 1;
  }
  fmt::print(stderr,
             "usage: pgtune-bench [--gpu]\n"
             "       pgtune-bench merge [DATABASES [PROBLEMS]]\n"
             "       pgtune-bench fleet PROBLEMS MOST_GPUS [SEED]\n"
             "       pgtune-bench spaces\n"
             "       pgtune-bench million\n");
  return 2;
}
