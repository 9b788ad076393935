// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/family_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/json.hpp"
#include "tuner/session/family/classes.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

std::string microseconds(double seconds) { return four_digits(seconds * 1e6); }

/// The baseline's time over the family's: mean and least over the probes. Nothing without a baseline.
struct Ratio {
  double mean = 0, least = 0;
};
std::optional<Ratio> ratio_to(const Family& family, double FamilyProbe::*baseline_s) {
  Ratio out;
  for (const FamilyProbe& probe : family.probes) {
    if (probe.*baseline_s <= 0) return std::nullopt;
    const double ratio = probe.*baseline_s / probe.family_s;
    out.least = out.mean == 0 ? ratio : std::min(out.least, ratio);
    out.mean += ratio;
  }
  if (family.probes.empty()) return std::nullopt;
  out.mean /= static_cast<double>(family.probes.size());
  return out;
}

std::string kernel_name(int index) { return fmt::format("k{}", index + 1); }

std::string interval_table(const Family& family) {
  TextTable table({{"M", Align::kRight},
                   {"kernel"},
                   {"spare"},
                   {"us at last M", Align::kRight},
                   {"TFLOP/s", Align::kRight},
                   {"time is"}});
  std::int64_t first = family.first_m;
  for (const FamilyInterval& interval : family.intervals) {
    table.add_row({first == interval.last_m ? fmt::format("{}", first) : fmt::format("{}..{}", first, interval.last_m),
                   kernel_name(interval.kernel), interval.spare ? kernel_name(*interval.spare) : "-",
                   microseconds(interval.time_s), speed_text(family.at(interval.last_m), interval.time_s),
                   std::string(to_string(interval.basis))});
    first = interval.last_m + 1;
  }
  return table.text(kTextWidth, 2);
}

/// The parameters in which kernels of the template differ; all of a template with one kernel.
std::set<std::string> telling_parameters(const Family& family, const std::string& template_name) {
  std::map<std::string, std::set<std::string>> values;
  std::size_t kernels = 0;
  for (const FamilyKernel& kernel : family.kernels) {
    if (kernel.variant.template_name != template_name) continue;
    ++kernels;
    for (const Assignment& own : kernel.variant.parameters) values[own.name].insert(to_string(own.value));
  }
  std::set<std::string> names;
  for (const auto& [name, different] : values) {
    if (kernels == 1 || different.size() > 1) names.insert(name);
  }
  return names;
}

std::string probe_table(const Family& family) {
  TextTable table({{"probe M", Align::kRight},
                   {"family us", Align::kRight},
                   {"searched us", Align::kRight},
                   {"loss %", Align::kRight},
                   {"cuBLASLt first", Align::kRight},
                   {"best us", Align::kRight}});
  for (const FamilyProbe& probe : family.probes) {
    table.add_row({fmt::format("{}", probe.m), microseconds(probe.family_s), microseconds(probe.best_s),
                   fmt::format("{:.1f}", 100 * probe.loss()), microseconds(probe.baseline_first_s),
                   microseconds(probe.baseline_best_s)});
  }
  return table.text(kTextWidth, 2);
}

/// Of a family of one order.
std::string rows_text(const Family& family) {
  const std::int64_t all = family.last_m() - family.first_m + 1;
  if (family.compared_m == 0) return "not compared on the GPU";
  if (family.compared_m == all) return fmt::format("equal bit for bit at all {} M", all);
  return fmt::format(
      "equal bit for bit at {} of {} M: all up to {}, beside the ends of intervals, and drawn ones, for "
      "all would take more than {:.0f} s",
      family.compared_m, all, session::kFirstCompared, session::kComparing_s);
}

std::string loss_facts(const Family& family) {
  const auto loss = family.loss();
  if (!loss) return fact("loss", "not measured: no probes");
  std::string out =
      fact("loss", fmt::format("median {:.1f} %, largest {:.1f} % against a search of that M alone; with 95 % "
                               "confidence at most {:.0f} % of all M lose more than the largest",
                               100 * loss->median, 100 * loss->largest,
                               100 * FamilyLoss::unproven_share(family.probes.size())));
  const auto first = ratio_to(family, &FamilyProbe::baseline_first_s);
  const auto best = ratio_to(family, &FamilyProbe::baseline_best_s);
  if (first && best)
    out += fact("speed", fmt::format("{:.3f} times cuBLASLt's first choice (mean; least {:.3f}), {:.3f} times its best "
                                     "(least {:.3f})",
                                     first->mean, first->least, best->mean, best->least));
  return out;
}

