// SPDX-License-Identifier: MIT
// Every template, shipped or kept in the tests, through NVRTC: its default variant and the extremes of each parameter,
// for an Ampere and a Hopper target. Needs no GPU.
#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/template_definition.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

// Compile time is CI time: with more extremes than this, every n-th is built. Fewer where the same are also built for
// another target.
constexpr std::size_t kMaxExtremes = 24, kMaxExtremesOfTwo = 8, kMaxExtremesAgain = 4;
constexpr std::size_t kMaxTeachingExtremes = 3;
constexpr const char* kOldest = "sm_80";

/// Templates that no search takes unless they are named: a few variants, for one target.
bool for_teaching(const fs::path& json_path) { return json_path.parent_path().filename() == "teaching"; }

struct Case {
  fs::path json_path;
  std::string architecture;
  friend void PrintTo(const Case& value, std::ostream* out) {
    *out << value.json_path.filename().string() << " " << value.architecture;
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const fs::path& path : template_files()) {
    if (!for_teaching(path)) cases.push_back({path, kOldest});
    cases.push_back({path, "sm_90a"});
  }
  return cases;
}

/// Templates that compute on tensor cores, and so in more dtypes on Ada than on the oldest architecture.
std::vector<Case> cases_between() {
  std::vector<Case> cases;
  for (const fs::path& path : template_files()) {
    const auto definition = space::load_template(path, shipped_header);
    const auto& dtypes = definition ? definition->dtypes : std::vector<Dtype>{};
    if (for_teaching(path) || std::find(dtypes.begin(), dtypes.end(), Dtype::kTf32) == dtypes.end()) continue;
    cases.push_back({path, "sm_89"});
  }
  return cases;
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
    definition_.preset.clear();  // what is legal, not only what a search tries
  }

  [[nodiscard]] std::vector<Variant> legal(const Problem& problem) const { return legal(problem, device_); }
  [[nodiscard]] std::vector<Variant> legal(const Problem& problem, const DeviceInfo& device) const {
    auto list = space::legal_variants(definition_, problem, device);
    if (list) return std::move(list->variants);
    ADD_FAILURE() << list.error().text();
    return {};
  }

  /// A problem and what is legal for it.
  struct Legal {
    Problem problem;
    std::vector<Variant> variants;
  };

  /// The first of the shapes for which anything is legal, or the last one: a template may be for D of few rows.
  [[nodiscard]] Legal first_legal(std::initializer_list<const char*> shapes, const char* layout,
                                  const Problem& types) const {
    Legal found;
    for (const char* shape : shapes) {
      found.problem = with_types(problem_of(shape, layout), types);
      found.variants = legal(found.problem);
      if (!found.variants.empty()) break;
    }
    return found;
  }
  [[nodiscard]] Legal large(const char* layout, const Problem& types) const {
    return first_legal({"4096x4096x4096", "4x4096x4096"}, layout, types);
  }
  [[nodiscard]] Legal ragged(const char* layout, const Problem& types) const {
    return first_legal({"127x129x131", "3x129x131"}, layout, types);
  }
  /// Of these variants the one that is most like the default.
  [[nodiscard]] std::optional<Variant> usual_of(const std::vector<Variant>& variants) const {
    return nearest(variants, definition_.default_variant(), nullptr);
  }

  /// Newer targets have every instruction of the oldest: what is built for that one is built for that one alone.
  [[nodiscard]] bool is_built_for_oldest(const Variant& variant, const Problem& problem) const {
    if (GetParam().architecture == kOldest || for_teaching(GetParam().json_path)) return false;
    const auto illegal = space::why_illegal(definition_, variant, problem, architecture_info(kOldest).value());
    return illegal && !*illegal;
  }
  /// Of these variants the one that is most like the default, unless it is built for the oldest target.
  void build_usual(const std::vector<Variant>& variants, const Problem& problem) const {
    const auto variant = usual_of(variants);
    if (variant && !is_built_for_oldest(*variant, problem)) must_build(*variant, problem);
  }

  [[nodiscard]] std::size_t max_extremes(const Problem& problem) const {
    if (for_teaching(GetParam().json_path)) return kMaxTeachingExtremes;
    if (GetParam().architecture == kOldest) return kMaxExtremesAgain;
    return legal(problem, architecture_info(kOldest).value()).empty() ? kMaxExtremes : kMaxExtremesOfTwo;
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
  const Builder builder_{shared_cubins(folder_), find_toolkit().value()};
  const DeviceInfo device_ = architecture_info(GetParam().architecture).value();
  space::TemplateDefinition definition_;
};

TEST_P(TemplatesNvrtc, DefaultAndExtremesCompile) {
  const auto [problem, variants] = large("nn", types_of(definition_).at(0));
  // Counts what each rule removes, and so looks at every expression.
  const auto space = space::enumerate(definition_, problem, device_);
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_EQ(space->variants, variants);
  if (variants.empty()) GTEST_SKIP() << "no variant is legal here" << removal_summary(*space);

  const Variant usual = definition_.default_variant();
  if (std::find(variants.begin(), variants.end(), usual) != variants.end()) {
    const BuildInfo build = must_build(usual, problem);
    EXPECT_EQ(build.spill_bytes, 0) << usual.key();
    EXPECT_EQ(build.local_bytes, 0) << usual.key();
    EXPECT_GT(build.registers, 0);
  }
  for (const Variant& variant : extreme_variants(definition_, variants, max_extremes(problem)))
    must_build(variant, problem);
}

