// SPDX-License-Identifier: MIT
// Reads a template's launch: workspace, tensor maps, kernels and their arguments, and the traffic of a launch.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/template/template_parser.hpp"
#include "tuner/util/identifier.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::space {
namespace {

/// "none" or a number with a B, such as "128B"; other text is an expression.
bool is_word_of_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return text == "none" || (digits > 0 && text.substr(digits) == "B");
}

/// A symbol, or a C++ expression that names a kernel: "attention::forward<BM, float>".
bool names_kernel(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kFurther = "0123456789:<>,() &*+-/%=!|";
  constexpr std::size_t kMaxName = 256;
  return !text.empty() && text.size() <= kMaxName && kLetters.find(text.front()) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos || kFurther.find(c) != std::string_view::npos;
         });
}

constexpr std::size_t kMaxTensorRank = 5;
constexpr std::size_t kMaxTensorMaps = 32;
constexpr std::size_t kMaxKernels = 16;
constexpr std::size_t kMaxArguments = 256;

class LaunchReader {
 public:
  LaunchReader(const KnownNames& names, const OperationInterface* operation, TemplateDefinition& definition)
      : names_(names), operation_(operation), definition_(definition) {}

  void workspace(const JsonCursor& cursor) {
    cursor.expect_fields({"bytes", "zero"});
    definition_.workspace_bytes = names_.read(cursor.required("bytes"), Reach::kProblem);
    if (const auto zero = cursor.optional("zero")) {
      definition_.zero_workspace = zero->choice({"never", "every_launch"}) == "every_launch";
    }
  }

  void tensor_map(const JsonCursor& cursor) {
    if (const auto like = cursor.optional("like")) return tensor_map_like(cursor, *like);
    cursor.expect_fields(
        {"name", "like", "operand", "type", "dims", "strides", "box", "swizzle", "l2_promotion", "when"});
    TensorMapSpec map;
    map.name = new_tensor_map_name(cursor.required("name"));
    if (const auto when = cursor.optional("when")) map.when = names_.read(*when, Reach::kProblem);
    map.operand = elements_operand(cursor.required("operand"));
    // "operand" is no tensor type, so it parses to nothing: the problem's.
    std::vector<std::string_view> types = words_of<TensorType>();
    types.insert(types.begin(), "operand");
    map.type = enumerator_of<TensorType>(cursor.required("type").choice(types));
    map.dims = read_expressions(cursor.required("dims"), names_, 1, kMaxTensorRank);
    const std::size_t rank = std::max<std::size_t>(map.dims.size(), 1);
    // A map of one dimension has no strides.
    if (rank > 1 || cursor.optional("strides")) {
      map.strides = read_expressions(cursor.required("strides"), names_, rank - 1, rank - 1);
    }
    map.box = read_expressions(cursor.required("box"), names_, rank, rank);
    if (const auto swizzle = cursor.optional("swizzle")) {
      if (is_word_of_bytes(swizzle->string())) {
        map.swizzle = swizzle->choice_of<Swizzle>();
      } else {
        map.swizzle_bytes = names_.read(*swizzle, Reach::kProblem);
      }
    }
    if (const auto promotion = cursor.optional("l2_promotion")) {
      if (is_word_of_bytes(promotion->string())) {
        map.l2_promotion = promotion->choice_of<L2Promotion>();
      } else {
        map.l2_promotion_bytes = names_.read(*promotion, Reach::kProblem);
      }
    }
    definition_.tensor_maps.push_back(std::move(map));
  }

