// SPDX-License-Identifier: MIT
#include "tuner/model/library_product.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tuner/model/operation_problem.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<BaselineLibrary, 2> kLibraries{
    {{BaselineLibrary::kCublasLt, "cublaslt"}, {BaselineLibrary::kCublas, "cublas"}}};

/// Why it is no product; empty where it is one.
using Objection = std::string;

const OperationBuffer& buffer(const OperationProblem& problem, std::int64_t index) {
  return problem.buffers[static_cast<std::size_t>(index)];
}

/// Of a dimension counted from the last one, 0.
std::int64_t extent(const OperationBuffer& of, std::size_t from_last) {
  return of.extents[of.extents.size() - 1 - from_last];
}
std::int64_t stride(const OperationBuffer& of, std::size_t from_last) {
  return of.strides[of.strides.size() - 1 - from_last];
}

std::int64_t blocks(std::int64_t elements) { return (elements + kScaledBlock - 1) / kScaledBlock; }

Objection wrong_role(const OperationProblem& problem, std::int64_t index, BufferRole role,
                     std::optional<ElementType> type, std::string_view what) {
  if (index < 0 || index >= static_cast<std::int64_t>(problem.buffers.size()))
    return fmt::format("{} is no buffer of the operation", what);
  const OperationBuffer& found = buffer(problem, index);
  if (found.role != role)
    return fmt::format("{} is {}, which has the role {} and not {}", what, found.name, to_string(found.role),
                       to_string(role));
  if (found.pointers) return fmt::format("{} is {}, which holds pointers", what, found.name);
  if (type && found.type != *type)
    return fmt::format("{} is {}, whose type is {} and not {}", what, found.name, to_string(found.type),
                       to_string(*type));
  return {};
}

Objection wrong_buffers(const LibraryProduct& p, const OperationProblem& problem) {
  constexpr auto kFactors = ElementType::kFloat32, kCounts = ElementType::kInt32;
  const auto optional = [&](const std::optional<std::int64_t>& index, ElementType type, std::string_view what) {
    return index ? wrong_role(problem, *index, BufferRole::kIn, type, what) : Objection();
  };
  for (Objection objection :
       {wrong_role(problem, p.a, BufferRole::kIn, std::nullopt, "\"a\""),
        wrong_role(problem, p.b, BufferRole::kIn, std::nullopt, "\"b\""),
        wrong_role(problem, p.d, BufferRole::kOut, std::nullopt, "\"d\""), optional(p.scale_a, kFactors, "\"scale_a\""),
        optional(p.scale_b, kFactors, "\"scale_b\""), optional(p.offsets, kCounts, "\"offsets\""),
        optional(p.rows, kCounts, "\"rows\"")}) {
    if (!objection.empty()) return objection;
  }
  if (p.scale_a.has_value() != p.scale_b.has_value()) return "\"scale_a\" and \"scale_b\" come together";
  if (p.offsets && p.rows) return "groups have \"offsets\" or \"rows\", not both";
  const auto outputs = std::count_if(problem.buffers.begin(), problem.buffers.end(),
                                     [](const OperationBuffer& output) { return output.is_output(); });
  if (outputs != 1) return fmt::format("the operation has {} outputs, and a product one", outputs);
  return {};
}

Objection wrong_extents(const OperationProblem& problem, std::int64_t index, const std::vector<std::int64_t>& wanted,
                        std::string_view meaning) {
  const OperationBuffer& found = buffer(problem, index);
  if (found.extents == wanted) return {};
  return fmt::format("{} has the extents {} and not {}, which are {}", found.name, fmt::join(found.extents, " x "),
                     fmt::join(wanted, " x "), meaning);
}

/// As many products as A has matrices, all of one size: a dimension more, and nothing that says how many rows count.
bool is_batch(const LibraryProduct& p, const OperationProblem& problem) {
  return !p.rows && !p.offsets && buffer(problem, p.a).extents.size() == 3;
}

Objection wrong_shapes(const LibraryProduct& p, const OperationProblem& problem) {
  const bool batch = is_batch(p, problem);
  const std::size_t of_a = p.rows || batch ? 3 : 2, of_b = p.rows || p.offsets || batch ? 3 : 2;
  for (const auto& [index, rank] : {std::pair{p.a, of_a}, std::pair{p.d, of_a}, std::pair{p.b, of_b}}) {
    if (buffer(problem, index).extents.size() != rank)
      return fmt::format(
          "{} has {} dimensions and not {}: matrices have two, B of groups (which say \"offsets\" or \"rows\") three, "
          "and with \"rows\" or as a batch all three have three",
          buffer(problem, index).name, buffer(problem, index).extents.size(), rank);
  }
  const ProductGeometry g = product_geometry(p, problem);
  const auto extents = [&](std::size_t rank, std::int64_t rows, std::int64_t columns) {
    std::vector<std::int64_t> out{rows, columns};
    if (rank == 3) out.insert(out.begin(), g.groups);
    return out;
  };
  for (Objection objection :
       {wrong_extents(problem, p.a, extents(of_a, g.rows, g.depth), "rows and K"),
        wrong_extents(problem, p.b, extents(of_b, g.columns, g.depth), "columns and K"),
        wrong_extents(problem, p.d, extents(of_a, g.rows, g.columns), "rows and columns"),
        p.scale_a ? wrong_extents(problem, *p.scale_a, extents(of_a, g.rows, blocks(g.depth)), "rows and blocks of K")
                  : Objection(),
        p.scale_b ? wrong_extents(problem, *p.scale_b, extents(of_b, blocks(g.columns), blocks(g.depth)),
                                  "blocks of columns and blocks of K")
                  : Objection(),
        p.offsets ? wrong_extents(problem, *p.offsets, {g.groups + 1}, "groups and one more") : Objection(),
        p.rows ? wrong_extents(problem, *p.rows, {g.groups}, "groups") : Objection()}) {
    if (!objection.empty()) return objection;
  }
  return {};
}

