// SPDX-License-Identifier: MIT
#include "preload/shim/check.hpp"

#include <sys/mman.h>

#include "preload/shim/ledger_format.hpp"
#include "preload/shim/real.hpp"
#include "preload/shim/relaxed_capture.hpp"

namespace pgtune::preload {
namespace {

using Address = std::uint64_t;  // CUdeviceptr

constexpr const char* kDriver = "libcuda.so.1";
RealFunction allocate{kDriver, "cuMemAlloc_v2"}, release{kDriver, "cuMemFree_v2"}, fill{kDriver, "cuMemsetD8Async"},
    read{kDriver, "cuMemcpyDtoH_v2"}, synchronize{kDriver, "cuStreamSynchronize"};

Address address_of(const void* pointer) { return static_cast<Address>(reinterpret_cast<std::uintptr_t>(pointer)); }

bool copy(void* to, const void* from, std::size_t bytes) {
  auto* const function = read.get<int(void*, Address, std::size_t)>();
  return function != nullptr && function(to, address_of(from), bytes) == 0;
}

bool wait_for(Stream stream) {
  auto* const function = synchronize.get<int(Stream)>();
  return function != nullptr && function(stream) == 0;
}

/// 0: pgtune cannot read it here.
std::size_t bytes_of(int type) {
  return type == kR32F || type == kR32I ? 4 : type == kR16F || type == kR16BF ? 2 : type == kR8I ? 1 : 0;
}

double value_of(int type, const unsigned char* raw) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, raw, bytes_of(type));
  if (type == kR32I) return static_cast<std::int32_t>(bits);
  if (type == kR8I) return static_cast<std::int8_t>(bits);
  if (type == kR16BF) bits <<= 16U;
  if (type == kR16F) {
    const std::uint32_t sign = (bits & 0x8000U) << 16U, exponent = (bits >> 10U) & 31U, mantissa = bits & 0x3FFU;
    if (exponent == 0) return (sign != 0 ? -1.0 : 1.0) * mantissa * 0x1p-24;
    bits = sign | (exponent == 31 ? 0x7F800000U : (exponent + 112) << 23U) | mantissa << 13U;
  }
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

double magnitude(double value) { return value < 0 ? -value : value; }

/// Where an element lies, and what it is made of.
struct Element {
  std::int64_t batch, row, column;
};
Element element_of(const Key& key, int number) {
  // Spread over the matrix, with the last element among them.
  const auto pick = [&](std::int64_t extent, std::uint64_t salt) {
    if (number == 0) return extent - 1;
    const std::uint64_t mixed = (static_cast<std::uint64_t>(number) + salt) * 0x9E3779B97F4A7C15U;
    return static_cast<std::int64_t>((mixed >> 33U) % static_cast<std::uint64_t>(extent));
  };
  return {pick(key.batch, 1), pick(key.m, 1000), pick(key.n, 1'000'000)};
}

std::size_t place_of_d(const Key& key, const Element& at) {
  return static_cast<std::size_t>(at.batch * key.stride_c + at.row * key.ldc + at.column);
}

/// Of operand A or B: where element 0 of the sum is, and how far the next one.
struct Line {
  std::size_t first, step;
};
Line line_of_a(const Key& key, const Element& at) {
  const std::int64_t start = at.batch * key.stride_a;
  return key.trans_a != 0 ? Line{static_cast<std::size_t>(start + at.row), static_cast<std::size_t>(key.lda)}
                          : Line{static_cast<std::size_t>(start + at.row * key.lda), 1};
}
Line line_of_b(const Key& key, const Element& at) {
  const std::int64_t start = at.batch * key.stride_b;
  return key.trans_b != 0 ? Line{static_cast<std::size_t>(start + at.column * key.ldb), 1}
                          : Line{static_cast<std::size_t>(start + at.column), static_cast<std::size_t>(key.ldb)};
}

/// The magnitudes of `count` elements in `to`, which has room for them.
bool read_line(const void* operand, int type, const Line& line, std::int64_t count, double* to) {
  const std::size_t bytes = bytes_of(type);
  const auto* const base = static_cast<const unsigned char*>(operand) + line.first * bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    constexpr std::int64_t kChunk = 4096;
    unsigned char raw[4 * kChunk];
    const std::int64_t in_chunk = line.step == 1 ? (count - i < kChunk ? count - i : kChunk) : 1;
    if (!copy(raw, base + static_cast<std::size_t>(i) * line.step * bytes, static_cast<std::size_t>(in_chunk) * bytes))
      return false;
    for (std::int64_t j = 0; j < in_chunk; ++j)
      to[i + j] = magnitude(value_of(type, raw + static_cast<std::size_t>(j) * bytes));
    i += in_chunk - 1;
  }
  return true;
}

bool read_element(const void* operand, int type, std::size_t number, double& value) {
  unsigned char raw[4] = {};
  if (!copy(raw, static_cast<const unsigned char*>(operand) + number * bytes_of(type), bytes_of(type))) return false;
  value = value_of(type, raw);
  return true;
}