  void kernel(const JsonCursor& cursor) {
    cursor.expect_fields({"symbol", "when", "module", "grid", "block", "cluster", "dynamic_smem",
                          "programmatic_dependent_launch", "overlaps_launch_before", "waits_first", "co_resident",
                          "l2_window", "arguments"});
    KernelSpec kernel;
    const JsonCursor symbol = cursor.required("symbol");
    kernel.symbol = symbol.string();
    if (!names_kernel(kernel.symbol)) symbol.problem(fmt::format("'{}' cannot be a kernel's name", kernel.symbol));
    if (const auto when = cursor.optional("when")) kernel.when = names_.read(*when, Reach::kProblem);
    if (const auto module = cursor.optional("module")) {
      if (!is_identifier(kernel.symbol)) module->problem("only a kernel with an extern \"C\" name has one");
      kernel.module = this->module(*module);
    }
    kernel.grid = read_expressions(cursor.required("grid"), names_, 1, 3);
    kernel.block = read_expressions(cursor.required("block"), names_, 1, 3);
    if (const auto cluster = cursor.optional("cluster")) kernel.cluster = read_expressions(*cluster, names_, 1, 3);
    if (const auto smem = cursor.optional("dynamic_smem")) {
      kernel.dynamic_smem_bytes = names_.read(*smem, Reach::kProblem);
    }
    if (const auto early = cursor.optional("programmatic_dependent_launch")) {
      kernel.programmatic_dependent_launch = names_.read(*early, Reach::kProblem);
    }
    if (const auto before = cursor.optional("overlaps_launch_before"))
      kernel.overlaps_launch_before = names_.read(*before, Reach::kProblem);
    if (const auto waits = cursor.optional("waits_first")) kernel.waits_first = names_.read(*waits, Reach::kProblem);
    if (const auto together = cursor.optional("co_resident"))
      kernel.co_resident = names_.read(*together, Reach::kProblem);
    if (const auto window = cursor.optional("l2_window")) kernel.l2_window = l2_window(*window);
    for (const JsonCursor& element : cursor.required("arguments").elements(0, kMaxArguments)) {
      kernel.arguments.push_back(argument(element));
    }
    definition_.kernels.push_back(std::move(kernel));
  }

  void traffic(const JsonCursor& cursor) {
    cursor.expect_fields({"l2_bytes", "smem_bytes"});
    definition_.l2_bytes = names_.read(cursor.required("l2_bytes"), Reach::kProblem);
    if (const auto copied = cursor.optional("smem_bytes"))
      definition_.smem_bytes = names_.read(*copied, Reach::kProblem);
  }

 private:
  [[nodiscard]] std::string new_tensor_map_name(const JsonCursor& cursor) const {
    std::string name = cursor.string();
    if (!is_identifier(name)) {
      cursor.problem(
          fmt::format("'{}' cannot be a name: use letters, digits and '_', not starting with a digit", name));
    }
    for (const TensorMapSpec& other : definition_.tensor_maps) {
      if (other.name == name && !other.when) {
        cursor.problem(
            fmt::format("there are two tensor maps '{}'; rename one, or say \"when\" the first is used", name));
      }
    }
    return name;
  }

  /// The maps of another name with a box of their own.
  void tensor_map_like(const JsonCursor& cursor, const JsonCursor& like) {
    cursor.expect_fields({"name", "like", "box"});
    const std::string name = new_tensor_map_name(cursor.required("name")), same = tensor_map_name(like);
    std::vector<TensorMapSpec> maps;
    for (const TensorMapSpec& map : definition_.tensor_maps) {
      if (map.name == same) maps.push_back(map);
    }
    for (TensorMapSpec& map : maps) {
      map.name = name;
      map.box = read_expressions(cursor.required("box"), names_, map.dims.size(), map.dims.size());
      definition_.tensor_maps.push_back(std::move(map));
    }
  }

  [[nodiscard]] Operand operand(const JsonCursor& cursor) const {
    const Operand chosen = operation_ == nullptr ? gemm_operand(cursor) : buffer(cursor);
    if (chosen == Operand::kWorkspace && !definition_.workspace_bytes) {
      cursor.problem("the template asks for no workspace; add \"workspace\": {\"bytes\": ...}");
    }
    return chosen;
  }

  /// A buffer that holds elements, not addresses.
  [[nodiscard]] Operand elements_operand(const JsonCursor& cursor) const {
    const Operand chosen = operand(cursor);
    if (operation_ != nullptr) {
      const std::string name = cursor.string();
      if (std::find(operation_->pointers.begin(), operation_->pointers.end(), name) != operation_->pointers.end())
        cursor.problem(
            fmt::format("'{}' holds pointers, and a tensor map is of elements: name the buffer that they "
                        "point into, or let a kernel make its copies by address",
                        name));
    }
    return chosen;
  }

  [[nodiscard]] static Operand gemm_operand(const JsonCursor& cursor) {
    std::vector<std::string_view> words;
    for (const auto& [operand, word] : gemm_operands()) words.push_back(word);
    const std::string chosen = cursor.choice(words);
    for (const auto& [operand, word] : gemm_operands()) {
      if (word == chosen) return operand;
    }
    return Operand::kA;
  }

