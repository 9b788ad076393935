// SPDX-License-Identifier: MIT
// fmt's functions that are no templates, and the instances everybody uses, compiled once. As a header-only library
// every file that formats would compile them again, which doubles the build; and the distribution has fmt as a shared
// library only, while a built pgtune is to run on machines without its packages.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
}  // namespace detail
FMT_END_NAMESPACE
