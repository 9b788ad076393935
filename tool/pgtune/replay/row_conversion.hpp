// SPDX-License-Identifier: MIT
// Between the tuner's records and the database's rows. Rows that cannot be read throw db::Error.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tuner/device/recording.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::tool {

[[nodiscard]] db::DeviceRow device_row(const DeviceInfo& device);
[[nodiscard]] db::ProblemRow problem_row(const Problem& problem);
[[nodiscard]] db::EnvironmentRow environment_row(const DeviceInfo& device);
/// The key of results of `searched`: one of the key's templates, or the id of all of them.
[[nodiscard]] db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched);
[[nodiscard]] db::ResultKey result_key(const db::BestRow& row);
[[nodiscard]] db::TemplateRow template_row(const space::TemplateId& id);
// Of a variant of one of `templates`.
[[nodiscard]] db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates);
[[nodiscard]] db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates,
                                     const BuildInfo& build, const TrialReport& report);
[[nodiscard]] std::vector<db::SampleRow> sample_rows(const std::vector<Sample>& samples);
[[nodiscard]] db::ContenderSamplesRow contender_samples_row(const session::ContenderSamples& contender,
                                                            const space::TemplateSet& templates);
[[nodiscard]] db::EnergyWindowRow energy_row(const session::EnergyRecord& record, const space::TemplateSet& templates);
[[nodiscard]] db::CeilingsRow ceilings_row(const Ceilings& ceilings, const std::string& source);
[[nodiscard]] db::BaselineRow baseline_row(const BaselineReport& baseline);

[[nodiscard]] DeviceInfo device_info(const db::DeviceRow& row);
[[nodiscard]] Problem problem(const db::ProblemRow& row);
[[nodiscard]] session::StoredTrial stored_trial(const db::TrialRow& row);
[[nodiscard]] session::FatalTrial fatal_trial(const db::FatalTrialRow& row);
[[nodiscard]] std::vector<Sample> samples(const std::vector<db::SampleRow>& rows);
[[nodiscard]] BaselineReport baseline_report(const db::BaselineRow& row);
[[nodiscard]] EnergyWindow energy_window(const db::EnergyWindowRow& row);
[[nodiscard]] Ceilings ceilings(const db::CeilingsRow& row);
/// Of the text in a session's conditions_key.
[[nodiscard]] Conditions conditions(const std::string& key);

}  // namespace pgtune::tool
