// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/build_facts.hpp"

#include <fmt/format.h>

#include "db/database.hpp"
#include "pgtune_recordings.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/version.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::tool {
namespace {

std::string fact_line(std::string_view name, const std::string& value) {
  return fmt::format("{:<12}{}\n", name, value);
}

}  // namespace

std::string build_facts() {
  std::string text = fact_line("commit", *kCommit == '\0' ? "not known: not built in a clone" : kCommit);
  text += fact_line("compiler", kCompiler);
  text +=
      fact_line("toolkit", *kToolkit == '\0' ? "none: built without pgtune-worker" : std::string("CUDA ") + kToolkit);
  text += fact_line("schemas", fmt::format("database {}, JSON {}, worker protocol {}", db::kSchemaVersion, kJsonSchema,
                                           protocol::kProtocolVersion));
  std::string_view title = "templates";
  const Catalogue catalogue;
  for (const std::string& name : catalogue.all_names()) {
    text += fact_line(title, fmt::format("{} {}", catalogue.load(name).content_hash, name));
    title = "";
  }
  return text + fmt::format("recordings  {}", embedded::pgtune_recordings().size());
}

}  // namespace pgtune::tool
