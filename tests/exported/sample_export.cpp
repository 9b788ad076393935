// SPDX-License-Identifier: MIT
#include "tests/exported/sample_export.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "tests/template/sample_template.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tuner/model/json.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool::test {
namespace {

/// Each byte in each place of a word of four, the last of which is not whole.
std::string sample_image(std::size_t number) {
  std::string out;
  for (std::size_t i = 0; i < 1022; ++i) out += static_cast<char>(i / 4 * (2 * (i % 4) + 1) + number);
  return out;
}

std::size_t number_of_template(CallableHeader& content, const space::TemplateDefinition& definition) {
  for (std::size_t i = 0; i < content.templates.size(); ++i) {
    if (content.templates[i].name == definition.name && content.templates[i].operation == definition.operation)
      return i;
  }
  content.templates.push_back(definition);
  return content.templates.size() - 1;
}

/// One untuned problem, with the variant of another.
void add_guess(CallableHeader& content) {
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    const ExportedVariant& variant = content.variants[content.entries[i].variant];
    const space::TemplateDefinition definition = content.templates[variant.template_number];
    Problem problem = content.entries[i].problem;
    problem.m *= 5;
    const bool tuned = std::any_of(content.entries.begin(), content.entries.end(),
                                   [&](const ExportedEntry& entry) { return entry.problem == problem; });
    if (tuned || problem.layout().front() != 'n') continue;  // a transposed A's leading dimension follows from M
    const auto reason = space::why_illegal(definition, variant.variant, problem, sample_device());
    if (!reason || *reason) continue;
    add_sample(content, definition, Variant(variant.variant), problem);
    ExportedEntry& guess = content.entries.back();
    guess.time_s = guess.tflops = guess.ratio = guess.ratio_low = guess.ratio_high = 0;
    guess.guessed_loss = 0.025;
    guess.origin = "a sample of a guess";
    return;
  }
}

/// Two problems of a template that counts on more alignment than those that ship: of them one adds C.
void add_aligned(CallableHeader& content) {
  const space::TemplateDefinition definition = space::testing::parse_or_die(nlohmann::json::parse(R"json({
    "schema": 1, "name": "aligned", "description": "for tests", "source": "../templates/sample.cu", "dtypes": ["f32"],
    "parameters": [{"name": "THREADS", "values": [32], "default": 32, "description": "of a CTA"}],
    "legality": [{"expr": "ALIGN_A >= 64 && ALIGN_B >= 64 && ALIGN_C >= 64", "reason": "rows are not aligned"}],
    "kernels": [{"symbol": "aligned", "grid": ["1"], "block": ["THREADS"],
      "arguments": [{"pointer": "A"}, {"pointer": "B"}, {"pointer": "C"}, {"pointer": "D"}]}]
  })json"));
  for (const double beta : {0.0, 0.5}) {
    Problem problem = with_default_strides(*parse_shape("64x1280x64")).value();
    problem.beta = beta;
    add_sample(content, definition, {"aligned", {{"THREADS", std::int64_t{32}}}}, problem);
  }
}

/// Two problems of int8, one of which adds C.
void add_integers(CallableHeader& content) {
  const space::TemplateDefinition definition = Catalogue().load("gemm_mma");
  for (const double beta : {0.0, 1.0}) {
    Problem problem = with_layout(*parse_shape("512x768x1024"), "nt").value();
    problem.dtype = Dtype::kInt8;
    problem.beta = beta;
    add_sample(content, definition, definition.default_variant(), with_default_strides(problem).value());
  }
}

}  // namespace

