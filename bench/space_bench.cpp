// SPDX-License-Identifier: MIT
#include "bench/space_bench.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/features.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::bench {
namespace {

using tool::value_or_throw;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string per_second(std::size_t count, double seconds) {
  return fmt::format("{:.0f}", static_cast<double>(count) / seconds / 1000);
}

}  // namespace

void bench_spaces() {
  tool::TextTable table({{"template"},
                         {"problem"},
                         {"grid"},
                         {"points", tool::Align::kRight},
                         {"variants", tool::Align::kRight},
                         {"count ms", tool::Align::kRight},
                         {"list ms", tool::Align::kRight},
                         {"costs k/s", tool::Align::kRight},
                         {"features k/s", tool::Align::kRight}});
  const DeviceInfo device = architecture_info("sm_90a").value();
  const tool::Catalogue catalogue;
  for (const std::string& name : catalogue.names()) {
    const space::TemplateSet preset(catalogue.load(name));
    for (const Dtype dtype : preset.definitions().front().dtypes) {
      Problem problem = value_or_throw(parse_shape("4096x4096x4096"));
      problem.dtype = dtype;
      problem.trans_b = true;
      problem = value_or_throw(with_default_strides(problem));
      for (const bool full : {false, true}) {
        const space::TemplateSet templates = full ? preset.whole_grid() : preset;
        const space::TemplateDefinition& definition = templates.definitions().front();
        if (!definition.computes(problem)) continue;
        auto start = std::chrono::steady_clock::now();
        const space::Enumeration found = value_or_throw(space::enumerate(definition, problem, device));
        const double count_s = seconds_since(start);
        start = std::chrono::steady_clock::now();
        const space::VariantList listed = value_or_throw(space::legal_variants(definition, problem, device));
        const double list_s = seconds_since(start);
        if (listed.variants != found.variants) throw std::logic_error("the walks of " + name + " differ");
        start = std::chrono::steady_clock::now();
        double sum = 0;  // used, so that nothing is left out
        for (const auto& cost : value_or_throw(space::cost_clocks(definition, found.variants, problem, device)))
          sum += cost.value_or(0);
        const double cost_s = seconds_since(start);
        start = std::chrono::steady_clock::now();
        const space::Features features(definition, problem, device);
        for (const float value : value_or_throw(features.of(found.variants)).features) sum += value;
        const double features_s = seconds_since(start);
        table.add_row({name, std::string(to_string(dtype)), full ? "full" : "preset", fmt::format("{}", found.space),
                       std::to_string(found.variants.size()), fmt::format("{:.1f}", 1e3 * count_s),
                       fmt::format("{:.1f}", 1e3 * list_s), per_second(found.variants.size(), cost_s),
                       per_second(found.variants.size(), features_s)});
        if (sum < 0) throw std::logic_error("costs and features are not negative here");
      }
    }
  }
  fmt::print("{}", table.text());
}

}  // namespace pgtune::bench
