# Much of a file's compile time is reading the same headers. Each set of them is compiled once and read by every target
# with the same flags; a file includes what it uses all the same (scripts/lint --alone compiles it without). Two
# headers are in no set: each file that reads nlohmann/json.hpp or CLI/CLI.hpp pays again for what their inline functions instantiate
# (0.4 and 3 s), precompiled or not. So few files read those.
set(pgtune_standard_headers <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <optional>
    <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

# pgtune_header_set(NAME [IN_BATCHES] OPTIONS ... LIBRARIES ... HEADERS ...) defines a set of precompiled headers. IN_BATCHES:
# so many targets of few batches read it that it pays in a build in batches too.
function(pgtune_header_set name)
  cmake_parse_arguments(ARG "IN_BATCHES" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  if(PGTUNE_UNITY AND NOT ARG_IN_BATCHES)
    return()
  endif()
  # A target needs a source; this one is empty.
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "" @ONLY)
  add_library(pgtune_headers_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_compile_options(pgtune_headers_${name} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(pgtune_headers_${name} PRIVATE ${ARG_LIBRARIES} pgtune_fmt tl::expected pgtune_warnings)
  target_precompile_headers(pgtune_headers_${name} PRIVATE ${ARG_HEADERS})
endfunction()

# pgtune_precompile(TARGET SET) lets a target read a set, where there is one. Its flags must be those of the set; with another -O GCC 12 ends in
# an internal error.
function(pgtune_precompile target set)
  if(TARGET pgtune_headers_${set})
    target_precompile_headers(${target} REUSE_FROM pgtune_headers_${set})
  endif()
endfunction()
