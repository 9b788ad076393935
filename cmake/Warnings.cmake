# Warnings for pgtune's own targets only; linked libraries are included as system headers.
add_library(pgtune_warnings INTERFACE)
target_compile_options(pgtune_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${PGTUNE_WERROR}>:-Werror>)

# pgtune_library(NAME SOURCES... ) adds a static library with the project's include root and warnings.
function(pgtune_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pgtune_warnings)
endfunction()
