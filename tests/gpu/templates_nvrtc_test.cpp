// SPDX-License-Identifier: MIT
// Every template, shipped or kept in the tests, through NVRTC: its default variant and the extremes of each parameter,
// for an Ampere and a Hopper target. Needs no GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/atomic_file.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/space/template_definition.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

// Compile time is CI time: with more extremes than this, every n-th is built.
constexpr std::size_t kMaxExtremes = 24;

struct Case {
  fs::path json_path;
  std::string architecture;
  friend void PrintTo(const Case& value, std::ostream* out) {
    *out << value.json_path.filename().string() << " " << value.architecture;
  }
};

/// Shape suites and presets live beside the templates' JSON; only templates have parameters.
bool is_template(const fs::path& path) {
  const auto text = read_file(path);
  const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  return path.extension() == ".json" && json.is_object() && json.contains("parameters");
}

std::vector<Case> all_cases() {
  std::vector<fs::path> paths;
  for (const char* folder : {"configs", "configs/preview", "tests/templates"}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(fs::path(PGTUNE_SOURCE_DIR) / folder, missing))
      if (entry.is_regular_file() && is_template(entry.path())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const fs::path& path : paths)
    for (const char* architecture : {"sm_80", "sm_90a"}) cases.push_back({path, architecture});
  return cases;
}

Result<std::string> shipped_header(const std::string& name) {
  auto text = read_file(fs::path(PGTUNE_SOURCE_DIR) / "templates" / name);
  if (!text) return fail(ErrorKind::kUsage, "no shipped header " + name);
  return std::move(*text);
}

Problem problem_of(std::string_view shape, std::string_view layout) {
  return with_default_strides(with_layout(parse_shape(shape).value(), layout).value()).value();
}

std::size_t differences(const Variant& one, const Variant& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.parameters.size(); ++i) count += one.parameters[i] == other.parameters[i] ? 0U : 1U;
  return count;
}

/// The legal variant most like the default one, among those with `fixed` where it is given.
std::optional<Variant> nearest(const std::vector<Variant>& legal, const Variant& to, const Assignment* fixed) {
  const Variant* best = nullptr;
  for (const Variant& variant : legal) {
    if (fixed != nullptr && *variant.find(fixed->name) != fixed->value) continue;
    if (best == nullptr || differences(variant, to) < differences(*best, to)) best = &variant;
  }
  return best == nullptr ? std::nullopt : std::optional<Variant>(*best);
}

/// Values worth a build of their own: the smallest and largest number, each label.
std::vector<ParameterValue> extreme_values(const space::Parameter& parameter) {
  if (!std::holds_alternative<std::int64_t>(parameter.values.front())) return parameter.values;
  const auto [low, high] = std::minmax_element(parameter.values.begin(), parameter.values.end());
  return {*low, *high};
}

std::vector<Variant> extreme_variants(const space::TemplateDefinition& definition, const std::vector<Variant>& legal) {
  std::vector<Variant> all;
  for (const space::Parameter& parameter : definition.parameters) {
    for (const ParameterValue& value : extreme_values(parameter)) {
      const Assignment fixed{parameter.name, value};
      const auto variant = nearest(legal, definition.default_variant(), &fixed);
      if (variant && std::find(all.begin(), all.end(), *variant) == all.end()) all.push_back(*variant);
    }
  }
  const std::size_t step = (all.size() + kMaxExtremes - 1) / kMaxExtremes;
  std::vector<Variant> kept;
  for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
  return kept;
}

std::string removal_summary(const space::Enumeration& enumeration) {
  std::string text;
  for (const space::Removal& removal : enumeration.removals)
    if (removal.removed > 0) text += fmt::format("; {} by '{}': {}", removal.removed, removal.rule, removal.reason);
  return text;
}

class TemplatesNvrtc : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    auto definition = space::load_template(GetParam().json_path, shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
  }

  [[nodiscard]] space::Enumeration enumerate(const Problem& problem) const {
    auto result = space::enumerate(definition_, problem, device_);
    if (result) return *std::move(result);
    ADD_FAILURE() << result.error().text();
    return {};
  }

  BuildInfo must_build(const Variant& variant, const Problem& problem) const {
    const auto defines = space::make_defines(definition_, variant, problem, device_);
    if (!defines) {
      ADD_FAILURE() << variant.key() << ": " << defines.error().text();
      return {};
    }
    const auto done = builder_.build({1, variant, definition_.source, *defines, GetParam().architecture});
    if (!done) {
      ADD_FAILURE() << variant.key() << ": " << done.error().text();
      return {};
    }
    EXPECT_EQ(done->outcome.kind, OutcomeKind::kOk)
        << problem.title() << " " << variant.key() << ": " << done->outcome.reason;
    return done->build;
  }

  const TestFolder folder_;
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit()};
  const DeviceInfo device_ = architecture_info(GetParam().architecture).value();
  space::TemplateDefinition definition_;
};

TEST_P(TemplatesNvrtc, DefaultAndExtremesCompile) {
  const Problem problem = problem_of("4096x4096x4096", "nn");
  const space::Enumeration space = enumerate(problem);
  if (space.variants.empty()) GTEST_SKIP() << "no variant is legal here" << removal_summary(space);

  const Variant usual = definition_.default_variant();
  if (std::find(space.variants.begin(), space.variants.end(), usual) != space.variants.end()) {
    const BuildInfo build = must_build(usual, problem);
    EXPECT_EQ(build.spill_bytes, 0) << usual.key();
    EXPECT_EQ(build.local_bytes, 0) << usual.key();
    EXPECT_GT(build.registers, 0);
  }
  for (const Variant& variant : extreme_variants(definition_, space.variants)) must_build(variant, problem);
}

TEST_P(TemplatesNvrtc, RaggedShapesCompileInEveryLayout) {
  bool any = false;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    const Problem problem = problem_of("127x129x131", layout);
    const auto variant = nearest(enumerate(problem).variants, definition_.default_variant(), nullptr);
    if (variant) must_build(*variant, problem);
    any = any || variant;
  }
  if (!any) GTEST_SKIP() << "no variant takes 127x129x131 in any layout";
}

INSTANTIATE_TEST_SUITE_P(All, TemplatesNvrtc, testing::ValuesIn(all_cases()), [](const auto& instance) {
  std::string name = instance.param.json_path.stem().string() + "_" + instance.param.architecture;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(TemplatesNvrtcCoverage, ThereAreTemplatesToCompile) {
  EXPECT_FALSE(all_cases().empty()) << "no template JSON in configs/ or tests/templates/";
}

}  // namespace
}  // namespace pgtune::gpu