bool have(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

DeviceInfo sample_device() {
  DeviceInfo device;
  device.name = "NVIDIA H200";
  device.architecture = "sm_90a";
  device.compute_major = 9;
  device.sm_count = 132;
  device.memory_bytes = 150'121'545'728;
  device.power_limit_w = 700;
  device.smem_per_block_bytes = 232448;
  device.smem_per_sm_bytes = 233472;
  device.registers_per_sm = 65536;
  device.threads_per_sm = 2048;
  device.l2_bytes = 52428800;
  return device;
}

std::size_t add_sample_variant(CallableHeader& content, const space::TemplateDefinition& definition,
                               const Variant& variant, const Problem& problem, space::Edges edges) {
  const std::size_t number = number_of_template(content, definition);
  const std::vector<Define> defines = space::make_defines(definition, variant, problem, sample_device(), edges).value();
  const std::vector<std::int64_t> built = built_values(definition, defines);
  const auto same = std::find_if(content.variants.begin(), content.variants.end(), [&](const ExportedVariant& other) {
    return other.template_number == number && other.variant == variant && other.built == built &&
           other.problem.is_of_kind(problem);
  });
  const auto index = static_cast<std::size_t>(same - content.variants.begin());
  if (same == content.variants.end()) {
    content.images.push_back({sample_image(content.images.size()), number, sample_device()});
    content.variants.push_back({number, content.images.size() - 1, variant, problem, built});
    if (definition.sum_order)
      content.variants.back().sum_order = space::sum_order(definition, variant, problem, sample_device()).value();
  }
  return index;
}

void add_sample(CallableHeader& content, const space::TemplateDefinition& definition, const Variant& variant,
                const Problem& problem) {
  const std::size_t index = add_sample_variant(content, definition, variant, problem);
  content.entries.push_back({problem, index, 0, 1e-5, 100, 1.1, 1.05, 1.15, {}, "a sample"});
}

void add_families(CallableHeader& content) {
  const Catalogue catalogue;
  const space::TemplateDefinition wgmma = catalogue.load("gemm_wgmma"), simt = catalogue.load("sgemm_simt");
  const auto add = [&](Problem problem, std::int64_t first_m, const std::string& order,
                       const std::vector<double>& losses, std::vector<ExportedFamily::Interval> intervals) {
    ExportedFamily& out = content.families.emplace_back();
    out.family.problem = std::move(problem);
    out.family.first_m = first_m;
    out.family.sum_order = order;
    for (const double loss : losses) {
      FamilyProbe& probe = out.family.probes.emplace_back();
      probe.family_s = 1 + loss, probe.best_s = 1;
    }
    out.intervals = std::move(intervals);
    out.origin = "a sample of a family";
  };
  Problem problem = with_layout(*parse_shape("512x1536x768"), "nt").value();
  problem.dtype = Dtype::kBf16;
  problem = with_default_strides(problem).value();
  const auto variant = [&](const char* text) {
    return add_sample_variant(content, wgmma, space::parse_variant(wgmma, text).value(), problem);
  };
  const std::size_t swapped = variant("SWAP_AB=1,BM=64,BN=64,WARPGROUPS_M=1,STAGES=12");
  const std::size_t split = variant("BM=64,BN=64,WARPGROUPS_M=1,STAGES=12,DECOMPOSITION=stream_k");
  const std::size_t plain = variant("BM=128,BN=128,STAGES=6");
  add(problem, 2, "", {0.004, 0.012, 0.025}, {{32, swapped}, {256, plain}, {448, split, plain}, {512, plain}});
  problem.m = 1024;
  add(problem, 1, "plain", {0.08}, {{16, swapped}, {1024, plain}});
  const space::TemplateDefinition mma = catalogue.load("gemm_mma");
  Problem of_mma = with_layout(*parse_shape("512x1536x1024"), "nt").value();
  of_mma.dtype = Dtype::kBf16;
  of_mma = with_default_strides(of_mma).value();
  add(of_mma, 1, "", {0.01},
      {{512, add_sample_variant(content, mma, mma.default_variant(), of_mma, space::Edges::kAlways)}});
  const auto of_aligned = [](const ExportedVariant& one) { return one.variant.template_name == "aligned"; };
  const auto found = std::find_if(content.variants.begin(), content.variants.end(), of_aligned);
  if (found == content.variants.end()) return;
  const auto aligned = static_cast<std::size_t>(found - content.variants.begin());
  Problem of_f32 = with_default_strides(*parse_shape("96x1280x64")).value();
  const std::size_t spare = add_sample_variant(content, simt, simt.default_variant(), of_f32);
  add(of_f32, 1, "", {}, {{64, aligned, spare}, {96, spare}});
  of_f32.k = of_f32.lda = 128;
  add(of_f32, 1, "", {0.01}, {{64, aligned, spare}, {96, spare}});
}

CallableHeader sample_header(const std::string& name_space) {
  CallableHeader content;
  content.name_space = name_space;
  content.file_name = name_space + ".hpp";
  content.pgtune_version = "test";
  content.nvrtc_version = "13.0";
  content.least_driver = 13000;
  content.device_classes = {sample_device()};
  return content;
}

CallableHeader sample_export(std::size_t limit) {
  CallableHeader content = sample_header("best_gemm");
  const Catalogue catalogue;
  std::vector<db::BestRow> rows;
  for (const db::Database& database : open_recordings("")) {
    for (db::BestRow& row : db::list_best(database, {})) rows.push_back(std::move(row));
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [](const db::BestRow& row) { return row.device_name == sample_device().name; });
  for (const db::BestRow& row : rows) {
    if (limit != 0 && content.entries.size() == limit) break;
    const auto problem = db::record_of<Problem>(row.problem_json, "a recording's problem");
    if (problem.operation) continue;  // sample_operations.hpp has some
    const space::TemplateDefinition definition = catalogue.load(row.variant_origin.name);
    const auto variant = space::recorded_variant(definition, row.variant_key);
    const bool known = std::any_of(content.entries.begin(), content.entries.end(),
                                   [&](const ExportedEntry& entry) { return entry.problem == problem; });
    if (known || !variant) continue;
    const auto reason = space::why_illegal(definition, *variant, problem, sample_device());
    if (reason && !*reason) add_sample(content, definition, *variant, problem);
  }
  if (limit == 0) {
    add_guess(content);
    add_aligned(content);
    add_integers(content);
    add_families(content);
  }
  std::vector<Dtype> dtypes;
  for (const ExportedEntry& entry : content.entries) dtypes.push_back(entry.problem.dtype);
  std::sort(dtypes.begin(), dtypes.end());
  dtypes.erase(std::unique(dtypes.begin(), dtypes.end()), dtypes.end());
  for (const Dtype dtype : dtypes)
    content.losses.push_back({dtype, true, 1.5, 20, 12, dtype == Dtype::kBf16 ? 0.012 : 0.02, 0.05});
  return content;
}

void write_families(const std::string& file, const std::string& order) {
  db::Database database = db::Database::open(file, db::OpenMode::kReadWriteCreate);
  const Catalogue catalogue;
  const space::TemplateDefinition wgmma = catalogue.load("gemm_wgmma"), mma = catalogue.load("gemm_mma");
  Family family;
  family.problem = with_layout(*parse_shape("512x1536x768"), "nt").value();
  family.problem.dtype = Dtype::kBf16;
  family.problem = with_default_strides(family.problem).value();
  for (const char* text : {"SWAP_AB=1,BM=64,BN=64,WARPGROUPS_M=1,STAGES=12", "BM=128,BN=128,STAGES=6",
                           "BM=64,BN=64,WARPGROUPS_M=1,STAGES=12,DECOMPOSITION=stream_k"})
    family.kernels.push_back({space::parse_variant(wgmma, text).value(), wgmma.content_hash});
  family.kernels.push_back({mma.default_variant(), mma.content_hash});
  DeviceInfo device = sample_device();
  device.uuid = "GPU-0";
  device.driver_version = "580.1";
  for (const bool one_order : {false, true}) {
    family.sum_order = one_order ? order : "";
    family.intervals = {{.last_m = 32, .kernel = 0, .spare = 1, .time_s = 1e-5, .basis = FamilyBasis::kMeasured},
                        {.last_m = 512, .kernel = one_order ? 1 : 2, .spare = 1, .time_s = 2e-5}};
    if (!one_order) {
      family.intervals.back().last_m = 256;
      family.intervals.push_back({.last_m = 512, .kernel = 3, .time_s = 2e-5});
    }
    family.probes = {{.m = 77,
                      .family_s = one_order ? 1.08e-5 : 0.99e-5,
                      .best_s = 1e-5,
                      .baseline_first_s = 1.05e-5,
                      .baseline_best_s = 1.05e-5,
                      .best = family.kernels[1]}};
    db::SessionRow session;
    session.kind = "family";
    session.conditions_key = family.conditions.key();
    session.conditions_json = "{}";
    const db::RowId id =
        db::begin_session(database, device, {}, family.problem, db::family_template(family, "5e7"), session);
    db::finish_family(database, id, family);
  }
}

std::string shared_cache() {
  const char* const kept = std::getenv("PGTUNE_TEST_CUBINS");  // NOLINT(concurrency-mt-unsafe)
  if (kept != nullptr && *kept != '\0') return kept;
  static const ExportFolder folder("");
  return folder.path().string();
}

void ExportFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(*this / name, std::ios::binary) << text;
}

int ExportFolder::run(const std::string& command, std::string* output) const {
  FILE* const pipe = popen(fmt::format("cd '{}' && ({}) 2>&1", path().string(), command).c_str(), "r");
  if (pipe == nullptr) return -1;
  std::string text;
  std::array<char, 65536> chunk{};
  for (std::size_t got = 0; (got = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) text.append(chunk.data(), got);
  const int status = pclose(pipe);
  if (output != nullptr) *output = std::move(text);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool ExportFolder::compile(const std::string& compiler, const std::string& sources, const std::string& name) const {
  std::string output;
  const int code = run(fmt::format("{} {} -isystem '{}' -I. -I'{}' {} -o {} -pthread -ldl", compiler, kStrictWarnings,
                                   PGTUNE_CUDA_INCLUDE, PGTUNE_SOURCE_DIR, sources, name),
                       &output);
  if (code != 0) std::fputs(output.substr(0, 4000).c_str(), stderr);
  return code == 0;
}

}  // namespace pgtune::tool::test
