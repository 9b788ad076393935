// SPDX-License-Identifier: MIT
// `pgtune shapes`: the GEMMs of a model, in the format of --shapes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/commands/model_weights.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1U << 20U;
constexpr std::int64_t kMostGpus = 1024, kMostTokens = 1 << 24;

class ShapesCommand final : public Command {
 public:
  std::string name() const override { return "shapes"; }
  std::string description() const override { return "Print the GEMMs of a model, for --shapes"; }
  std::string examples() const override {
    return "pgtune shapes --model Qwen3-32B/config.json --tp 2 > qwen.txt\n"
           "pgtune search --shapes qwen.txt";
  }

  void add_options(CommandLine& app) override {
    app.add_option("--model", model_, "Its Hugging Face config.json, or the folder").option_text("FILE").required();
    app.add_option("--tp", gpus_, "GPUs that share each weight (default: 1)").option_text("N");
    app.add_option("--tokens", tokens_, "Largest M (default: 8192)").option_text("N");
    app.add_option("--dtype", dtype_, "Instead of the file's").option_text("TYPE");
    app.add_flag("--separate", layout_.separate, "Query, key and value, and gate and up, by themselves");
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    layout_.gpus = limited("--tp", gpus_, kMostGpus);
    const std::int64_t tokens = limited("--tokens", tokens_, kMostTokens);
    layout_.fused_bias = dtype_ != to_string(Dtype::kInt8);
    ModelWeights model = value_or_throw(read_model_weights(read_config(), model_, layout_));
    if (!dtype_.empty())
      model.dtype = value_or_throw(parse_dtype(dtype_));
    else if (!model.names_dtype)
      context.terminal().note(fmt::format("the file names no type; these are products in {}. --dtype names another.",
                                          to_string(model.dtype)));
    if (model.quantized)
      context.terminal().note(
          fmt::format("the model's weights are quantized; these are products in {}. --dtype names another type.",
                      to_string(model.dtype)));
    context.terminal().print(json_ ? document(model, tokens).dump(2) + "\n" : text(model, tokens));
    return ExitCode::kDone;
  }

 private:
  static std::int64_t limited(const std::string& option, const std::string& text, std::int64_t most) {
    const std::int64_t value = parse_count(option, text, 1);
    if (value > most) throw CommandError(ErrorKind::kUsage, fmt::format("{} is {} at most", option, most));
    return value;
  }

  [[nodiscard]] std::string read_config() {
    std::error_code ignored;
    if (std::filesystem::is_directory(model_, ignored))
      model_ = (std::filesystem::path(model_) / "config.json").string();
    std::ifstream file(model_, std::ios::binary);
    std::string out(kLargestFile + 1, '\0');
    if (file) file.read(out.data(), static_cast<std::streamsize>(out.size()));
    std::string cause;
    if (!file.is_open() || file.bad()) cause = fmt::format("cannot read '{}': {}", model_, std::strerror(errno));
    out.resize(static_cast<std::size_t>(file.gcount()));
    if (cause.empty() && out.empty()) cause = fmt::format("'{}' is empty", model_);
    if (out.size() > kLargestFile) cause = fmt::format("'{}' is larger than {} MiB", model_, kLargestFile >> 20U);
    if (cause.empty()) return out;
    throw CommandError(ErrorKind::kUsage, cause + ". Give a model's config.json, or its folder.");
  }

  static std::string shape(const WeightFamily& family, std::int64_t tokens) {
    return fmt::format("1..{}x{}x{}", tokens, family.n, family.k);
  }

  [[nodiscard]] std::string text(const ModelWeights& model, std::int64_t tokens) const {
    std::vector<std::string> lines;
    std::size_t width = 0;
    for (const WeightFamily& family : model.families) {
      lines.push_back(fmt::format("{} nt {}{}", shape(family, tokens), to_string(model.dtype),
                                  family.bias ? " epilogue bias" : ""));
      width = std::max(width, lines.back().size());
    }
    std::string out = fmt::format("# {}, {} layers{}. M: tokens of a batch\n", model.model_type, model.layers,
                                  layout_.gpus > 1 ? fmt::format(", one of {} GPUs", layout_.gpus) : "");
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += fmt::format("{:{}}  # {}\n", lines[i], width, fmt::join(model.families[i].uses, "; "));
    return out;
  }

  [[nodiscard]] json document(const ModelWeights& model, std::int64_t tokens) const {
    json families = json::array();
    for (const WeightFamily& family : model.families)
      families.push_back({{"shape", shape(family, tokens)},
                          {"n", family.n},
                          {"k", family.k},
                          {"layout", "nt"},
                          {"epilogue", family.bias ? "bias" : "none"},
                          {"uses", family.uses}});
    return {{"schema", kJsonSchema}, {"model_type", model.model_type},  {"layers", model.layers},
            {"gpus", layout_.gpus},  {"dtype", to_string(model.dtype)}, {"quantized", model.quantized},
            {"families", families}};
  }

  WeightLayout layout_;
  std::string model_, dtype_, gpus_ = "1", tokens_ = "8192";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_shapes_command() { return std::make_unique<ShapesCommand>(); }

}  // namespace pgtune::tool
