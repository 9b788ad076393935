// SPDX-License-Identifier: MIT
#include "bench/million_bench.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::bench {
namespace {

using tool::value_or_throw;

/// Six parameters of ten values, a cost, and a launch like a GEMM's.
constexpr const char* kTemplate = R"json({
  "schema": 1, "name": "million", "description": "synthetic", "source": "million.cu", "dtypes": ["f32"],
  "parameters": [
    {"name": "BM", "values": [16, 32, 48, 64, 80, 96, 112, 128, 144, 160], "default": 64},
    {"name": "BN", "values": [16, 32, 48, 64, 80, 96, 112, 128, 144, 160], "default": 64},
    {"name": "BK", "values": [8, 16, 24, 32, 40, 48, 56, 64, 72, 80], "default": 16},
    {"name": "STAGES", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "default": 2},
    {"name": "UNROLL", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "default": 1},
    {"name": "GROUP", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "default": 1}],
  "derived": [{"name": "SMEM_BYTES", "expr": "STAGES * (BM + BN) * BK * 4"}],
  "constraints": [{"expr": "BM > 0", "reason": "a tile has rows"}],
  "cost": {"steps": [{"name": "TILES", "expr": "ceil_div(M, BM) * ceil_div(N, BN)"}],
           "clocks": "TILES * (BM * BN * K / 128 + 40 * ceil_div(K, BK) / STAGES + GROUP * UNROLL)"},
  "kernels": [{"symbol": "million", "grid": ["ceil_div(N, BN)", "ceil_div(M, BM)", "BATCH"], "block": ["256"],
               "arguments": [{"pointer": "D"}]}]})json";

/// What a step took: where other programs run, CPU time says more.
struct Lap {
  double wall_s = 0, cpu_s = 0;
  [[nodiscard]] std::string text() const { return fmt::format("{:.2f} s ({:.2f} s of CPU)", wall_s, cpu_s); }
};

class Watch {
 public:
  Lap lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    const Lap out{std::chrono::duration<double>(now - last_).count(),
                  static_cast<double>(cpu - last_cpu_) / CLOCKS_PER_SEC};
    last_ = now;
    last_cpu_ = cpu;
    return out;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::clock_t last_cpu_ = std::clock();
};

search::Predictor fitted(const space::TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device,
                         const std::vector<Variant>& variants) {
  constexpr std::size_t kRows = 2000;
  std::vector<Variant> some;
  for (std::size_t i = 0; i < kRows; ++i) some.push_back(variants[i * (variants.size() / kRows)]);
  search::Experience known{value_or_throw(session::described(definition, problem, device, some)),
                           {},
                           "one",
                           device_class(device).hardware(),
                           definition.name,
                           0};
  for (std::size_t i = 0; i < kRows; ++i) known.log_times.push_back(static_cast<double>(i * 7919 % kRows) / kRows);
  return search::PredictorTrainer({known}).fit_all(1);
}

}  // namespace

void bench_million() {
  const auto reader = [](const std::string&) -> Result<std::string> { return std::string("// no kernel"); };
  const space::TemplateDefinition definition = value_or_throw(space::parse_template(kTemplate, "million.json", reader));
  const space::TemplateSet templates(definition);
  const DeviceInfo device = architecture_info("sm_90a").value();
  const Problem problem = value_or_throw(with_default_strides(value_or_throw(parse_shape("4096x4096x4096"))));
  Watch watch;
  const auto variants = value_or_throw(space::legal_variants(templates, problem, device)).variants;
  const Lap list = watch.lap();
  const search::Predictor predictor = fitted(definition, problem, device, variants);
  watch.lap();
  const auto expected = value_or_throw(session::expected_times(predictor, templates, problem, device, variants));
  const Lap score = watch.lap();
  search::SearchSpace space{variants, {variants.size()}, {}, {}};
  space.expectation = [&] { return Result<search::Expectation>(expected); };
  const auto strategy = value_or_throw(search::make_strategy("model", space, 1));
  for (int i = 0; i < 8; ++i) static_cast<void>(strategy->next());
  const Lap propose = watch.lap();
  fmt::print("{} variants on {} cores: listed in {}, described and scored in {}, eight proposed in {}\n",
             variants.size(), std::thread::hardware_concurrency(), list.text(), score.text(), propose.text());
}

}  // namespace pgtune::bench
