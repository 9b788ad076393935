// SPDX-License-Identifier: MIT
#include "tool/pgtune/replay/row_conversion.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/version.hpp"
#include "tool/pgtune/replay/record_text.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/json_depth.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

template <typename T>
T known_word(std::optional<T> value, const std::string& word, const char* what) {
  if (!value)
    throw db::Error(fmt::format("the database holds an unknown {} '{}'. {}", what, excerpt(word), kUnreadableRemedy),
                    0);
  return *value;
}

/// Numbers of a file that may be somebody else's: what was measured is finite and not negative.
void require_measured(std::initializer_list<double> values, const char* what) {
  for (const double value : values) {
    if (!std::isfinite(value) || value < 0)
      throw db::Error(
          fmt::format("the database holds {} with the impossible number {}. {}", what, value, kUnreadableRemedy), 0);
  }
}

/// "Linux 6.1 x86_64". The rest of a kernel's release names the provider's own build, which is nobody's business in a
/// database that is passed on.
std::string host_system() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  const std::string release = names.release;
  const std::size_t minor = release.find('.');
  const std::size_t end = minor == std::string::npos ? minor : release.find_first_not_of("0123456789", minor + 1);
  return fmt::format("{} {} {}", names.sysname, release.substr(0, end), names.machine);
}

db::ContenderRow contender_row(const std::optional<Variant>& variant, int baseline_algorithm,
                               const space::TemplateSet& templates) {
  if (variant) return {variant_row(*variant, templates), -1};
  return {std::nullopt, baseline_algorithm};
}

}  // namespace

db::DeviceRow device_row(const DeviceInfo& device) {
  return {device.uuid, device.name, device.architecture, json(device).dump()};
}

db::ProblemRow problem_row(const Problem& problem) {
  db::ProblemRow row;
  row.key = problem.key();
  row.m = problem.m;
  row.n = problem.n;
  row.k = problem.k;
  row.batch = problem.batch;
  row.dtype = to_string(problem.dtype);
  row.layout = problem.layout();
  row.problem_json = json(problem).dump();
  return row;
}

db::EnvironmentRow environment_row(const DeviceInfo& device) {
  db::EnvironmentRow row;
  row.driver_version = device.driver_version;
  row.driver_branch = device.driver_branch();
  row.nvrtc_version = device.nvrtc_version;
  row.cublaslt_version = device.cublaslt_version;
  row.pgtune_version = kVersion;
  row.host_os = host_system();
  return row;
}

db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched) {
  db::ResultKey row;
  row.device_uuid = key.device.uuid;
  row.driver_branch = key.device.driver_branch();
  row.problem_key = key.problem.key();
  row.template_name = searched.name;
  row.template_hash = searched.content_hash;
  row.source = key.source;
  row.conditions_key = key.conditions.key();
  return row;
}

db::ResultKey result_key(const db::BestRow& row) {
  return {row.device_uuid,   row.driver_branch, row.problem_key,   row.template_name,
          row.template_hash, row.source,        row.conditions_key};
}

db::TemplateRow template_row(const space::TemplateId& id) { return {id.name, id.content_hash}; }

db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates) {
  const space::TemplateDefinition& definition = templates.of(variant);
  return {variant.key(), parameters_to_json(variant).dump(), {definition.name, definition.content_hash}};
}

std::vector<db::SampleRow> sample_rows(const std::vector<Sample>& samples) {
  std::vector<db::SampleRow> rows;
  rows.reserve(samples.size());
  for (const Sample& sample : samples) {
    db::SampleRow row;
    row.stage = to_string(sample.stage);
    row.round = sample.round;
    row.position = sample.position;
    row.launches = sample.launches;
    row.time_s = sample.time_s;
    row.sm_clock_hz = sample.sm_clock_hz;
    row.graph = sample.graph;
    row.temperature_c = sample.temperature_c;
    row.power_cap_s = sample.power_cap_s;
    row.thermal_s = sample.thermal_s;
    rows.push_back(std::move(row));
  }
  return rows;
}

db::ContenderSamplesRow contender_samples_row(const session::ContenderSamples& contender,
                                              const space::TemplateSet& templates) {
  return {contender_row(contender.variant, contender.baseline_algorithm, templates), sample_rows(contender.samples)};
}

db::EnergyWindowRow energy_row(const session::EnergyRecord& record, const space::TemplateSet& templates) {
  const EnergyWindow& window = record.window;
  db::EnergyWindowRow row;
  row.contender = contender_row(record.variant, record.baseline_algorithm, templates);
  row.ordinal = record.index;
  row.window_s = window.window_s;
  row.energy_j = window.energy_j;
  row.steps = window.steps;
  row.step_s = window.step_s;
  row.uncertainty = window.uncertainty;
  row.averaged_power_w = window.averaged_power_w;
  row.launches = window.launches;
  row.per_launch_s = window.per_launch_s;
  row.sm_clock_hz = window.sm_clock_hz;
  row.power_cap_share = window.power_cap_share;
  row.thermal_share = window.thermal_share;
  row.temperature_start_c = window.temperature_start_c;
  row.temperature_end_c = window.temperature_end_c;
  return row;
}

db::CeilingsRow ceilings_row(const Ceilings& ceilings, const std::string& source) {
  return {source, "", json(ceilings).dump()};
}

