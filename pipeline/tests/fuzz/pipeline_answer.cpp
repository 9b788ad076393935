// SPDX-License-Identifier: MIT
// Text in the columns that hold a search's answer and its candidates.
#include "pipeline/search/pipeline_answer.hpp"

#include "tests/fuzz/read_and_write.hpp"
#include "tests/fuzz/targets.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::fuzz {

void pipeline_answer(std::string_view bytes) {
  const std::string text = as_utf8(bytes);  // as it comes out of a database
  read_and_write<session::PipelineAnswer>(text);
  read_and_write<pipeline::Candidate>(text);
}

}  // namespace pgtune::fuzz
