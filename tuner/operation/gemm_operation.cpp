// SPDX-License-Identifier: MIT
#include "tuner/operation/gemm_operation.hpp"

#include <algorithm>

#include "pgtune_gemm_operation.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

constexpr std::string_view kFile = "gemm.json";

Result<std::string> read_embedded(std::string_view name) {
  const auto files = embedded::pgtune_gemm_operation();
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.path == name; });
  if (found == files.end()) return fail(ErrorKind::kInternal, "no file '" + std::string(name) + "' is built in");
  return std::string(found->contents);
}

Result<OperationDefinition> read_definition() {
  TRY_ASSIGN(const auto text, read_embedded(kFile));
  return parse_operation(text, std::string(kFile), read_embedded, kGemmName);
}

}  // namespace

const Result<OperationDefinition>& gemm_definition() {
  static const Result<OperationDefinition> definition = read_definition();
  return definition;
}

Result<Problem> with_operation(Problem problem) {
  if (problem.operation) return problem;
  const Result<OperationDefinition>& definition = gemm_definition();
  if (!definition) return tl::unexpected<Error>(definition.error());
  const Problem& p = problem;
  const std::vector<NamedValue> sizes{{"M", p.m},
                                      {"N", p.n},
                                      {"K", p.k},
                                      {"BATCH", p.batch},
                                      {"TRANS_A", p.trans_a ? 1 : 0},
                                      {"TRANS_B", p.trans_b ? 1 : 0},
                                      {"LDA", p.lda},
                                      {"LDB", p.ldb},
                                      {"LDC", p.ldc},
                                      {"HAS_ADDEND", p.beta != 0 ? 1 : 0},
                                      {"HAS_BIAS", p.epilogue.bias ? 1 : 0},
                                      {"ACTIVATION", label_value(to_string(p.epilogue.activation))}};
  auto numbers =
      make_operation_problem(*definition, sizes, {p.dtype, p.type_of_c(), {{"alpha", p.alpha}, {"beta", p.beta}}});
  if (!numbers) return fail(std::move(numbers.error()), problem.title());
  if (auto sound = check_operation_problem(*numbers); !sound) return fail(std::move(sound.error()), problem.title());
  problem.operation = OperationHandle(std::move(*numbers));
  return problem;
}

const GemmBaseline* gemm_baseline(const Problem& problem) {
  if (problem.operation) return problem.operation->gemm_baseline();
  const Result<OperationDefinition>& definition = gemm_definition();
  return definition ? find_gemm_baseline(definition->baselines) : nullptr;
}

}  // namespace pgtune::operation
