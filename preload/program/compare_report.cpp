// SPDX-License-Identifier: MIT
#include "preload/program/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "preload/program/serve_report.hpp"
#include "preload/program/traced_problem.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kMostShapes = 20;

double least(const std::vector<double>& times_s) { return *std::min_element(times_s.begin(), times_s.end()); }
double largest(const std::vector<double>& times_s) { return *std::max_element(times_s.begin(), times_s.end()); }

std::string wall_text(const char* what, const std::vector<double>& times_s) {
  const bool in_ms = stats::median(times_s) < 1;
  const auto text = [&](double time_s) { return in_ms ? milliseconds_text(time_s) : fmt::format("{:.3f}", time_s); };
  return fmt::format("{:<8} {} {} ({} to {}, {})\n", what, text(stats::median(times_s)), in_ms ? "ms" : "s",
                     text(least(times_s)), text(largest(times_s)), counted(times_s.size(), "run"));
}

/// One shape, with and without kernels.
struct Shape {
  double time_s = 0;                      ///< of all calls without
  std::vector<double> without_s, with_s;  ///< samples of single calls
  const char* by = "cuBLAS";              ///< whose kernels answered most calls
};

std::vector<std::pair<std::string, Shape>> shapes_of(const Compared& compared, bool tf32) {
  std::map<std::string, Shape> shapes;
  for (const RecordedGemm& gemm : compared.without.gemms) {
    Shape& shape = shapes[title_of(gemm.key, tf32)];
    shape.time_s += gemm.time_s;
    shape.without_s.insert(shape.without_s.end(), gemm.samples_s.begin(), gemm.samples_s.end());
  }
  for (const RecordedGemm& gemm : compared.with.gemms) {
    Shape& shape = shapes[title_of(gemm.key, tf32)];
    shape.with_s.insert(shape.with_s.end(), gemm.samples_s.begin(), gemm.samples_s.end());
    if (2 * gemm.served_calls > gemm.all_calls()) shape.by = gemm.is_of_family ? "a family" : "pgtune";
  }
  std::vector<std::pair<std::string, Shape>> sorted(shapes.begin(), shapes.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time_s > b.second.time_s; });
  return sorted;
}

std::string shapes_text(const Compared& compared, bool tf32) {
  TextTable table(
      {{"shape"}, {"share", Align::kRight}, {"without us", Align::kRight}, {"with us", Align::kRight}, {"by"}});
  const auto us = [](const std::vector<double>& samples_s) {
    return samples_s.empty() ? "-" : fmt::format("{:.2f}", stats::median(samples_s) * 1e6);
  };
  const double all_s = compared.without.time_s();
  const auto shapes = shapes_of(compared, tf32);
  for (std::size_t i = 0; i < std::min(shapes.size(), kMostShapes); ++i) {
    const auto& [title, shape] = shapes[i];
    table.add_row({title, all_s > 0 ? fmt::format("{:.1f} %", shape.time_s / all_s * 100) : "-", us(shape.without_s),
                   us(shape.with_s), shape.by});
  }
  std::string text = table.empty() ? "" : "\n" + table.text();
  if (shapes.size() > kMostShapes) text += fmt::format("... and {} more shapes\n", shapes.size() - kMostShapes);
  return text;
}

std::string verdict(const Compared& compared) {
  const std::vector<RecordedGemm>& gemms = compared.with.gemms;
  if (std::none_of(gemms.begin(), gemms.end(), [](const RecordedGemm& gemm) { return gemm.served_calls > 0; }))
    return "No verdict: no call was served, so that the times differ by start-up and checks alone.\n";
  const double ratio = stats::median(compared.without_s) / stats::median(compared.with_s);
  switch (gain_of(compared)) {
    case Gain::kFaster:
      return fmt::format("Faster: {:.3f} times, and every run with kernels beat every run without.\n", ratio);
    case Gain::kSlower:
      return fmt::format("Slower: {:.3f} times, and every run without kernels beat every run with them.\n", ratio);
    case Gain::kNothing:
      break;
  }
  return fmt::format("Nothing gained: {:.3f} times, within the spread of the runs.\n", ratio);
}

}  // namespace

Gain gain_of(const Compared& compared) {
  if (largest(compared.with_s) < least(compared.without_s)) return Gain::kFaster;
  return largest(compared.without_s) < least(compared.with_s) ? Gain::kSlower : Gain::kNothing;
}

std::string compare_text(const Compared& compared, bool tf32) {
  std::string text = wall_text("without", compared.without_s) + wall_text("with", compared.with_s);
  const double without_s = compared.without.time_s(),
               with_s = compared.with.time_s() / static_cast<double>(compared.with_s.size());
  if (without_s > 0 && with_s > 0)
    text += fmt::format("GEMMs    {:.3f} ms a run without, {:.3f} ms with: expected from timed calls\n",
                        without_s * 1e3, with_s * 1e3);
  text += shapes_text(compared, tf32) + "\n";
  for (const std::string& line : serve_report(compared.with, tf32)) text += line + "\n";
  return text + verdict(compared);
}

}  // namespace pgtune::tool