TEST_P(TemplatesNvrtc, WhatIsLegalOnlyWithBetaCompiles) {
  auto [problem, without_beta] = large("nn", types_of(definition_).at(0));
  std::set<std::string> without;
  for (const Variant& variant : without_beta) without.insert(variant.key());
  problem.beta = 1;
  std::vector<Variant> with = legal(problem);
  if (with.size() == without.size()) GTEST_SKIP() << "the same variants are legal without a beta";
  std::erase_if(with, [&](const Variant& variant) { return without.count(variant.key()) != 0; });
  for (const Variant& variant : extreme_variants(definition_, with, kMaxExtremesAgain)) must_build(variant, problem);
}

TEST_P(TemplatesNvrtc, BatchesBeyondAGridsYCompile) {
  Problem problem = with_types(problem_of("9x37x20", "nt"), types_of(definition_).at(0));
  problem.batch = 65543;
  build_usual(legal(problem), problem);
}

TEST_P(TemplatesNvrtc, EveryDtypeAndOutputCompiles) {
  for (const Problem& types : types_of(definition_)) {
    const auto [problem, variants] = large("nt", types);
    build_usual(variants, problem);
  }
}

/// The machine code of a kernel, from its section of the ELF file.
std::string machine_code(const std::string& cubin_path, const std::string& symbol) {
  const auto elf = read_file(cubin_path);
  Elf64_Ehdr header;
  if (!elf || elf->size() < sizeof header) return {};
  std::memcpy(&header, elf->data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), elf->data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    const char* const name = elf->data() + sections[header.e_shstrndx].sh_offset + section.sh_name;
    if (name == ".text." + symbol) return elf->substr(section.sh_offset, section.sh_size);
  }
  return {};
}

/// The first kernel whose machine code is not that which it has in a module of all kernels; empty: none.
std::string kernel_that_differs(const Builder& builder, const protocol::BuildRequest& request) {
  protocol::BuildRequest of_all = request;
  of_all.modules.clear();
  const auto apart = builder.build(request), whole = builder.build(of_all);
  if (!apart || !whole || apart->outcome.kind != OutcomeKind::kOk || whole->outcome.kind != OutcomeKind::kOk)
    return "which is not built";
  for (const KernelCall& call : request.calls) {
    const auto place = std::find_if(request.modules.begin(), request.modules.end(),
                                    [&](const KernelModule& module) { return module.symbol == call.symbol; });
    const std::string& path =
        place == request.modules.end()
            ? apart->build.cubin_path
            : apart->build.modules.at(static_cast<std::size_t>(place - request.modules.begin())).cubin_path;
    const std::string code = machine_code(path, call.symbol);
    if (code.empty() || code != machine_code(whole->build.cubin_path, call.symbol)) return call.symbol;
  }
  return {};
}

TEST_P(TemplatesNvrtc, KernelsInModulesOfTheirOwnAreWhatTheyAreInTheWhole) {
  std::set<std::string> seen;
  for (const Problem& types : types_of(definition_)) {
    for (const char* layout : {"nn", "tt"}) {
      const auto [problem, variants] = ragged(layout, types);
      const auto add = [&, &problem = problem](const Variant& variant) {
        const auto plan = space::make_launch_plan(definition_, variant, problem, device_);
        const auto defines = space::make_defines(definition_, variant, problem, device_);
        ASSERT_TRUE(plan && defines) << variant.key();
        protocol::BuildRequest request{1, variant, definition_.source, *defines, GetParam().architecture};
        request.calls = kernel_calls(*plan);
        request.modules = space::separate_modules(definition_, request.calls, *defines);
        std::string what;
        for (const KernelModule& module : request.modules) {
          what += module.symbol;
          for (const Define& define : module.defines) what += " " + define.name + "=" + define.value;
        }
        if (what.empty() || !seen.insert(what).second) return;
        // NVRTC sometimes gives the same source another order of instructions. A define that is missing shows each
        // time.
        constexpr int kBuilds = 4;
        std::string differing = kernel_that_differs(builder_, request);
        for (int build = 1; build < kBuilds && !differing.empty(); ++build) {
          const TestFolder own;
          const Builder again{CubinCache::open(own.path()).value(), builder_.toolkit()};
          differing = kernel_that_differs(again, request);
        }
        EXPECT_EQ(differing, "") << variant.key() << ": it reads a define that its module does not have";
      };
      for (const Variant& variant : extreme_variants(definition_, variants, kMaxExtremes)) add(variant);
    }
  }
  if (seen.empty()) GTEST_SKIP() << "no variant is legal here, or all are of one kernel";
  for (const space::KernelSpec& kernel : definition_.kernels) {
    const auto has_symbol = [&](const std::string& what) { return what.find(kernel.symbol) != std::string::npos; };
    EXPECT_TRUE(!kernel.module || std::any_of(seen.begin(), seen.end(), has_symbol)) << kernel.symbol;
  }
}

