// SPDX-License-Identifier: MIT
// Stand-ins for headers of the host's compiler.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/template/template_source.hpp"

namespace pgtune::space {
namespace {

struct StandIn {
  std::string_view name;
  std::string_view cuda_std;  ///< what it forwards to, as std too; empty: nothing
  std::string_view text;      ///< what follows
};

constexpr std::string_view kIntegers =
    "using cuda::std::int8_t; using cuda::std::int16_t; using cuda::std::int32_t; using cuda::std::int64_t;\n"
    "using cuda::std::uint8_t; using cuda::std::uint16_t; using cuda::std::uint32_t; using cuda::std::uint64_t;\n"
    "using cuda::std::intptr_t; using cuda::std::uintptr_t; using cuda::std::intmax_t; using cuda::std::uintmax_t;\n";
constexpr std::string_view kMath =
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
    "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)\n#endif\n"
    "#ifndef M_PI\n#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n"
    "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n#define M_SQRT2 1.41421356237309504880\n"
    "#define M_SQRT1_2 0.70710678118654752440\n#define M_2_SQRTPI 1.12837916709551257390\n#endif\n";
constexpr std::string_view kFloats =
    "#ifndef FLT_MAX\n#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define FLT_DIG 6\n"
    "#define FLT_MAX 3.40282346638528859812e+38f\n#define FLT_MIN 1.17549435082228750797e-38f\n"
    "#define FLT_EPSILON 1.19209289550781250000e-07f\n#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n"
    "#define DBL_MANT_DIG 53\n#define DBL_DIG 15\n#define DBL_MAX 1.79769313486231570815e+308\n"
    "#define DBL_MIN 2.22507385850720138309e-308\n#define DBL_EPSILON 2.22044604925031308085e-16\n"
    "#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_EXP 1024\n#endif\n";

// NVRTC itself has assert, printf, malloc, memcpy and size_t.
constexpr std::array kStandIns{StandIn{"stdint.h", "cstdint", kIntegers},
                               StandIn{"cstdint", "cstdint", kIntegers},
                               StandIn{"math.h", "cmath", kMath},
                               StandIn{"cmath", "cmath", kMath},
                               StandIn{"float.h", "", kFloats},
                               StandIn{"cfloat", "", kFloats},
                               StandIn{"stddef.h", "cstddef", ""},
                               StandIn{"cstddef", "cstddef", ""},
                               StandIn{"string.h", "cstring", ""},
                               StandIn{"cstring", "cstring", ""},
                               StandIn{"stdlib.h", "cstdlib", ""},
                               StandIn{"cstdlib", "cstdlib", ""},
                               StandIn{"limits.h", "climits", ""},
                               StandIn{"climits", "climits", ""},
                               StandIn{"assert.h", "", ""},
                               StandIn{"cassert", "", ""},
                               StandIn{"stdio.h", "", ""},
                               StandIn{"cstdio", "", ""},
                               StandIn{"array", "array", ""},
                               StandIn{"bit", "bit", ""},
                               StandIn{"complex", "complex", ""},
                               StandIn{"concepts", "concepts", ""},
                               StandIn{"functional", "functional", ""},
                               StandIn{"initializer_list", "initializer_list", ""},
                               StandIn{"iterator", "iterator", ""},
                               StandIn{"limits", "limits", ""},
                               StandIn{"numbers", "numbers", ""},
                               StandIn{"numeric", "numeric", ""},
                               StandIn{"optional", "optional", ""},
                               StandIn{"ratio", "ratio", ""},
                               StandIn{"tuple", "tuple", ""},
                               StandIn{"type_traits", "type_traits", ""},
                               StandIn{"utility", "utility", ""}};

}  // namespace

std::optional<std::string> standard_header(std::string_view name) {
  const auto found =
      std::find_if(kStandIns.begin(), kStandIns.end(), [&](const StandIn& one) { return one.name == name; });
  if (found == kStandIns.end()) return std::nullopt;
  std::string text = "#pragma once\n";
  if (!found->cuda_std.empty())
    text += fmt::format(
        "#include <cuda/std/{}>\nnamespace cuda {{ namespace std {{}} }}\nnamespace std {{ using namespace cuda::std; "
        "}}\n",
        found->cuda_std);
  return text.append(found->text);
}

}  // namespace pgtune::space