db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates, const BuildInfo& build,
                       const TrialReport& report) {
  db::TrialRow row;
  row.variant = variant_row(variant, templates);
  if (!build.key_hash.empty() || !build.cubin_hash.empty()) {
    db::BuildRow built;
    built.key_hash = build.key_hash;
    built.cubin_hash = build.cubin_hash;
    built.registers = build.registers;
    built.static_smem_bytes = build.static_smem_bytes;
    built.local_bytes = build.local_bytes;
    built.spill_bytes = build.spill_bytes;
    built.compile_s = build.compile_s;
    row.build = built;
  }
  row.outcome.kind = to_string(report.outcome.kind);
  row.outcome.reason = report.outcome.reason;
  row.outcome.cut = report.cut;
  if (report.check) {
    row.outcome.max_error = report.check->max_error;
    row.outcome.norm_error = report.check->norm_error;
  }
  row.samples = sample_rows(report.samples);
  return row;
}

db::BaselineRow baseline_row(const BaselineReport& baseline) { return {baseline.library, json(baseline).dump()}; }

DeviceInfo device_info(const db::DeviceRow& row) {
  return record_of<DeviceInfo>(row.info_json, "the database holds a device that");
}

Problem problem(const db::ProblemRow& row) {
  return record_of<Problem>(row.problem_json, "the database holds a problem that");
}

std::vector<Sample> samples(const std::vector<db::SampleRow>& rows) {
  std::vector<Sample> samples;
  samples.reserve(rows.size());
  for (const db::SampleRow& row : rows) {
    require_measured({static_cast<double>(row.round), static_cast<double>(row.position), row.sm_clock_hz,
                      row.temperature_c.value_or(0), row.power_cap_s.value_or(0), row.thermal_s.value_or(0)},
                     "a sample");
    if (row.launches < 1 || !is_sample_time(row.time_s))
      throw db::Error(fmt::format("the database holds a sample of {} launches in {} s. {}", row.launches, row.time_s,
                                  kUnreadableRemedy),
                      0);
    Sample sample;
    sample.stage = known_word(enumerator_of<Stage>(row.stage), row.stage, "stage");
    sample.round = row.round;
    sample.position = row.position;
    sample.launches = row.launches;
    sample.time_s = row.time_s;
    sample.sm_clock_hz = row.sm_clock_hz;
    sample.graph = row.graph;
    sample.temperature_c = row.temperature_c;
    sample.power_cap_s = row.power_cap_s;
    sample.thermal_s = row.thermal_s;
    samples.push_back(sample);
  }
  return samples;
}

session::StoredTrial stored_trial(const db::TrialRow& row) {
  session::StoredTrial trial;
  trial.report.outcome = {known_word(enumerator_of<OutcomeKind>(row.outcome.kind), row.outcome.kind, "outcome"),
                          row.outcome.reason};
  trial.report.cut = row.outcome.cut;
  if (row.outcome.max_error && row.outcome.norm_error)
    trial.report.check = CheckReport{*row.outcome.max_error, *row.outcome.norm_error};
  trial.report.samples = samples(row.samples);
  if (row.build) {
    require_measured({static_cast<double>(row.build->registers), static_cast<double>(row.build->static_smem_bytes),
                      static_cast<double>(row.build->local_bytes), static_cast<double>(row.build->spill_bytes),
                      row.build->compile_s},
                     "a build");
    trial.build.key_hash = row.build->key_hash;
    trial.build.cubin_hash = row.build->cubin_hash;
    trial.build.registers = row.build->registers;
    trial.build.static_smem_bytes = row.build->static_smem_bytes;
    trial.build.local_bytes = row.build->local_bytes;
    trial.build.spill_bytes = row.build->spill_bytes;
    trial.build.compile_s = row.build->compile_s;
  }
  return trial;
}

session::FatalTrial fatal_trial(const db::FatalTrialRow& row) {
  return {row.template_name,
          row.template_hash,
          row.variant_key,
          row.cubin_hash,
          {known_word(enumerator_of<OutcomeKind>(row.kind), row.kind, "outcome"), row.reason},
          record_of<Problem>(row.problem_json, "the database holds a problem that"),
          row.session,
          row.started_at};
}

BaselineReport baseline_report(const db::BaselineRow& row) {
  return record_of<BaselineReport>(row.report_json, "the database holds a baseline that");
}

EnergyWindow energy_window(const db::EnergyWindowRow& row) {
  require_measured(
      {row.window_s, row.energy_j, static_cast<double>(row.steps), row.step_s, row.uncertainty, row.averaged_power_w,
       static_cast<double>(row.launches), row.per_launch_s, row.sm_clock_hz, row.power_cap_share.value_or(0),
       row.thermal_share.value_or(0), row.temperature_start_c, row.temperature_end_c},
      "an energy window");
  EnergyWindow window;
  window.window_s = row.window_s;
  window.energy_j = row.energy_j;
  window.steps = row.steps;
  window.step_s = row.step_s;
  window.uncertainty = row.uncertainty;
  window.averaged_power_w = row.averaged_power_w;
  window.launches = row.launches;
  window.per_launch_s = row.per_launch_s;
  window.sm_clock_hz = row.sm_clock_hz;
  window.power_cap_share = row.power_cap_share;
  window.thermal_share = row.thermal_share;
  window.temperature_start_c = row.temperature_start_c;
  window.temperature_end_c = row.temperature_end_c;
  return window;
}

Ceilings ceilings(const db::CeilingsRow& row) {
  return record_of<Ceilings>(row.ceilings_json, "the database holds a GPU's ceilings that");
}

Conditions conditions(const std::string& key) {
  const auto parsed = parse_conditions(key);
  return known_word(parsed ? std::optional(*parsed) : std::nullopt, key, "text of conditions");
}

}  // namespace pgtune::tool