  /// The operation's buffer of that name, or the workspace.
  [[nodiscard]] Operand buffer(const JsonCursor& cursor) const {
    std::vector<std::string_view> words(operation_->buffers.begin(), operation_->buffers.end());
    words.emplace_back("workspace");
    const std::string word = cursor.choice(words);
    const auto found = std::find(operation_->buffers.begin(), operation_->buffers.end(), word);
    if (found == operation_->buffers.end()) return Operand::kWorkspace;
    return operand_of_buffer(static_cast<std::size_t>(found - operation_->buffers.begin()));
  }

  [[nodiscard]] ModuleSpec module(const JsonCursor& cursor) const {
    cursor.expect_fields({"header", "defines"});
    std::vector<std::string> known;
    for (const Parameter& parameter : definition_.parameters) known.push_back(parameter.name);
    for (const auto* const entries : {&definition_.derived, &definition_.defines})
      for (const NamedExpression& entry : *entries) known.push_back(entry.name);
    ModuleSpec module{cursor.required("header").string(), {}};
    for (const JsonCursor& element : cursor.required("defines").elements(0, kMaxArguments)) {
      module.defines.push_back(element.string());
      if (std::find(known.begin(), known.end(), module.defines.back()) == known.end()) {
        element.problem(fmt::format("no parameter, derived value or define has the name '{}'{}", module.defines.back(),
                                    suggestion(module.defines.back(), known)));
      }
    }
    return module;
  }

  [[nodiscard]] L2Window l2_window(const JsonCursor& cursor) const {
    cursor.expect_fields({"operand", "access", "hit_ratio"});
    L2Window window;
    window.operand = operand(cursor.required("operand"));
    window.access = cursor.required("access").choice_of<L2Access>();
    if (const auto ratio = cursor.optional("hit_ratio")) {
      window.hit_ratio = ratio->number();
      if (window.hit_ratio < 0 || window.hit_ratio > 1) ratio->problem("the hit ratio is a share from 0 to 1");
    }
    return window;
  }

  [[nodiscard]] ArgumentSpec argument(const JsonCursor& cursor) const {
    cursor.expect_fields({"pointer", "tensor_map", "int32", "int64", "float32"});
    if (cursor.value().is_object() && cursor.value().size() != 1) {
      cursor.problem("an argument has exactly one of pointer, tensor_map, int32, int64, float32");
    }
    ArgumentSpec out;
    if (const auto pointer = cursor.optional("pointer")) {
      out.kind = ArgumentKind::kPointer;
      out.operand = operand(*pointer);
    } else if (const auto map = cursor.optional("tensor_map")) {
      out.kind = ArgumentKind::kTensorMap;
      out.tensor_map = tensor_map_name(*map);
    } else if (const auto int32 = cursor.optional("int32")) {
      out.kind = ArgumentKind::kInt32;
      out.expression = names_.read(*int32, Reach::kProblem);
    } else if (const auto int64 = cursor.optional("int64")) {
      out.kind = ArgumentKind::kInt64;
      out.expression = names_.read(*int64, Reach::kProblem);
    } else if (const auto float32 = cursor.optional("float32")) {
      out.kind = ArgumentKind::kFloat32;
      out.scalar = float32->choice(operation_ == nullptr ? std::vector<std::string_view>{"alpha", "beta"}
                                                         : std::vector<std::string_view>(operation_->scalars.begin(),
                                                                                         operation_->scalars.end()));
    }
    return out;
  }

  [[nodiscard]] std::string tensor_map_name(const JsonCursor& cursor) const {
    std::string name = cursor.string();
    std::vector<std::string> known;
    for (const TensorMapSpec& map : definition_.tensor_maps) known.push_back(map.name);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      cursor.problem(fmt::format("there is no tensor map '{}'{}", name, suggestion(name, known)));
    }
    return name;
  }

  const KnownNames& names_;
  const OperationInterface* operation_;
  TemplateDefinition& definition_;
};

}  // namespace

void read_launch(const JsonCursor& root, const KnownNames& names, const OperationInterface* operation,
                 TemplateDefinition& definition) {
  LaunchReader reader(names, operation, definition);
  if (const auto workspace = root.optional("workspace")) reader.workspace(*workspace);
  for (const JsonCursor& element : root.optional_elements("tensor_maps", kMaxTensorMaps)) reader.tensor_map(element);
  for (const JsonCursor& element : root.required("kernels").elements(1, kMaxKernels)) reader.kernel(element);
  if (const auto traffic = root.optional("traffic")) reader.traffic(*traffic);
}

}  // namespace pgtune::space
