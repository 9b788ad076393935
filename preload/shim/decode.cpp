// SPDX-License-Identifier: MIT
#include "preload/shim/decode.hpp"

#include "preload/shim/real.hpp"

namespace pgtune::preload {
namespace {

#define PGTUNE_OF_BOTH(library, name)                                \
  {                                                                  \
    {"lib" library ".so.12", name}, { "lib" library ".so.13", name } \
  }
RealFunction get_stream[] = PGTUNE_OF_BOTH("cublas", "cublasGetStream_v2");
RealFunction get_pointer_mode[] = PGTUNE_OF_BOTH("cublas", "cublasGetPointerMode_v2");
RealFunction get_math_mode[] = PGTUNE_OF_BOTH("cublas", "cublasGetMathMode");
RealFunction get_sm_count_target[] = PGTUNE_OF_BOTH("cublas", "cublasGetSmCountTarget");
RealFunction get_lt_attribute[] = PGTUNE_OF_BOTH("cublasLt", "cublasLtMatmulDescGetAttribute");
RealFunction get_lt_layout[] = PGTUNE_OF_BOTH("cublasLt", "cublasLtMatrixLayoutGetAttribute");
#undef PGTUNE_OF_BOTH

int handle_value(RealFunction* getters, Major major, Handle handle, int otherwise) {
  auto* const get = getters[static_cast<int>(major)].get<int(Handle, int*)>();
  int value = otherwise;
  return get != nullptr && get(handle, &value) == kSuccess ? value : otherwise;
}

/// A cublasLt descriptor.
class LtDescriptor {
 public:
  LtDescriptor(RealFunction* getters, Major major, const void* descriptor)
      : get_(getters[static_cast<int>(major)].get<Get>()), descriptor_(descriptor) {}

  /// One attribute; what the library does not know is 0.
  template <typename Value>
  Value value(int attribute) const {
    Value value = {};
    std::size_t written = 0;
    const bool known = get_ != nullptr && get_(descriptor_, attribute, &value, sizeof value, &written) == kSuccess;
    return known ? value : Value{};
  }

