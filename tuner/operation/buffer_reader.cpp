// SPDX-License-Identifier: MIT
// Reads an operation's buffers, how they are filled, and its reference.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "tuner/operation/error_rules.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::NameKind;
using space::Reach;

constexpr std::string_view kRightWord = "dtype_b", kOutputWord = "output";
constexpr std::size_t kMaxKernels = 16, kMaxArguments = 64, kMaxCases = 16;

class Reader {
 public:
  Reader(const KnownNames& names, OperationDefinition& definition) : names_(names), definition_(definition) {}

  [[nodiscard]] BufferSpec buffer(const JsonCursor& cursor, std::size_t index) const {
    cursor.expect_fields({"name", "type", "role", "extents", "strides", "align", "fill", "error", "when", "instead",
                          "room", "stream", "called", "first_index", "padding"});
    BufferSpec out;
    const JsonCursor name = cursor.required("name");
    out.name = name.string();
    if (!is_identifier(out.name)) name.problem(fmt::format("'{}' cannot be a buffer's name", out.name));
    if (out.name == "workspace") name.problem("'workspace' is what templates call their own memory");
    for (std::size_t i = 0; i < index; ++i) {
      if (definition_.buffers[i].name == out.name) name.problem(fmt::format("there are two buffers '{}'", out.name));
    }
    read_type(cursor.required("type"), out);
    out.role = enumerator_of<BufferRole>(cursor.required("role").choice(words_of<BufferRole>())).value_or(out.role);
    out.extents = expressions(cursor.required("extents"), 1, kMaxBufferRank);
    if (const auto strides = cursor.optional("strides"))
      out.strides = expressions(*strides, out.extents.size(), out.extents.size());
    if (const auto align = cursor.optional("align")) {
      out.alignment = align->integer();
      if (out.alignment < 1 || out.alignment > 256 || !std::has_single_bit(static_cast<std::uint64_t>(out.alignment)))
        align->problem("an alignment is a power of two up to 256, in bytes");
    }
    const bool is_input = out.role == BufferRole::kIn || out.role == BufferRole::kInOut;
    if (const auto fill = cursor.optional("fill")) {
      if (!is_input) fill->problem("only inputs are filled: others hold a poison when a kernel is launched");
      read_fill(*fill, out);
    }
    const bool is_output = out.role == BufferRole::kOut || out.role == BufferRole::kInOut;
    if (const auto error = cursor.optional("error")) {
      if (!is_output) error->problem("only outputs are compared with the reference");
      out.error = read_error(*error, names_, definition_);
    } else if (is_output) {
      cursor.problem("an output says by \"error\" how far from the reference it may be");
    }
    read_presence(cursor, out);
    if (const auto room = cursor.optional("room")) out.room = names_.read(*room, Reach::kProblem);
    if (const auto stream = cursor.optional("stream")) {
      out.stream = stream->integer();
      if (!is_input) stream->problem("only inputs are filled");
      if (*out.stream < 0 || *out.stream >= kFillStreams)
        stream->problem(fmt::format("there are the streams 0 to {}", kFillStreams - 1));
    }
    if (const auto called = cursor.optional("called")) out.called = called->string();
    if (const auto padding = cursor.optional("padding")) {
      out.padding = padding->string();
      if (!is_output) padding->problem("it is of outputs, which have padding that launches leave alone");
    }
    if (const auto first = cursor.optional("first_index")) {
      out.first_index = first->string();
      if (!is_output || out.extents.size() < 2) first->problem("it is of outputs with two indices or more");
    }
    return out;
  }

  [[nodiscard]] ReferenceKernelSpec kernel(const JsonCursor& cursor, bool is_fill) const {
    cursor.expect_fields({"symbol", "grid", "block", "arguments"});
    ReferenceKernelSpec out;
    const JsonCursor symbol = cursor.required("symbol");
    out.symbol = symbol.string();
    if (!is_identifier(out.symbol)) symbol.problem(fmt::format("'{}' cannot be a kernel's name", out.symbol));
    out.grid = expressions(cursor.required("grid"), 1, 3);
    out.block = expressions(cursor.required("block"), 1, 3);
    for (const JsonCursor& element : cursor.required("arguments").elements(0, kMaxArguments))
      out.arguments.push_back(argument(element, is_fill));
    return out;
  }

