// SPDX-License-Identifier: MIT
// A template's cost model against what was measured: of each recorded problem the variants it puts first hold a good
// one.
#include <gmock/gmock.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

/// What a search measured of a variant.
struct Measured {
  std::vector<Sample> screening, rounds;
};

/// Of the session's variants of the template that were right, by their keys.
std::map<std::string, Measured> measured_in(const db::Database& database, db::RowId session, const std::string& name) {
  std::map<std::string, Measured> out;
  db::for_each_history(database, {session}, [&](db::RowId /*session*/, std::vector<db::PastTrialRow> trials) {
    for (const db::PastTrialRow& row : trials) {
      const bool right = row.trial.report.outcome.kind == OutcomeKind::kOk;
      if (right && row.trial.variant.origin.name == name)
        out[row.trial.variant.key].screening = row.trial.report.samples;
    }
  });
  for (const db::ContenderSamplesRow& row : db::session_rounds(database, session)) {
    const auto* const variant = std::get_if<db::VariantRow>(&row.contender);
    if (variant == nullptr || variant->origin.name != name) continue;
    if (const auto known = out.find(variant->key); known != out.end()) known->second.rounds = row.samples;
  }
  return out;
}

/// What a launch took in the fastest sample of the screening.
double time_when_cool_s(const Measured& measured) {
  double fastest_s = std::numeric_limits<double>::infinity();
  for (const Sample& sample : measured.screening) fastest_s = std::min(fastest_s, sample.per_launch_s());
  return fastest_s;
}

/// What it took in the race, or where there was none in the final, as the median over rounds; of a variant that
/// screening found too slow for either, infinity.
double time_under_load_s(const Measured& measured) {
  for (const Stage stage : {Stage::kRace, Stage::kFinal}) {
    std::vector<double> times_s;
    for (const Sample& sample : measured.rounds) {
      if (sample.stage == stage) times_s.push_back(sample.per_launch_s());
    }
    if (!times_s.empty()) return stats::median(times_s);
  }
  return std::numeric_limits<double>::infinity();
}

using TimeOf = double (*)(const Measured&);

/// Cost and time of the variants, the cheapest first.
std::vector<std::pair<double, double>> by_cost(const space::TemplateDefinition& definition, const Problem& problem,
                                               const DeviceInfo& device,
                                               const std::map<std::string, Measured>& variants, TimeOf time_of,
                                               std::size_t former) {
  std::vector<std::pair<double, double>> out;
  for (const auto& [key, measured] : variants) {
    const auto variant = space::recorded_variant(definition, key);
    if (!variant) {
      EXPECT_GT(former, 0U) << "no variant of the template: " << key;
      former -= former > 0 ? 1 : 0;
      continue;
    }
    const auto cost = space::cost_clocks(definition, *variant, problem, device);
    EXPECT_TRUE(cost) << cost.error().text();
    if (!cost) continue;
    out.emplace_back(**cost, time_of(measured));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

struct Judged {
  const char* name;
  const char* recording;
  std::size_t tried;       ///< the cheapest by cost
  double lost, most_lost;  ///< by the best of these against the best of all, as a fraction: on average and of a problem
  TimeOf time_of;
  std::size_t problems = 20;  ///< at least so many of which more were tried
  std::size_t former = 0;     ///< variants of a problem at most that name a value which the template has no more
};

/// What was lost on each problem of a recording of which more were tried.
std::vector<double> losses(const Judged& judged) {
  const space::TemplateDefinition definition = Catalogue().load(judged.name);
  const db::Database recording = db::Database::open(
      fmt::format("{}/recordings/{}.db.zst", PGTUNE_SOURCE_DIR, judged.recording), db::OpenMode::kReadOnly);
  std::vector<double> out;
  for (const db::SessionRow& session : db::list_sessions(recording)) {
    if (session.finished_at.empty()) continue;
    const Problem wanted = db::find_problem(recording, session.problem_key).value();
    const auto variants = by_cost(definition, wanted, db::find_session_device(recording, session.id).value(),
                                  measured_in(recording, session.id, judged.name), judged.time_of, judged.former);
    if (variants.size() <= judged.tried) continue;  // all of them are tried
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto end = variants.begin() + static_cast<std::ptrdiff_t>(judged.tried);
    const double best = std::min_element(variants.begin(), variants.end(), by_time)->second;
    const double found = std::min_element(variants.begin(), end, by_time)->second;
    EXPECT_LT(found / best - 1, judged.most_lost) << wanted.title();
    out.push_back(found / best - 1);
  }
  return out;
}

class CostModel : public testing::TestWithParam<Judged> {};

TEST_P(CostModel, TheCheapestHoldAGoodOne) {
  const Judged& judged = GetParam();
  const std::vector<double> lost = losses(judged);
  ASSERT_GE(lost.size(), judged.problems);
  const double mean = std::accumulate(lost.begin(), lost.end(), 0.0) / static_cast<double>(lost.size());
  fmt::print("{} in {}: {:.2f} % lost on average over {} problems\n", judged.name, judged.recording, 100 * mean,
             lost.size());
  EXPECT_LT(mean, judged.lost);
}

// Unbiased tables first: drawn at random, of problems that no cost was fitted to; as many at random lose 18.6 and 7.4 %
// there. The others hold problems that a cost was fitted to, in the order that it gave; at random 0.8, 0.9, 3.9, 8.9
// and 6.4 %. A recording whose variants a model chose says little about a cost, since what it is wrong about is what
// they leave out: the last one is such, and the only one with many variants of its template. Tensor cores reach the
// power cap, at which others win than in the screening; CUDA cores do not, and few of their variants race, as of the
// unbiased tables.
INSTANTIATE_TEST_SUITE_P(
    Shipped, CostModel,
    testing::Values(Judged{"gemm_wgmma", "unbiased/h200-gemm", 12, 0.03, 0.2, time_when_cool_s, 19, 1},
                    Judged{"sgemm_tma", "unbiased/h200-sgemm", 12, 0.005, 0.04, time_when_cool_s, 9},
                    Judged{"gemm_wgmma", "h200-bf16", 12, 0.004, 0.06, time_under_load_s},
                    Judged{"gemm_wgmma", "h200-tf32", 12, 0.002, 0.03, time_under_load_s},
                    Judged{"sgemm_tma", "h200-f32", 6, 0.005, 0.03, time_when_cool_s},
                    Judged{"sgemm_simt", "h200-f32", 6, 0.007, 0.05, time_when_cool_s},
                    Judged{"sgemm_small", "h100-small", 3, 0.05, 0.25, time_when_cool_s}),
    [](const auto& judged) {
      std::string name = fmt::format("{}_{}", judged.param.name, judged.param.recording);
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
      return name;
    });

}  // namespace
}  // namespace pgtune::tool
