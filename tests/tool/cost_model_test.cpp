// SPDX-License-Identifier: MIT
// A template's cost model against what was measured: of each recorded problem the variants it puts first hold a good
// one.
#include <gmock/gmock.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "db/queries.hpp"
#include "tool/pgtune/catalogue.hpp"
#include "tool/pgtune/recording_loader.hpp"
#include "tool/pgtune/row_conversion.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"

namespace pgtune::tool {
namespace {

/// Cost and screening time of the variants that were right.
std::vector<std::pair<double, double>> measured(const space::TemplateDefinition& definition, const Problem& problem,
                                                const device::Recording& recording) {
  std::vector<std::pair<double, double>> out;
  for (const auto& [id, recorded] : recording.problems.front().variants) {
    if (recorded.trial.outcome.kind != OutcomeKind::kOk) continue;
    const auto variant = space::parse_variant(definition, id.substr(id.find('/') + 1));
    EXPECT_TRUE(variant) << id;
    const auto cost = space::cost_clocks(definition, *variant, problem, recording.device);
    EXPECT_TRUE(cost) << cost.error().text();
    double fastest_s = 1e9;
    for (const Block& block : recorded.trial.blocks)
      fastest_s = std::min(fastest_s, block.time_s / static_cast<double>(block.launches));
    out.emplace_back(**cost, fastest_s);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

struct Judged {
  const char* name;
  const char* suite;       ///< recordings/h200-SUITE.db, and h200-SUITE-2.db where two GPUs shared it
  std::size_t tried;       ///< the cheapest by cost
  double lost, most_lost;  ///< by the best of these against the best of all, as a fraction: on average and of a problem
};

/// What was lost on each problem of a recording of which more were tried.
std::vector<double> losses(const Judged& judged, const std::string& file) {
  const space::TemplateDefinition definition = Catalogue().load(judged.name);
  const std::string path = std::string(PGTUNE_SOURCE_DIR "/recordings/") + file;
  if (!std::filesystem::exists(path)) return {};
  const std::vector<db::Database> recordings = open_recordings(path);
  std::vector<double> out;
  for (const db::SessionRow& session : db::list_sessions(recordings.front())) {
    const Problem wanted = problem(*db::find_problem(recordings.front(), session.problem_key));
    const auto variants = measured(definition, wanted, load_recording(recordings, definition, wanted));
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
  std::vector<double> lost = losses(judged, fmt::format("h200-{}.db", judged.suite));
  const std::vector<double> more = losses(judged, fmt::format("h200-{}-2.db", judged.suite));
  lost.insert(lost.end(), more.begin(), more.end());
  ASSERT_GE(lost.size(), 30U);
  const double mean = std::accumulate(lost.begin(), lost.end(), 0.0) / static_cast<double>(lost.size());
  fmt::print("{} in {}: {:.2f} % lost on average over {} problems\n", judged.name, judged.suite, 100 * mean,
             lost.size());
  EXPECT_LT(mean, judged.lost);
}

// As many at random lose 1.2, 1.3, 0.6, 3.4 and 9.2 % on average. What e4m3 loses most is 512x512x64 in a batch, half a
// k-block, of which a seed is the best.
INSTANTIATE_TEST_SUITE_P(
    Shipped, CostModel,
    testing::Values(Judged{"gemm_wgmma", "bf16", 12, 0.004, 0.06}, Judged{"gemm_wgmma", "tf32", 12, 0.003, 0.06},
                    Judged{"gemm_wgmma", "e4m3", 12, 0.003, 0.09}, Judged{"sgemm_tma", "f32", 6, 0.005, 0.03},
                    Judged{"sgemm_simt", "f32", 6, 0.007, 0.05}),
    [](const auto& judged) { return fmt::format("{}_{}", judged.param.name, judged.param.suite); });

}  // namespace
}  // namespace pgtune::tool