  [[nodiscard]] CaseSpec fill_case(const JsonCursor& cursor) const {
    cursor.expect_fields({"name", "fills"});
    CaseSpec out;
    out.name = cursor.required("name").string();
    std::vector<std::string_view> words;
    for (const BufferSpec& buffer : definition_.buffers) {
      if (buffer.role == BufferRole::kIn && !buffer.pointers) words.push_back(buffer.name);
    }
    for (const JsonCursor& element : cursor.required("fills").elements(1, kMaxBuffers)) {
      element.expect_fields({"buffer", "fill"});
      const auto place = place_of(element.required("buffer").choice(words));
      if (!place) continue;
      CaseSpec::Fill fill{*place, definition_.buffers[*place]};
      fill.filled.kernel.reset();
      const JsonCursor how = element.required("fill");
      read_fill(how, fill.filled);
      if (fill.filled.fill == FillKind::kLinked)
        how.problem("a case fills a buffer itself; kernels of other buffers may write it too");
      out.fills.push_back(std::move(fill));
    }
    return out;
  }

 private:
  /// Among the buffers; nothing for what is no buffer's name, of which choice() has told.
  [[nodiscard]] std::optional<std::size_t> place_of(std::string_view name) const {
    const auto found = std::find_if(definition_.buffers.begin(), definition_.buffers.end(),
                                    [&](const BufferSpec& buffer) { return buffer.name == name; });
    if (found == definition_.buffers.end()) return std::nullopt;
    return static_cast<std::size_t>(found - definition_.buffers.begin());
  }

  void read_type(const JsonCursor& cursor, BufferSpec& out) const {
    std::vector<std::string_view> words = words_of<ElementType>();
    if (!definition_.dtypes.empty()) words.insert(words.end(), {kDtypeWord, kRightWord, kOutputWord});
    const std::string word = cursor.choice(words);
    out.type = enumerator_of<ElementType>(word);
    if (word == kRightWord) out.part = DtypePart::kB;
    if (word == kOutputWord) out.part = DtypePart::kOutput;
  }

  void read_presence(const JsonCursor& cursor, BufferSpec& out) const {
    const auto when = cursor.optional("when"), instead = cursor.optional("instead");
    if (when) {
      out.when = names_.read(*when, Reach::kProblem);
      if (out.role != BufferRole::kIn) when->problem("only buffers with the role in may be absent");
    }
    if (!instead) return;
    if (!when) instead->problem("it belongs to \"when\"");
    std::vector<std::string_view> words;
    for (const BufferSpec& candidate : definition_.buffers) {
      if (candidate.name != out.name && !candidate.pointers) words.push_back(candidate.name);
    }
    out.instead = place_of(instead->choice(words));
  }

  [[nodiscard]] std::vector<Expression> expressions(const JsonCursor& cursor, std::size_t least,
                                                    std::size_t most) const {
    std::vector<Expression> out;
    for (const JsonCursor& element : cursor.elements(least, most)) out.push_back(names_.read(element, Reach::kProblem));
    return out;
  }

  /// "data", or an object of one field: {"normal": [mean, deviation]}, {"uniform": [low, high]}, {"constant": x},
  /// {"integers": ["low", "high"]}, {"kernel": {...}}, {"linked": "buffer"}.
  void read_fill(const JsonCursor& cursor, BufferSpec& out) const {
    if (cursor.value().is_string()) {
      static_cast<void>(cursor.choice({to_string(FillKind::kData)}));
      out.fill = FillKind::kData;
      return;
    }
    cursor.expect_fields({"normal", "uniform", "constant", "integers", "kernel", "linked"});
    if (cursor.value().is_object() && cursor.value().size() != 1) {
      cursor.problem("a fill has exactly one of normal, uniform, constant, integers, kernel and linked");
      return;
    }
    for (const FillKind kind : {FillKind::kNormal, FillKind::kUniform}) {
      const auto pair = cursor.optional(to_string(kind));
      if (!pair) continue;
      out.fill = kind;
      const auto numbers = pair->elements(2, 2);
      if (numbers.size() != 2) return;
      out.first = numbers[0].number();
      out.second = numbers[1].number();
      if (out.type && traits(*out.type).is_integer())
        pair->problem("integers are filled by \"data\", \"constant\", \"integers\" or a kernel");
    }
    if (const auto constant = cursor.optional("constant")) {
      out.fill = FillKind::kConstant;
      out.first = constant->number();
    } else if (const auto integers = cursor.optional("integers")) {
      out.fill = FillKind::kIntegers;
      const std::vector<Expression> ends = expressions(*integers, 2, 2);
      if (ends.size() == 2) out.lowest = ends[0], out.highest = ends[1];
    } else if (const auto by = cursor.optional("kernel")) {
      out.fill = FillKind::kKernel;
      out.kernel = kernel(*by, true);
    } else if (const auto linked = cursor.optional("linked")) {
      out.fill = FillKind::kLinked;
      const std::string with = linked->string();
      linked_.push_back({*linked, with, out.name});
    }
  }

