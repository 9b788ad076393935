// SPDX-License-Identifier: MIT
// Reads an operation's buffers, their fills, and the cases with other fills.
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
constexpr std::size_t kMaxCases = 16;

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
    out.role = cursor.required("role").choice_of<BufferRole>();
    out.extents = read_expressions(cursor.required("extents"), names_, 1, kMaxBufferRank);
    if (const auto strides = cursor.optional("strides"))
      out.strides = read_expressions(*strides, names_, out.extents.size(), out.extents.size());
    if (const auto align = cursor.optional("align")) out.alignment = read_alignment(*align);
    if (const auto fill = cursor.optional("fill")) {
      if (!out.is_input()) fill->problem("only inputs are filled: others hold a poison when a kernel is launched");
      read_fill(*fill, out);
    }
    if (const auto error = cursor.optional("error")) {
      if (!out.is_output()) error->problem("only outputs are compared with the reference");
      out.error = read_error(*error, names_, definition_);
    } else if (out.is_output()) {
      cursor.problem("an output says by \"error\" how far from the reference it may be");
    }
    read_presence(cursor, out);
    if (const auto room = cursor.optional("room")) out.room = names_.read(*room, Reach::kProblem);
    if (const auto stream = cursor.optional("stream")) {
      out.stream = stream->integer();
      if (!out.is_input()) stream->problem("only inputs are filled");
      if (*out.stream < 0 || *out.stream >= kFillStreams)
        stream->problem(fmt::format("there are the streams 0 to {}", kFillStreams - 1));
    }
    if (const auto called = cursor.optional("called")) out.called = called->string();
    if (const auto padding = cursor.optional("padding")) {
      out.padding = padding->string();
      if (!out.is_output()) padding->problem("it is of outputs, which have padding that launches leave alone");
    }
    if (const auto first = cursor.optional("first_index")) {
      out.first_index = first->string();
      if (!out.is_output() || out.extents.size() < 2) first->problem("it is of outputs with two indices or more");
    }
    return out;
  }

  [[nodiscard]] CaseSpec fill_case(const JsonCursor& cursor) const {
    cursor.expect_fields({"name", "fills"});
    CaseSpec out;
    out.name = cursor.required("name").string();
    const auto may_be = [](const BufferSpec& buffer) { return buffer.role == BufferRole::kIn && !buffer.pointers; };
    for (const JsonCursor& element : cursor.required("fills").elements(1, kMaxBuffers)) {
      element.expect_fields({"buffer", "fill"});
      const auto place = buffer_at(element.required("buffer"), definition_, may_be);
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

  /// A linked buffer must be an argument of the kernel that fills the other buffer.
  void check_links() const {
    for (const Link& link : linked_) {
      const auto place = place_of(definition_, link.with);
      const BufferSpec* const with = place ? &definition_.buffers[*place] : nullptr;
      const auto writes = [&](const ReferenceArgumentSpec& argument) {
        return argument.kind == ReferenceArgumentKind::kBuffer &&
               definition_.buffers[argument.buffer].name == link.buffer;
      };
      if (with == nullptr || !with->kernel ||
          std::none_of(with->kernel->arguments.begin(), with->kernel->arguments.end(), writes))
        link.cursor.problem(
            fmt::format("'{}' is no buffer that a kernel fills which is given '{}' too", link.with, link.buffer));
    }
  }

 private:
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
    out.instead = buffer_at(*instead, definition_, [&](const BufferSpec& candidate) {
      return candidate.name != out.name && !candidate.pointers;
    });
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
      const std::vector<Expression> ends = read_expressions(*integers, names_, 2, 2);
      if (ends.size() == 2) out.lowest = ends[0], out.highest = ends[1];
    } else if (const auto by = cursor.optional("kernel")) {
      out.fill = FillKind::kKernel;
      out.kernel = read_kernel(*by, names_, definition_, true);
    } else if (const auto linked = cursor.optional("linked")) {
      out.fill = FillKind::kLinked;
      const std::string with = linked->string();
      linked_.push_back({*linked, with, out.name});
    }
  }

  struct Link {
    JsonCursor cursor;
    std::string with, buffer;
  };

  const KnownNames& names_;
  OperationDefinition& definition_;
  mutable std::vector<Link> linked_;
};

}  // namespace

std::int64_t read_alignment(const JsonCursor& cursor) {
  const std::int64_t alignment = cursor.integer();
  if (alignment < 1 || alignment > 256 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
    cursor.problem("an alignment is a power of two up to 256, in bytes");
  return alignment;
}

void read_buffers(const JsonCursor& root, KnownNames& names, OperationDefinition& definition) {
  Reader reader(names, definition);
  const auto elements = root.required("buffers").elements(1, kMaxBuffers);
  // A fill's kernel may take any buffer, so all names are read first.
  for (const JsonCursor& element : elements) definition.buffers.emplace_back().name = element.required("name").string();
  announce_pointers(root, definition);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    definition.buffers[i] = reader.buffer(elements[i], i);
    names.add(alignment_name(definition.buffers[i].name), NameKind::kDerived, elements[i]);
  }
  reader.check_links();
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
    const auto type = buffer.find("type");
    if (type == buffer.end() || !type->is_string()) return false;
    const auto& word = type->template get_ref<const std::string&>();
    return word == kRightWord || word == kOutputWord;
  });
}

void read_cases(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  const Reader reader(names, definition);
  for (const JsonCursor& element : root.optional_elements("cases", kMaxCases))
    definition.cases.push_back(reader.fill_case(element));
}

}  // namespace pgtune::operation