std::optional<Dtype> dtype_of(const OperationBuffer& a, const OperationBuffer& b, const OperationBuffer& d) {
  for (const Dtype dtype : all_dtypes()) {
    const auto outputs = output_types(dtype);
    if (type_of_a(dtype) == a.type && type_of_b(dtype) == b.type &&
        std::find(outputs.begin(), outputs.end(), d.type) != outputs.end())
      return dtype;
  }
  return std::nullopt;
}

tl::unexpected<Error> refused(const LibraryProduct& product, const std::string& why) {
  return fail(ErrorKind::kUsage, fmt::format("baseline {}: {}", to_string(product.library), why));
}

}  // namespace

EnumTable<BaselineLibrary> enum_table(BaselineLibrary /*library*/) { return kLibraries; }

ProductGeometry product_geometry(const LibraryProduct& product, const OperationProblem& problem) {
  const OperationBuffer &a = buffer(problem, product.a), &b = buffer(problem, product.b),
                        &d = buffer(problem, product.d);
  ProductGeometry out{.rows = extent(a, 1),
                      .columns = extent(b, 1),
                      .depth = extent(a, 0),
                      .row_a = stride(a, 1),
                      .row_d = stride(d, 1)};
  if (b.extents.size() > 2) {
    out.groups = extent(b, 2);
    out.group_b = stride(b, 2);
  }
  if (a.extents.size() > 2) out.group_a = stride(a, 2);
  if (d.extents.size() > 2) out.group_d = stride(d, 2);
  return out;
}

Result<Problem> gemm_of(const LibraryProduct& product, const OperationProblem& problem, std::int64_t rows) {
  const OperationBuffer &a = buffer(problem, product.a), &b = buffer(problem, product.b),
                        &d = buffer(problem, product.d);
  const ProductGeometry geometry = product_geometry(product, problem);
  const auto dtype = dtype_of(a, b, d);
  if (!dtype)
    return refused(product, fmt::format("there is no product of {} and {} that is {}", to_string(a.type),
                                        to_string(b.type), to_string(d.type)));
  Problem gemm{.m = rows, .n = geometry.columns, .k = geometry.depth, .dtype = *dtype, .output = d.type};
  if (gemm.has_usual_output()) gemm.output.reset();
  // A dimension of one element may have any stride.
  const auto contiguous = [](const OperationBuffer& of, std::size_t dimension) {
    return stride(of, dimension) == 1 || extent(of, dimension) == 1;
  };
  gemm.trans_a = !contiguous(a, 0);
  gemm.trans_b = contiguous(b, 0);
  for (const OperationBuffer* operand : {&a, &b}) {
    if (!contiguous(*operand, 0) && !contiguous(*operand, 1))
      return refused(product, fmt::format("{} has neither rows nor columns of neighbours in memory", operand->name));
  }
  if (!contiguous(d, 0)) return refused(product, fmt::format("{} has no rows of neighbours in memory", d.name));
  gemm.lda = std::max(stride(a, gemm.trans_a ? 0 : 1), gemm.columns_a());
  gemm.ldb = std::max(stride(b, gemm.trans_b ? 1 : 0), gemm.columns_b());
  gemm.ldc = std::max(stride(d, 1), gemm.n);
  if (is_batch(product, problem) && geometry.groups > 1) {
    gemm.batch = geometry.groups;
    for (const auto& [operand, wanted] :
         {std::pair{&a, gemm.stride_a()}, std::pair{&b, gemm.stride_b()}, std::pair{&d, gemm.stride_c()}}) {
      if (stride(*operand, 2) != wanted)
        return refused(product, fmt::format("{} has a matrix of its batch every {} elements and not every {}, behind "
                                            "the last row of the one before",
                                            operand->name, stride(*operand, 2), wanted));
    }
  }
  auto checked = with_default_strides(gemm);
  if (!checked) return refused(product, checked.error().text());
  return checked;
}

Result<void> check_library_product(const LibraryProduct& product, const OperationProblem& problem) {
  for (const auto& find : {wrong_buffers, wrong_shapes}) {
    if (const Objection objection = find(product, problem); !objection.empty()) return refused(product, objection);
  }
  if (product.library == BaselineLibrary::kCublas) {
    if (!product.offsets && !product.rows)
      return refused(product, "it multiplies groups, which \"offsets\" or \"rows\" say; take cublaslt for one product");
    if (product.is_scaled()) return refused(product, "its grouped products have no scales; take cublaslt for these");
  }
  if (product.is_scaled()) {
    if (is_batch(product, problem))
      return refused(product, "a batch has no scales; take groups with \"rows\" for these");
    for (const std::int64_t index : {product.a, product.b}) {
      if (element_bytes(buffer(problem, index).type) != 1)
        return refused(product, fmt::format("{} has scales, which belong to 8-bit floats, and is {}",
                                            buffer(problem, index).name, to_string(buffer(problem, index).type)));
    }
  }
  const std::int64_t rows = buffer(problem, product.a).extents.rbegin()[1];
  return gemm_of(product, problem, rows).map([](const Problem&) {});
}

}  // namespace pgtune