  [[nodiscard]] std::size_t buffer_named(const JsonCursor& cursor, bool is_output) const {
    std::vector<std::string_view> words;
    for (const BufferSpec& candidate : definition_.buffers) {
      const bool output = candidate.role == BufferRole::kOut || candidate.role == BufferRole::kInOut;
      if (!is_output || output) words.push_back(candidate.name);
    }
    return place_of(cursor.choice(words)).value_or(0);
  }

  [[nodiscard]] ReferenceArgumentSpec argument(const JsonCursor& cursor, bool is_fill) const {
    using Kind = ReferenceArgumentKind;
    cursor.expect_fields({"buffer", "value", "scale", "result", "int64", "float32", "rounding", "seed"});
    ReferenceArgumentSpec out;
    if (!cursor.value().is_object() || cursor.value().size() != 1) {
      cursor.problem("an argument has exactly one of buffer, value, scale, result, int64, float32, rounding and seed");
      return out;
    }
    if (const auto buffer = cursor.optional("buffer")) {
      out.kind = Kind::kBuffer;
      out.buffer = buffer_named(*buffer, false);
    } else if (const auto int64 = cursor.optional("int64")) {
      out.kind = Kind::kInt64;
      out.expression = names_.read(*int64, Reach::kProblem);
    } else if (const auto float32 = cursor.optional("float32")) {
      out.kind = Kind::kFloat32;
      std::vector<std::string_view> words;
      for (const NamedScalar& scalar : definition_.scalars) words.push_back(scalar.name);
      out.scalar = float32->choice(words);
    } else if (const auto rounding = cursor.optional("rounding")) {
      out.kind = Kind::kFloat64;
      out.buffer = buffer_named(*rounding, true);
      if (is_fill || definition_.buffers[out.buffer].error.rule != ErrorRule::kSum)
        rounding->problem("it is a reference's, of an output whose error is a sum's");
    } else if (const auto seed = cursor.optional("seed")) {
      out.kind = Kind::kSeed;
      if (!is_fill) seed->problem("a reference has no seed: equal inputs have equal results");
      if (seed->value() != true) seed->problem("it is given as true");
    }
    for (const Kind kind : {Kind::kValue, Kind::kScale, Kind::kResult}) {
      const auto output = cursor.optional(to_string(kind));
      if (!output) continue;
      out.kind = kind;
      if (is_fill) output->problem("only the reference writes right values and their scales, and judges results");
      out.buffer = buffer_named(*output, true);
      if (kind == Kind::kResult && definition_.buffers[out.buffer].error.rule != ErrorRule::kResidual)
        output->problem("it is of an output whose error is a residual");
    }
    return out;
  }

 public:
  /// A buffer that is filled with another one is an argument of that one's kernel.
  void check_links() const {
    for (const Link& link : linked_) {
      const auto with = std::find_if(definition_.buffers.begin(), definition_.buffers.end(),
                                     [&](const BufferSpec& candidate) { return candidate.name == link.with; });
      const auto writes = [&](const ReferenceArgumentSpec& argument) {
        return argument.kind == ReferenceArgumentKind::kBuffer &&
               definition_.buffers[argument.buffer].name == link.buffer;
      };
      if (with == definition_.buffers.end() || !with->kernel ||
          std::none_of(with->kernel->arguments.begin(), with->kernel->arguments.end(), writes))
        link.cursor.problem(
            fmt::format("'{}' is no buffer that a kernel fills which is given '{}' too", link.with, link.buffer));
    }
  }

 private:
  struct Link {
    JsonCursor cursor;
    std::string with, buffer;
  };

  const KnownNames& names_;
  OperationDefinition& definition_;
  mutable std::vector<Link> linked_;
};

}  // namespace

bool ReferenceKernelSpec::names(ReferenceArgumentKind kind, std::size_t buffer) const {
  return std::any_of(arguments.begin(), arguments.end(), [&](const ReferenceArgumentSpec& argument) {
    return argument.kind == kind && argument.buffer == buffer;
  });
}

bool ReferenceKernelSpec::judges_result() const {
  return std::any_of(arguments.begin(), arguments.end(), [](const ReferenceArgumentSpec& argument) {
    return argument.kind == ReferenceArgumentKind::kResult;
  });
}