TEST_P(TemplatesNvrtc, EveryEpilogueCompiles) {
  Problem problem = large("nt", types_of(definition_).at(0)).problem;
  for (const Epilogue& epilogue : epilogues_of(definition_)) {
    problem.epilogue = epilogue;
    const auto variant = usual_of(legal(problem));
    if (!variant || is_built_for_oldest(*variant, problem)) continue;
    EXPECT_EQ(must_build(*variant, problem).spill_bytes, 0) << to_string(epilogue);
  }
}

TEST_P(TemplatesNvrtc, RaggedShapesCompileInEveryLayout) {
  bool any = false;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    const auto [problem, variants] = ragged(layout, types_of(definition_).at(0));
    build_usual(variants, problem);
    any = any || !variants.empty();
  }
  if (!any) GTEST_SKIP() << "no variant takes ragged shapes in any layout";
  // Of all types, those of one byte have most to do where neither operand lies along K; they come last.
  const auto [last, variants] = ragged("tn", types_of(definition_).back());
  if (element_bytes(last.dtype) == 1) build_usual(variants, last);
}

std::string case_name(const testing::TestParamInfo<Case>& instance) {
  std::string name = instance.param.json_path.stem().string() + "_" + instance.param.architecture;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, TemplatesNvrtc, testing::ValuesIn(all_cases()), case_name);

// The architecture between that has more dtypes than the oldest.
class BetweenNvrtc : public TemplatesNvrtc {};

TEST_P(BetweenNvrtc, EveryDtypeCompiles) {
  for (const Problem& types : types_of(definition_)) {
    if (types.type_of_c() != output_types(types.dtype).front()) continue;
    const auto [problem, variants] = large("nn", types);
    build_usual(variants, problem);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BetweenNvrtc, testing::ValuesIn(cases_between()), case_name);

// Users of what needs no Hopper have these. What differs between them is how much shared memory there is and what the
// tensor cores multiply at once.
std::vector<Case> portable_cases() {
  std::vector<Case> cases;
  for (const char* name : {"gemm_mma", "sgemm_simt"})
    for (const char* architecture : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
      cases.push_back({fs::path(PGTUNE_SOURCE_DIR) / "configs" / (std::string(name) + ".json"), architecture});
  return cases;
}

class PortableNvrtc : public TemplatesNvrtc {
 protected:
  struct Planned {
    Variant variant;
    KernelLaunch launch;
  };

  /// Of every kStep-th legal variant the one whose kernel takes most dynamic shared memory.
  [[nodiscard]] std::optional<Planned> largest(const Problem& problem, const std::vector<Variant>& legal) const {
    constexpr std::size_t kStep = 61;  // no multiple of how many values a parameter has
    std::optional<Planned> found;
    for (std::size_t i = 0; i < legal.size(); i += kStep) {
      auto plan = space::make_launch_plan(definition_, legal[i], problem, device_);
      if (!plan) {
        ADD_FAILURE() << legal[i].key() << ": " << plan.error().text();
        continue;
      }
      const KernelLaunch& launch = plan->kernels.back();
      if (!found || launch.dynamic_smem_bytes > found->launch.dynamic_smem_bytes) found = {legal[i], launch};
    }
    return found;
  }
};

TEST_P(PortableNvrtc, TheLargestLegalVariantsFitTheDevice) {
  bool any = false;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kE4m3}) {
    Problem types;
    types.dtype = dtype;
    types = with_types(problem_of("4096x4096x4096", "nt"), types);
    if (!definition_.computes(types)) continue;
    const std::vector<Variant> variants = legal(types);
    EXPECT_EQ(variants.empty(), dtype == Dtype::kE4m3 && device_.arch_number() < 89) << to_string(dtype);
    const auto found = largest(types, variants);
    if (!found) continue;
    any = true;
    const BuildInfo build = must_build(found->variant, types);
    EXPECT_LE(build.static_smem_bytes + found->launch.dynamic_smem_bytes, device_.smem_per_block_bytes)
        << found->variant.key();
    EXPECT_GT(4 * found->launch.dynamic_smem_bytes, device_.smem_per_block_bytes)
        << "hardly the largest: " << found->variant.key();
    EXPECT_LE(build.registers * found->launch.block.count(), device_.registers_per_sm) << found->variant.key();
  }
  EXPECT_TRUE(any);
}

INSTANTIATE_TEST_SUITE_P(All, PortableNvrtc, testing::ValuesIn(portable_cases()), case_name);

TEST(TemplatesNvrtcCoverage, ThereAreTemplatesToCompile) {
  EXPECT_FALSE(all_cases().empty()) << "no template JSON in configs/ or tests/templates/";
}

}  // namespace
}  // namespace pgtune::gpu