 private:
  using Get = int(const void*, int, void*, std::size_t, std::size_t*);
  Get* get_;
  const void* descriptor_;
};

bool is_complex(int type) { return type == kC32F || type == kC64F; }

struct LtLayout {
  std::int64_t rows, cols, ld, stride;
  int type, batch;
  bool plain;  ///< column-major, nothing special
};

LtLayout lt_layout(Major major, const void* descriptor) {
  const LtDescriptor layout(get_lt_layout, major, descriptor);
  LtLayout out{};
  out.rows = layout.value<std::int64_t>(kLtRows);
  out.cols = layout.value<std::int64_t>(kLtCols);
  out.ld = layout.value<std::int64_t>(kLtLd);
  out.type = layout.value<int>(kLtType);
  out.batch = layout.value<int>(kLtBatchCount);
  if (out.batch != 1) out.stride = layout.value<std::int64_t>(kLtBatchStride);
  out.plain = layout.value<int>(kLtOrder) == 0 && layout.value<int>(kLtBatchMode) == 0 &&
              (!is_complex(out.type) || layout.value<std::int64_t>(kLtPlaneOffset) == 0);
  return out;
}

void read_scalars(Key& key, const void* alpha, const void* beta) {
  if (key.compute == kCompute32I) {
    key.alpha = static_cast<float>(*static_cast<const std::int32_t*>(alpha));
    key.beta = static_cast<float>(*static_cast<const std::int32_t*>(beta));
  } else if (key.compute >= kCompute32F && key.compute != kCompute64F && key.compute <= kCompute32FFastTf32) {
    key.alpha = *static_cast<const float*>(alpha);
    key.beta = *static_cast<const float*>(beta);
  }
}

/// A and B change places: row-major, they are transposed.
void set_operations(Key& key, int op_a, int op_b) {
  key.trans_a = op_b != kOpN;
  key.trans_b = op_a != kOpN;
  if (is_complex(key.type_d) && (op_a == kOpC || op_b == kOpC)) key.flags |= kConjugate;
}

}  // namespace

Stream stream_of(Major major, Handle handle) {
  auto* const get = get_stream[static_cast<int>(major)].get<int(Handle, Stream*)>();
  Stream stream = nullptr;
  if (get != nullptr) get(handle, &stream);
  return stream;
}

const void* bias_of(Major major, const LtArguments& call) {
  return LtDescriptor(get_lt_attribute, major, call.desc).value<const void*>(kLtBiasPointer);
}

Key key_of(Major major, const BlasArguments& call) {
  Key key;
  key.call = call.call;
  key.m = call.n, key.n = call.m, key.k = call.k;
  key.lda = call.ldb, key.ldb = call.lda, key.ldc = call.ldc;
  key.batch = call.batch;
  if (call.batch != 1) key.stride_a = call.stride_b, key.stride_b = call.stride_a, key.stride_c = call.stride_c;
  key.type_a = static_cast<std::uint8_t>(call.type_b);
  key.type_b = static_cast<std::uint8_t>(call.type_a);
  key.type_d = key.bias_type = static_cast<std::uint8_t>(call.type_c);
  key.compute = static_cast<std::uint8_t>(call.compute);
  key.math = static_cast<std::uint8_t>(handle_value(get_math_mode, major, call.handle, 0));
  set_operations(key, call.op_a, call.op_b);
  if (handle_value(get_pointer_mode, major, call.handle, 0) != 0) key.flags |= kDeviceScalars;
  if (handle_value(get_sm_count_target, major, call.handle, 0) != 0) key.flags |= kLimitedSms;
  if ((key.flags & kDeviceScalars) == 0 && call.alpha != nullptr) read_scalars(key, call.alpha, call.beta);
  return key;
}

Key key_of(Major major, const LtArguments& call) {
  const LtDescriptor desc(get_lt_attribute, major, call.desc);
  const auto any_pointer = [&](auto... attributes) {
    return ((desc.value<const void*>(attributes) != nullptr) || ...);
  };
  const LtLayout a = lt_layout(major, call.a_layout), b = lt_layout(major, call.b_layout),
                 d = lt_layout(major, call.d_layout);
  Key key;
  key.call = Call::kLtMatmul;
  const int op_a = desc.value<int>(kLtTransA), op_b = desc.value<int>(kLtTransB);
  key.m = d.cols, key.n = d.rows, key.k = op_a == kOpN ? a.cols : a.rows;
  key.lda = b.ld, key.ldb = a.ld, key.ldc = d.ld;
  key.batch = d.batch;
  if (d.batch != 1) key.stride_a = b.stride, key.stride_b = a.stride, key.stride_c = d.stride;
  key.type_a = static_cast<std::uint8_t>(b.type);
  key.type_b = static_cast<std::uint8_t>(a.type);
  key.type_d = key.bias_type = static_cast<std::uint8_t>(d.type);
  key.compute = static_cast<std::uint8_t>(desc.value<int>(kLtComputeType));
  set_operations(key, op_a, op_b);
  key.epilogue = static_cast<std::uint16_t>(desc.value<int>(kLtEpilogue));
  if ((key.epilogue & kLtBias) != 0) {
    const int type = desc.value<int>(kLtBiasDataType);
    if (type >= 0) key.bias_type = static_cast<std::uint8_t>(type);
  }
  if (desc.value<int>(kLtPointerMode) != 0) key.flags |= kDeviceScalars;
  if (!a.plain || !b.plain || !d.plain) key.flags |= kOtherOrder;
  if (any_pointer(kLtAScalePointer, kLtBScalePointer, kLtCScalePointer, kLtDScalePointer, kLtDOutScalePointer))
    key.flags |= kScaled;
  const bool eight_bit_floats = a.type >= kE4M3;
  if (eight_bit_floats && desc.value<std::int8_t>(kLtFastAccum) == 0) key.flags |= kExactSums;
  if (desc.value<int>(kLtTransC) != 0 || desc.value<int>(kLtFillMode) != kLtFull ||
      desc.value<std::int64_t>(kLtBiasBatchStride) != 0 || a.batch != d.batch || b.batch != d.batch ||
      any_pointer(kLtEpilogueAuxPointer, kLtAmaxDPointer, kLtEmulationDescriptor))
    key.flags |= kUnusual;
  if (desc.value<int>(kLtSmCountTarget) != 0) key.flags |= kLimitedSms;
  if ((key.flags & kDeviceScalars) == 0) read_scalars(key, call.alpha, call.beta);
  if (key.beta != 0 || (key.flags & kDeviceScalars) != 0) {
    const LtLayout c = lt_layout(major, call.c_layout);
    if (c.type != d.type || c.ld != d.ld || c.rows != d.rows || c.cols != d.cols || !c.plain || c.stride != d.stride ||
        c.batch != d.batch)
      key.flags |= kOtherC;
  }
  return key;
}

}  // namespace pgtune::preload