nlohmann::json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"mean", ratio->mean}, {"least", ratio->least}};
}

}  // namespace

std::string family_text(const Family& family, const DeviceInfo& device) {
  std::string out = fmt::format("{} on {}: {} kernels in {} intervals\n\n", family.title(), device.name,
                                family.kernels.size(), family.intervals.size());
  out += interval_table(family) + "\n";
  if (!family.probes.empty()) out += probe_table(family) + "\n";
  if (!family.sum_order.empty()) out += fact("order", family.sum_order) + fact("rows", rows_text(family));
  return out + loss_facts(family);
}

std::string family_kernels_text(const Family& family) {
  std::string out;
  for (std::size_t i = 0; i < family.kernels.size(); ++i) {
    const Variant& variant = family.kernels[i].variant;
    const std::set<std::string> telling = telling_parameters(family, variant.template_name);
    std::vector<std::string> words;
    for (const Assignment& own : variant.parameters) {
      if (telling.contains(own.name)) words.push_back(fmt::format("{}={}", own.name, to_string(own.value)));
    }
    out += fact(kernel_name(static_cast<int>(i)).c_str(),
                fmt::format("{} {}", variant.template_name, fmt::join(words, ",")));
  }
  return out;
}

nlohmann::json family_json(const Family& family, const DeviceInfo& device) {
  nlohmann::json loss = nullptr;
  if (const auto known = family.loss()) {
    loss = *known;
    loss["unproven_share"] = FamilyLoss::unproven_share(family.probes.size());
  }
  return {{"schema", kJsonSchema},
          {"family", family},
          {"device", device},
          {"loss", std::move(loss)},
          {"baseline_first", ratio_json(ratio_to(family, &FamilyProbe::baseline_first_s))},
          {"baseline_best", ratio_json(ratio_to(family, &FamilyProbe::baseline_best_s))}};
}

std::string expected_text(const session::ExpectedFamily& expected, std::size_t probes) {
  std::string text =
      fmt::format("about {} in all: {} for the kernels", duration_text(expected.kernels_s + expected.probes_s),
                  duration_text(expected.kernels_s));
  if (probes > 0) text += fmt::format(", {} for {}", duration_text(expected.probes_s), counted(probes, "probe"));
  return text;
}

std::string family_plan_text(const session::FamilyRequest& request,
                             const std::optional<session::ExpectedFamily>& expected) {
  if (!expected) return request.title() + '\n' + fact("time", "none, for the database has it; --force measures again");
  const std::int64_t first = request.first_m, last = request.problem.m;
  return request.title() + '\n' +
         fact("anchors", fmt::format("M of {}: {} variants each", fmt::join(session::anchors(first, last), ", "),
                                     session::kExplored)) +
         fact("classes", fmt::format("at least {}: in each the best few are timed at its largest M",
                                     session::class_grid(first, last).size())) +
         fact("kernels", fmt::format("at most {}", request.kernels)) +
         fact("time", expected_text(*expected, request.probes));
}

nlohmann::json family_plan_json(const session::FamilyRequest& request,
                                const std::optional<session::ExpectedFamily>& expected) {
  const auto [kernels_s, probes_s] = expected.value_or(session::ExpectedFamily());
  const std::int64_t first = request.first_m, last = request.problem.m;
  nlohmann::json out{{"schema", kJsonSchema},      {"dry_run", true},
                     {"problem", request.problem}, {"first_m", first},
                     {"kernels", request.kernels}, {"probes", request.probes},
                     {"stored", !expected},        {"expected_s", {{"kernels", kernels_s}, {"probes", probes_s}}}};
  if (expected)
    out.update({{"anchors", session::anchors(first, last)}, {"class_grid", session::class_grid(first, last)}});
  return out;
}

}  // namespace pgtune::tool
