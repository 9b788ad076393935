// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/callable_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "db/queries/stored_records.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/kernel_image.hpp"
#include "tool/pgtune/export/neighbour_loss.hpp"
#include "tool/pgtune/export/result_choice.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

constexpr int kLeastCuda = 12000;  ///< of the driver's calls that a header needs

/// The least cuDriverGetVersion() for cubins of NVRTC `version` ("13.0"): CUDA's first of that major version, and 12.4
/// for compressed ones.
int least_driver(const std::string& nvrtc_version, bool compressed) {
  int major = 0;
  std::from_chars(nvrtc_version.data(), nvrtc_version.data() + nvrtc_version.size(), major);
  return std::max(1000 * major, compressed ? 12040 : 12000);
}

/// A variant for a problem, with the names of this build's templates.
struct Winner {
  Problem problem;
  DeviceInfo device;
  const StoredResult* result = nullptr;  ///< the result that it won; null: it was guessed
  std::optional<double> guessed_loss = {};
  std::string guessed_by = {};
  std::size_t template_number = 0;
  Variant variant = {};
  std::vector<Define> defines = {};
  bool other_version = false;
  space::Edges edges = space::Edges::kOfProblem;
};

/// A family with the winners (by number) that its intervals are compiled for.
struct PlannedFamily {
  struct Interval {
    std::size_t kernel = 0;
    std::optional<std::size_t> spare = {};
  };
  const db::FamilyRow* row = nullptr;
  DeviceInfo device;
  std::vector<Interval> intervals = {};
  bool other_version = false;
};

class CallableExport {
 public:
  CallableExport(Context& context, const CallableOptions& options)
      : context_(context),
        options_(options),
        sources_(context.catalogue().with_include_folders(options.include_folders), options.template_selector,
                 options.operation, content_) {
    content_.name_space = options.name_space;
    content_.file_name = options.file_name;
    content_.pgtune_version = kVersion;
  }

  CallableHeader run(const std::vector<StoredResult>& results, const db::Database& database) {
    std::vector<Winner> winners;
    for (const StoredResult& result : results) {
      std::string why;
      if (auto winner = resolve(result, why)) {
        winners.push_back(std::move(*winner));
      } else {
        left_out(result.problem.title(), why);
      }
    }
    add_guesses(winners);
    std::stable_sort(winners.begin(), winners.end(),
                     [](const Winner& a, const Winner& b) { return stands_before(a.problem, b.problem); });
    const std::size_t entries = winners.size();
    const std::vector<PlannedFamily> families = plan_families(winners);
    if (winners.empty()) return std::move(content_);
    if (const auto other =
            std::count_if(winners.begin(), winners.end(), [](const Winner& w) { return w.other_version; }))
      context_.terminal().note(
          fmt::format("{} tuned with another version of a template, or another template of the same "
                      "name: exported by the one at hand (--template names another).",
                      counted(other, "winner")));
    content_.nvrtc_version = value_or_throw(device::compiler_version(context_.paths().worker));
    compile(winners, entries, families);
    drop_unused_sources(content_);
    std::vector<std::map<std::string, double>> tried;
    for (const StoredResult* result : exported_)
      tried.push_back(result == nullptr ? std::map<std::string, double>{}
                                        : tried_times(database, *result, content_.templates));
    content_.losses = measured_losses(content_, tried, options_.largest_loss);
    return std::move(content_);
  }

 private:
  void left_out(const std::string& title, const std::string& why) {
    context_.terminal().note(fmt::format("left out {}: {}", title, why));
  }

  /// Adds the winners of the families' intervals.
  std::vector<PlannedFamily> plan_families(std::vector<Winner>& winners) {
    std::vector<PlannedFamily> out;
    std::vector<std::pair<std::string, DeviceInfo>> known;
    const std::size_t tuned = winners.size();
    for (const db::FamilyRow& row : options_.families) {
      const auto device = db::record_of<DeviceInfo>(row.device_json, "a family's device that");
      const std::string question = fmt::format("{} {}", row.family.at(1).key(), row.family.sum_order.empty());
      const auto same = [&](const auto& other) {
        return other.first == question && same_device_class(other.second, device);
      };
      if (row.family.problem.chained || std::any_of(known.begin(), known.end(), same)) continue;
      known.emplace_back(question, device);
      PlannedFamily planned{&row, device};
      std::string why;
      const std::size_t before = winners.size();
      if (elsewhere(device, winners, tuned, out)) {
        why = fmt::format("it was measured on {}; --on chooses", device_class(device).hardware());
      } else if (plan_intervals(planned, winners, why)) {
        out.push_back(std::move(planned));
        continue;
      }
      winners.resize(before, Winner{});
      left_out(row.family.title(), why);
    }
    // A policy without a wish for one order takes the first that covers a problem.
    std::stable_partition(out.begin(), out.end(),
                          [](const PlannedFamily& family) { return family.row->family.sum_order.empty(); });
    return out;
  }

