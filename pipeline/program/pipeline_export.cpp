// SPDX-License-Identifier: MIT
// `pgtune export pipeline`: the loop of a stored pipeline as a header.
#include <fmt/format.h>

#include <filesystem>

#include "pipeline/program/pipeline_header.hpp"
#include "pipeline/program/pipeline_options.hpp"
#include "pipeline/program/pipeline_store.hpp"
#include "pipeline/program/room.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/export/cpp_names.hpp"

namespace pgtune::tool {
namespace {

class PipelineExport final : public Command {
 public:
  std::string name() const override { return "pipeline"; }
  std::string description() const override {
    return "A C++17 header with the loop of the best pipeline that was found for a problem";
  }
  std::string examples() const override {
    return "pgtune export pipeline --shape 65536x4096x4096 --dtype bf16 -o stream.hpp";
  }

  void add_options(CommandLine& app) override {
    which_.add_to(app, "Pipeline");
    add_database_option(app, database_);
    app.add_option("-o,--output", output_, "File to write (default: standard output)").option_text("FILE");
    app.add_option("--namespace", name_space_, "C++ namespace of the header (default: best_pipeline)")
        .option_text("NAME");
  }

  ExitCode run(Context& context) override {
    if (const auto why = why_no_namespace(name_space_))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--namespace '{}' cannot be used: {}. Give identifiers joined by ::, such as "
                                     "my::pipeline.",
                                     name_space_, *why));
    const pipeline::StreamedProblem streamed = which_.streamed();
    session::PipelineOptions options;
    which_.read_into(options);
    const db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    auto found = recorded_pipeline(database, streamed, options);
    if (!found) {
      context.terminal().error(fmt::format("{} holds no pipeline of {}; search one with 'pgtune pipeline'",
                                           database.origin(), streamed.title()));
      return ExitCode::kNothingValid;
    }
    const bool to_file = !output_.empty() && output_ != "-";
    const std::string file_name =
        to_file ? std::filesystem::path(output_).filename().string() : std::string("best_pipeline.hpp");
    const std::string text = write_pipeline_header({.streamed = streamed,
                                                    .device = std::move(found->device),
                                                    .answer = std::move(found->answer),
                                                    .finished_at = found->finished_at,
                                                    .name_space = name_space_,
                                                    .file_name = file_name});
    if (!to_file) {
      context.terminal().print(text);
      return ExitCode::kDone;
    }
    write_output_file(output_, text);
    context.terminal().note("wrote " + output_);
    return ExitCode::kDone;
  }

 private:
  WhichPipeline which_;
  std::string database_, output_, name_space_ = "best_pipeline";
};

}  // namespace

std::unique_ptr<Command> make_pipeline_export() { return std::make_unique<PipelineExport>(); }

}  // namespace pgtune::tool
