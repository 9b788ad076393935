// SPDX-License-Identifier: MIT
#include "db/queries/sample_rows.hpp"

#include "db/queries/stored_records.hpp"

namespace pgtune::db {

const RecordColumns<Sample>& sample_columns() {
  static const RecordColumns<Sample> kColumns({"stage"});
  return kColumns;
}

std::string selected_sample_columns() { return "stages.name, " + sample_columns().list(); }

Sample read_sample(Statement& statement) {
  std::string stage;
  Sample sample;
  statement >> stage;
  sample.stage = known_word<Stage>(stage, "stage");
  sample_columns().read(statement, sample);
  require_valid(sample);
  return sample;
}

}  // namespace pgtune::db
