// SPDX-License-Identifier: MIT
#include "bench/fleet_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <queue>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/measuring/fleet.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/session/expected_search.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::bench {
namespace {

/// A search that was recorded.
struct Recorded {
  double wall_s = 0, expected_s = 0;
  double compile_s = 0;  ///< NVRTC time of all its builds
};

/// Of the machine that the recordings were made on.
constexpr std::size_t kCores = 16;

double seconds_of(const std::string& utc) {
  std::tm time{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) throw std::runtime_error("no time: " + utc);
  return static_cast<double>(::timegm(&time));
}

std::vector<Recorded> recorded_searches() {
  std::vector<Recorded> out;
  for (const db::Database& database : tool::open_recordings("")) {
    for (const db::SessionRow& session : db::list_sessions(database)) {
      if (session.finished_at.empty() || session.kind != "search" || session.recorded) continue;
      const auto problem = db::find_problem(database, session.problem_key);
      if (!problem) continue;
      const std::string builds =
          fmt::format("FROM trials JOIN builds ON builds.id = trials.build WHERE session = {}", session.id);
      session::SessionOptions options;
      options.budget.trials = db::query_integer(database, "SELECT COUNT(*) " + builds);
      out.push_back({seconds_of(session.finished_at) - seconds_of(session.started_at),
                     session::expected_search(*problem, options, kCores).seconds,
                     1e-3 * static_cast<double>(db::query_integer(
                                database, "SELECT CAST(1000 * COALESCE(SUM(compile_s), 0) AS INTEGER) " + builds))});
    }
  }
  return out;
}

struct Schedule {
  double makespan_s = 0, idle_share = 0;
};

/// In simulated time: a GPU that is free takes the next problem at once.
Schedule simulate(const std::vector<Recorded>& searches, const std::vector<double>& expected_s, int gpus) {
  using Free = std::pair<double, std::size_t>;  // when, which GPU
  tool::Handout handout(expected_s, static_cast<std::size_t>(gpus));
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  std::vector<std::optional<std::size_t>> has(static_cast<std::size_t>(gpus));
  for (std::size_t gpu = 0; gpu < has.size(); ++gpu) free.emplace(0, gpu);
  double busy_s = 0, last_s = 0;
  while (!free.empty()) {
    const auto [now_s, gpu] = free.top();
    free.pop();
    last_s = std::max(last_s, now_s);
    if (has[gpu]) handout.done(gpu, *has[gpu]);
    has[gpu] = handout.take(gpu);
    if (!has[gpu]) continue;
    const double wall_s = searches[*has[gpu]].wall_s;
    busy_s += wall_s;
    free.emplace(now_s + wall_s, gpu);
  }
  if (!handout.is_over()) throw std::runtime_error("problems are left");
  return {last_s, 1 - busy_s / (gpus * last_s)};
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

void bench_fleet(int problems, int most_gpus, unsigned seed) {
  const std::vector<Recorded> recorded = recorded_searches();
  if (recorded.empty()) throw std::runtime_error("this build has no recordings");
  std::mt19937 random(seed);
  std::vector<Recorded> searches;
  std::vector<double> wall_s, expected_s;
  double total_s = 0, compile_s = 0;
  for (int i = 0; i < problems; ++i) {
    searches.push_back(recorded[std::uniform_int_distribution<std::size_t>(0, recorded.size() - 1)(random)]);
    wall_s.push_back(searches.back().wall_s);
    expected_s.push_back(searches.back().expected_s);
    total_s += searches.back().wall_s;
    compile_s += searches.back().compile_s;
  }
  fmt::print(
      "{} searches drawn from {} recorded ones, seed {}: {:.0f} s in all, {:.0f} to {:.0f} s each, median {:.0f} s\n",
      problems, recorded.size(), seed, total_s, *std::min_element(wall_s.begin(), wall_s.end()),
      *std::max_element(wall_s.begin(), wall_s.end()), stats::median(wall_s));
  tool::TextTable table({{"GPUs", tool::Align::kRight},
                         {"until the end", tool::Align::kRight},
                         {"idle", tool::Align::kRight},
                         {"as drawn", tool::Align::kRight},
                         {"all known", tool::Align::kRight}});
  const std::vector<double> equal(searches.size(), 1);
  for (int gpus = 1; gpus <= most_gpus; gpus *= 2) {
    const Schedule schedule = simulate(searches, expected_s, gpus);
    table.add_row({std::to_string(gpus), fmt::format("{:.0f} s", schedule.makespan_s), percent(schedule.idle_share),
                   percent(simulate(searches, equal, gpus).idle_share),
                   percent(simulate(searches, wall_s, gpus).idle_share)});
  }
  fmt::print("{}", table.text());
  const std::size_t jobs = device::default_compile_jobs(device::kDefaultCompileMemoryBytes);
  fmt::print("builds: {:.2f} cores busy for each GPU at work, if none was in the cache\n", compile_s / total_s);
  fmt::print("compile workers on this machine, however many GPUs: {} at most, of {} GiB each at most\n", jobs,
             device::kDefaultCompileMemoryBytes >> 30);
}

}  // namespace pgtune::bench
