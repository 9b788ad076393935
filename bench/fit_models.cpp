// SPDX-License-Identifier: MIT
// Fits the models that pgtune ships, to the recordings alone: into FOLDER/models those that are out of date. Run by
// scripts/fit-models.
#include <cstdio>
#include <exception>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/learning/trained_model.hpp"

int main(int argc, char** argv) {
  using namespace pgtune;
  using namespace pgtune::tool;
  if (argc != 2) return std::fputs("usage: pgtune-fit-models FOLDER\n", stderr), 2;
  try {
    Terminal terminal(process_environment);
    Paths paths;
    paths.cache = argv[1];
    Context context(paths, terminal, "", {});
    const std::filesystem::path none = paths.cache / "no.db";
    for (const auto validation : {search::Validation::kHoldout, search::Validation::kFiveFold})
      static_cast<void>(trained_model(context, none, {}, validation)());
    static_cast<void>(trained_settled_clocks(context, none, {})());
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