  /// Whether the header is for another class of device: that of the results, else of the first family.
  static bool elsewhere(const DeviceInfo& device, const std::vector<Winner>& winners, std::size_t tuned,
                        const std::vector<PlannedFamily>& families) {
    const auto ends = winners.begin() + static_cast<std::ptrdiff_t>(tuned);
    if (tuned > 0)
      return std::none_of(winners.begin(), ends,
                          [&](const Winner& winner) { return same_device_class(winner.device, device); });
    return !families.empty() && !same_device_class(families.front().device, device);
  }

  bool plan_intervals(PlannedFamily& planned, std::vector<Winner>& winners, std::string& why) {
    for (const FamilyInterval& interval : planned.row->family.intervals) {
      const auto kernel = family_winner(planned, interval.kernel, interval.last_m, winners, why);
      if (!kernel) return false;
      PlannedFamily::Interval& own = planned.intervals.emplace_back();
      own.kernel = *kernel;
      // A family serves without its spare, where operands are aligned.
      std::string ignored;
      if (interval.spare) own.spare = family_winner(planned, *interval.spare, interval.last_m, winners, ignored);
    }
    return true;
  }

  std::optional<std::size_t> family_winner(PlannedFamily& planned, int number, std::int64_t m,
                                           std::vector<Winner>& winners, std::string& why) {
    const Family& family = planned.row->family;
    const FamilyKernel& kernel = family.kernels[static_cast<std::size_t>(number)];
    const Problem problem = family.at(m);
    const auto template_number = sources_.template_number(kernel.variant.template_name);
    if (!template_number) {
      why = fmt::format("template {} is not built in; give its JSON with --template", kernel.variant.template_name);
      return std::nullopt;
    }
    const space::TemplateDefinition& definition = content_.templates[*template_number];
    const auto variant = space::parse_variant(definition, kernel.variant.key());
    const Result<std::optional<std::string>> illegal =
        variant ? space::why_illegal(definition, *variant, problem, planned.device) : tl::unexpected(variant.error());
    if (!illegal || *illegal) {
      why = fmt::format("searched with another version of template {}: {}", definition.name,
                        illegal ? **illegal : illegal.error().text());
      return std::nullopt;
    }
    if (auto refused = why_not_exported(definition)) {
      why = *refused;
      return std::nullopt;
    }
    const std::string order = value_or_throw(space::sum_order(definition, *variant, problem, planned.device));
    if (!family.sum_order.empty() && order != family.sum_order) {
      why = fmt::format("a kernel of template {} no longer adds in the family's order ({})", definition.name,
                        family.sum_order);
      return std::nullopt;
    }
    planned.other_version |= kernel.template_hash != definition.content_hash;
    Winner& winner = winners.emplace_back(Winner{problem, planned.device});
    winner.template_number = *template_number;
    winner.variant = *variant;
    winner.edges = space::Edges::kAlways;
    winner.defines = value_or_throw(space::make_defines(definition, *variant, problem, planned.device, winner.edges));
    return winners.size() - 1;
  }

  /// For each class of device among the winners, the guesses of options_.guess for problems without a winner there.
  void add_guesses(std::vector<Winner>& winners) {
    const std::vector<Winner> tuned = winners;
    std::vector<DeviceInfo> devices;
    for (const Winner& winner : tuned) {
      const auto same = [&](const DeviceInfo& device) { return same_device_class(device, winner.device); };
      if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(winner.device);
    }
    for (const DeviceInfo& device : devices) {
      for (const Problem& problem : options_.guessed_problems) {
        const bool known = std::any_of(tuned.begin(), tuned.end(), [&](const Winner& winner) {
          return winner.problem == problem && same_device_class(winner.device, device);
        });
        if (known) continue;
        std::string why;
        if (auto guessed = guess(problem, device, why)) {
          winners.push_back(std::move(*guessed));
        } else {
          left_out(problem.title(), why);
        }
      }
    }
  }