/// docs/reference/accuracy.md, E. Tensor cores cut sums off.
double error_per_scale(const Key& key, Arithmetic arithmetic) {
  const double k = static_cast<double>(key.k), root = __builtin_sqrt(k);
  const double addition = arithmetic == Arithmetic::kF32 ? 0x1p-24 : 0x1p-23;
  const double product = arithmetic == Arithmetic::kTf32 ? 0x1p-9 : arithmetic == Arithmetic::kTf32x3 ? 0x1p-19 : 0;
  const double cancelled = 12.8 / root < 1 ? 12.8 / root : 1;
  const double slope = (key.epilogue & kLtGelu) != 0 ? 1.13 : 1;
  return slope * (2 * (root + 5) * addition + product * cancelled);
}

/// U and T there. cuBLAS may round before its epilogue, too.
double roundoff_of(int type) { return type == kR16F ? 0x1p-11 : type == kR16BF ? 0x1p-8 : 0; }

double least_error_of(int type) { return type == kR16F ? 0x1p-25 : 0x1p-126; }

bool same(const Key& key, Arithmetic arithmetic, double ours, double theirs, double scale) {
  if (ours != ours || theirs != theirs) return ours != ours && theirs != theirs;
  if (ours == theirs) return true;
  if (arithmetic == Arithmetic::kInt8) return false;
  const bool epilogue = key.epilogue != kLtDefault;
  const double bound = error_per_scale(key, arithmetic) * scale +
                       roundoff_of(key.type_d) * (magnitude(theirs) + (epilogue ? 2 * scale : 0)) +
                       least_error_of(key.type_d);
  return magnitude(ours - theirs) <= 2 * bound;
}

Verdict element_verdict(const Check& check, int number, double* magnitudes) {
  const Key& key = check.slot->key;
  const Element at = element_of(key, number);
  double ours = 0, theirs = 0, bias = 0, scale = key.beta == 0 ? 0 : magnitude(key.beta * check.c[number]);
  const std::size_t place = place_of_d(key, at);
  if (!read_element(check.scratch, key.type_d, place, ours) ||
      !read_element(check.operands.d, key.type_d, place, theirs))
    return Verdict::kNone;
  double *const a = magnitudes, *const b = magnitudes + key.k;
  if (!read_line(check.operands.a, key.type_a, line_of_a(key, at), key.k, a) ||
      !read_line(check.operands.b, key.type_b, line_of_b(key, at), key.k, b))
    return Verdict::kNone;
  for (std::int64_t i = 0; i < key.k; ++i) scale += a[i] * b[i];
  if (check.operands.bias != nullptr &&
      read_element(check.operands.bias, key.type_d, static_cast<std::size_t>(at.column), bias))
    scale += magnitude(bias);
  return same(key, check.arithmetic, ours, theirs, scale) ? Verdict::kRight : Verdict::kWrong;
}

}  // namespace

void drop_check(Check& check) {
  const RelaxedCapture relaxed;
  release.get<int(Address)>()(address_of(check.scratch));
  check.slot = nullptr;
}

bool begin_check(Check& check, Slot& slot, const PgtuneOperands& operands, Arithmetic arithmetic, Stream stream) {
  const Key& key = slot.key;
  auto* const make = allocate.get<int(Address*, std::size_t)>();
  auto* const poison = fill.get<int(Address, unsigned char, std::size_t, Stream)>();
  if (make == nullptr || poison == nullptr || release.get<void>() == nullptr) return false;
  if (bytes_of(key.type_a) == 0 || bytes_of(key.type_b) == 0 || bytes_of(key.type_d) == 0) return false;
  const std::size_t elements = place_of_d(key, {key.batch - 1, key.m - 1, key.n});
  const RelaxedCapture relaxed;
  Address scratch = 0;
  if (make(&scratch, elements * bytes_of(key.type_d)) != 0) return false;
  check.slot = &slot;
  check.operands = operands;
  check.arithmetic = arithmetic;
  check.scratch = reinterpret_cast<void*>(static_cast<std::uintptr_t>(scratch));
  check.stream = stream;
  // A stream that does not wait for the default one would run the kernel beside a fill there.
  poison(scratch, 0xFF, elements * bytes_of(key.type_d), stream);
  return true;
}

bool keep_c(Check& check) {
  const Key& key = check.slot->key;
  const RelaxedCapture relaxed;
  bool fine = wait_for(check.stream);
  for (int i = 0; fine && key.beta != 0 && i < kCheckedElements; ++i)
    fine = read_element(check.operands.c, key.type_d, place_of_d(key, element_of(key, i)), check.c[i]);
  return fine;
}

Verdict finish_check(Check& check) {
  const Key& key = check.slot->key;
  const std::size_t bytes = 2 * static_cast<std::size_t>(key.k) * sizeof(double);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const RelaxedCapture relaxed;
  Verdict verdict = Verdict::kNone;
  if (memory != MAP_FAILED) {
    if (wait_for(check.stream)) {
      verdict = Verdict::kRight;
      for (int i = 0; verdict == Verdict::kRight && i < kCheckedElements; ++i)
        verdict = element_verdict(check, i, static_cast<double*>(memory));
    }
    munmap(memory, bytes);
  }
  drop_check(check);
  return verdict;
}

}  // namespace pgtune::preload
