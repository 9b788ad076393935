// SPDX-License-Identifier: MIT
#include "pipeline/program/room.hpp"

#include "pipeline/search/pipeline_answer.hpp"
#include "tool/pgtune/recording/record_text.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {

void register_pipeline(Rooms& rooms) {
  rooms.commands.push_back(make_pipeline_command());
  rooms.exports.push_back(make_pipeline_export());
  rooms.reports.push_back(pipeline_report());
  rooms.record_checks.insert({{"pipeline_answers.answer_json", no_record<session::PipelineAnswer>},
                              {"pipeline_samples.device_s", no_sample_time},
                              {"pipeline_samples.host_s", no_sample_time},
                              {"pipeline_samples.runs", no_launches},
                              {"pipeline_trials.candidate_json", no_record<pipeline::Candidate>}});
}

}  // namespace pgtune::tool