void read_buffers(const JsonCursor& root, KnownNames& names, OperationDefinition& definition) {
  Reader reader(names, definition);
  const auto elements = root.required("buffers").elements(1, kMaxBuffers);
  // Kernels that fill a buffer may be given any of them, so all names come first.
  for (const JsonCursor& element : elements) definition.buffers.emplace_back().name = element.required("name").string();
  announce_pointers(root, definition);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    definition.buffers[i] = reader.buffer(elements[i], i);
    names.add(alignment_name(definition.buffers[i].name), NameKind::kDerived, elements[i]);
  }
  reader.check_links();
}

namespace {

/// A kernel that is given a result writes residuals, and no others write their scale.
void check_outputs_of(const ReferenceKernelSpec& kernel, const JsonCursor& cursor,
                      const OperationDefinition& definition) {
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    const BufferSpec& buffer = definition.buffers[i];
    const bool of_residual = buffer.error.rule == ErrorRule::kResidual;
    const bool scale = kernel.names(ReferenceArgumentKind::kScale, i);
    if (kernel.judges_result() && !of_residual && (scale || kernel.names(ReferenceArgumentKind::kValue, i)))
      cursor.problem(fmt::format("it is given a result, and what is right in '{}' cannot depend on that", buffer.name));
    if (!kernel.judges_result() && of_residual && scale)
      cursor.problem(fmt::format(
          "the scale of a residual is written by the kernel that is given {{\"result\": \"{}\"}}", buffer.name));
  }
}

}  // namespace

void read_reference(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  const JsonCursor cursor = root.required("reference");
  cursor.expect_fields({"source", "kernels"});
  static_cast<void>(cursor.required("source").string());
  const Reader reader(names, definition);
  for (const JsonCursor& element : cursor.required("kernels").elements(1, kMaxKernels)) {
    definition.reference.push_back(reader.kernel(element, false));
    check_outputs_of(definition.reference.back(), element, definition);
  }
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    const BufferSpec& buffer = definition.buffers[i];
    if (buffer.role != BufferRole::kOut && buffer.role != BufferRole::kInOut) continue;
    const bool of_residual = buffer.error.rule == ErrorRule::kResidual;
    const auto written = [&](ReferenceArgumentKind kind, bool by_judge) {
      return std::any_of(definition.reference.begin(), definition.reference.end(), [&](const auto& kernel) {
        return kernel.judges_result() == by_judge && kernel.names(kind, i);
      });
    };
    if (!written(ReferenceArgumentKind::kValue, false))
      cursor.problem(fmt::format("no kernel is given {{\"value\": \"{}\"}}{}, so nobody says what is right there",
                                 buffer.name, of_residual ? " without a result" : ""));
    if (of_residual && !written(ReferenceArgumentKind::kValue, true))
      cursor.problem(fmt::format(
          "no kernel is given {{\"result\": \"{0}\"}} and {{\"value\": \"{0}\"}}, so nobody writes residuals of '{0}'",
          buffer.name));
    if (needs_scale(buffer.error) && !written(ReferenceArgumentKind::kScale, of_residual))
      cursor.problem(fmt::format("the error of '{0}' is in units of a scale: give a kernel {{\"scale\": \"{0}\"}}{1}",
                                 buffer.name, of_residual ? " beside the result" : ""));
  }
}

void read_lesser(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  const auto cursor = root.optional("lesser");
  if (!cursor) return;
  cursor->expect_fields({"when", "sizes"});
  LesserSpec out;
  out.when = names.read(cursor->required("when"), Reach::kProblem);
  std::vector<std::string_view> words;
  for (const Dimension& dimension : definition.dimensions) words.push_back(dimension.name);
  for (const JsonCursor& element : cursor->required("sizes").elements(1, definition.dimensions.size())) {
    element.expect_fields({"name", "expr"});
    out.sizes.push_back(
        {element.required("name").choice(words), names.read(element.required("expr"), Reach::kProblem)});
  }
  definition.lesser = std::move(out);
}

bool speaks_of_products(const JsonCursor& root) {
  const auto& document = root.value();
  if (!document.is_object() || !document.contains("buffers") || !document["buffers"].is_array()) return false;
  const auto& buffers = document["buffers"];
  return std::any_of(buffers.begin(), buffers.end(), [](const auto& buffer) {
    if (!buffer.is_object() || !buffer.contains("type") || !buffer["type"].is_string()) return false;
    const auto& word = buffer["type"].template get_ref<const std::string&>();
    return word == kRightWord || word == kOutputWord;
  });
}

void read_cases(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  const Reader reader(names, definition);
  for (const JsonCursor& element : root.optional_elements("cases", kMaxCases))
    definition.cases.push_back(reader.fill_case(element));
}

}  // namespace pgtune::operation