  std::optional<Winner> guess(const Problem& problem, const DeviceInfo& device, std::string& why) {
    const auto guessed = options_.guess(problem, device);
    if (!guessed) {
      why = guessed.error().text();
      return std::nullopt;
    }
    const auto number = sources_.template_number(guessed->variant.template_name);
    if (!number) {
      why = fmt::format("the guess is of template {}, and --template names another", guessed->variant.template_name);
      return std::nullopt;
    }
    Winner winner{problem, device, nullptr, guessed->loss, guessed->basis, *number, guessed->variant, {}};
    const space::TemplateDefinition& definition = content_.templates[winner.template_number];
    if (auto refused = why_not_exported(definition)) {
      why = *refused;
      return std::nullopt;
    }
    winner.defines = value_or_throw(space::make_defines(definition, winner.variant, problem, device));
    return winner;
  }

  std::optional<Winner> resolve(const StoredResult& result, std::string& why) {
    const Variant& best = result.answer.best().variant;
    const auto source = sources_.find(result.problem, best.template_name, why);
    if (!source) return std::nullopt;
    const space::TemplateDefinition& definition = content_.templates[source->template_number];
    Winner winner{source->problem,
                  result.device,
                  &result,
                  {},
                  {},
                  source->template_number,
                  best,
                  {},
                  result.row.variant_origin.content_hash != definition.content_hash};
    const auto variant = space::parse_variant(definition, best.key());
    if (!variant) {
      why = fmt::format("tuned with another version of template {}: {}", definition.name, variant.error().text());
      return std::nullopt;
    }
    winner.variant = *variant;
    if (auto refused = why_not_exported(definition)) {
      why = *refused;
      return std::nullopt;
    }
    const auto reason = space::why_illegal(definition, winner.variant, winner.problem, result.device);
    if (!reason || *reason) {
      why = fmt::format("tuned with another version of template {}: {}", definition.name,
                        reason ? **reason : reason.error().text());
      return std::nullopt;
    }
    winner.defines = value_or_throw(space::make_defines(definition, winner.variant, winner.problem, result.device));
    return winner;
  }

  /// Compiles each variant once and fills in images, variants, device classes, families, and entries of the first
  /// `entries` winners.
  void compile(const std::vector<Winner>& winners, std::size_t entries, const std::vector<PlannedFamily>& families) {
    std::vector<protocol::BuildRequest> requests;
    std::vector<const Winner*> builds;      // what each request builds
    std::vector<std::size_t> build_number;  // of each winner
    for (const Winner& winner : winners) {
      const auto same = std::find_if(builds.begin(), builds.end(), [&](const Winner* other) {
        return other->template_number == winner.template_number && other->variant == winner.variant &&
               other->device.architecture == winner.device.architecture &&
               same_defines(other->defines, winner.defines) && other->problem.is_of_kind(winner.problem);
      });
      build_number.push_back(static_cast<std::size_t>(same - builds.begin()));
      if (same != builds.end()) continue;
      builds.push_back(&winner);
      requests.push_back(value_or_throw(session::make_build_request(
          content_.templates[winner.template_number], winner.variant, winner.problem, winner.device, winner.edges)));
    }
    const auto done = value_or_throw(device::compile_all(
        {.worker_path = context_.paths().worker, .cache_dir = context_.paths().cache}, std::move(requests)));
    const auto fatbinary = find_fatbinary();
    content_.jit = options_.jit;
    content_.least_driver = content_.jit ? kLeastCuda : least_driver(content_.nvrtc_version, fatbinary.has_value());
    std::vector<std::optional<std::size_t>> variants;
    for (std::size_t i = 0; i < builds.size(); ++i) variants.push_back(add_variant(*builds[i], done[i], fatbinary));
    for (std::size_t i = 0; i < entries; ++i) {
      if (const auto variant = variants[build_number[i]]) {
        add_entry(winners[i], *variant);
      } else {
        left_out(winners[i].problem.title(), "its kernel was not built: " + done[build_number[i]].outcome.reason);
      }
    }
    for (const PlannedFamily& family : families) {
      add_family(family, [&](std::size_t winner) { return variants[build_number[winner]]; });
    }
  }

  template <typename VariantOf>
  void add_family(const PlannedFamily& planned, const VariantOf& variant_of) {
    const db::FamilyRow& row = *planned.row;
    ExportedFamily out{row.family, class_number(planned.device), {}, {}};
    for (std::size_t i = 0; i < planned.intervals.size(); ++i) {
      const auto kernel = variant_of(planned.intervals[i].kernel);
      if (!kernel) return left_out(row.family.title(), "one of its kernels was not built");
      out.intervals.push_back({row.family.intervals[i].last_m, *kernel, {}});
      if (const auto spare = planned.intervals[i].spare) out.intervals.back().spare = variant_of(*spare);
    }
    out.origin = fmt::format("{}, driver {}, {}", row.device_uuid, planned.device.driver_version, row.finished_at);
    if (planned.other_version)
      out.origin += "; a kernel here is of another version of its template, so the losses are a hint";
    if (row.recorded) out.origin += "; RECORDED on another machine";
    content_.families.push_back(std::move(out));
  }

  /// The number of the device's class, added where it is new.
  std::size_t class_number(const DeviceInfo& device) {
    auto& classes = content_.device_classes;
    const auto same = std::find_if(classes.begin(), classes.end(),
                                   [&](const DeviceInfo& known) { return same_device_class(known, device); });
    const auto number = static_cast<std::size_t>(same - classes.begin());
    if (same == classes.end()) classes.push_back(device);
    return number;
  }

  static bool same_defines(const std::vector<Define>& a, const std::vector<Define>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Define& x, const Define& y) { return x.name == y.name && x.value == y.value; });
  }

  std::optional<std::size_t> add_variant(const Winner& winner, const protocol::BuildDone& done,
                                         const std::optional<std::filesystem::path>& fatbinary) {
    if (done.outcome.kind != OutcomeKind::kOk) return std::nullopt;
    const DeviceInfo& device = winner.device;
    std::string bytes = value_or_throw(kernel_image(done.build.cubin_path, device, fatbinary));
    const auto same = std::find_if(content_.images.begin(), content_.images.end(), [&](const KernelImage& image) {
      return image.template_number == winner.template_number && image.bytes == bytes;
    });
    const auto image = static_cast<std::size_t>(same - content_.images.begin());
    if (same == content_.images.end())
      content_.images.push_back({std::move(bytes), winner.template_number, device, winner.defines, done.build.lowered});
    const space::TemplateDefinition& definition = content_.templates[winner.template_number];
    content_.variants.push_back({winner.template_number, image, winner.variant, winner.problem,
                                 built_values(definition, winner.defines), done.build});
    if (definition.sum_order)
      content_.variants.back().sum_order =
          value_or_throw(space::sum_order(definition, winner.variant, winner.problem, device));
    return content_.variants.size() - 1;
  }

  void add_entry(const Winner& winner, std::size_t variant) {
    ExportedEntry entry;
    entry.problem = winner.problem;
    entry.variant = variant;
    entry.device_class = class_number(winner.device);
    if (winner.result == nullptr) {
      entry.guessed_loss = winner.guessed_loss;
      entry.origin = "a guess, nothing was measured of this problem: " + winner.guessed_by;
    } else {
      const session::RankedVariant& best = winner.result->answer.best();
      entry.time_s = best.time_s;
      entry.tflops = best.tflops;
      entry.ratio = best.ratio_to_baseline;
      entry.ratio_low = best.ratio_low;
      entry.ratio_high = best.ratio_high;
      entry.sampling = winner.result->answer.sampling;
      entry.board = winner.result->device.uuid;
      entry.origin = origin(winner);
    }
    content_.entries.push_back(std::move(entry));
    exported_.push_back(winner.result);
  }

  [[nodiscard]] static std::string origin(const Winner& winner) {
    const StoredResult& result = *winner.result;
    std::string text = fmt::format("{}, driver {}, {}, template {}", result.device.uuid, result.device.driver_version,
                                   result.row.finished_at, result.row.variant_origin.content_hash.substr(0, 12));
    if (winner.other_version)
      text += "; the kernel here is of another version of that template, so its figures are a hint";
    if (result.row.recorded) text += "; RECORDED on another machine";
    if (!result.answer.baseline.enlarged_shape.empty())
      text += fmt::format("; cuBLASLt was timed on {}", result.answer.baseline.enlarged_shape);
    if (!result.answer.baseline.copied.empty())
      text += fmt::format("; cuBLASLt was timed with copies of {}", result.answer.baseline.copied);
    if (!cublaslt_fuses(result.problem.epilogue.activation))
      text += fmt::format("; cuBLASLt was timed without {}", to_string(result.problem.epilogue.activation));
    return text;
  }

  Context& context_;
  const CallableOptions& options_;
  CallableHeader content_;
  ExportSources sources_;
  std::vector<const StoredResult*> exported_;  ///< of each entry; null: of a guess
};

}  // namespace

CallableHeader callable_export(Context& context, const std::vector<StoredResult>& results, const db::Database& database,
                               const CallableOptions& options) {
  std::vector<StoredResult> chosen = best_of_each_problem(results);
  for (const std::string& note : drop_look_alikes(chosen)) context.terminal().note(note);
  return CallableExport(context, options).run(chosen, database);
}

}  // namespace pgtune::tool
