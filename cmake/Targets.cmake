# How pgtune's own targets are made: the project's include root, its warnings (linked libraries are included as system headers)
# and precompiled headers.
add_library(pgtune_warnings INTERFACE)
target_compile_options(pgtune_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Wno-sign-conversion # which clang, unlike GCC, counts to -Wconversion
  $<$<BOOL:${PGTUNE_WERROR}>:-Werror>)

# Little on the host is hot, and kernels are compiled by NVRTC: -O1 (CMakeLists.txt). Loops that run millions of times are
# worth more, under a sanitizer too.
set(pgtune_hot_options $<$<CONFIG:Release>:-O2>)
if(PGTUNE_SANITIZE)
  set(pgtune_hot_options -O1)
endif()

pgtune_header_set(host HEADERS ${pgtune_standard_headers})
pgtune_header_set(hot OPTIONS ${pgtune_hot_options} HEADERS ${pgtune_standard_headers})

# pgtune_library(NAME [HOT] [FOLDER ...]) adds a static library of every source in the folders (this one where none is named)
# and below them, programs' main.cpp aside. A new file needs no line here.
function(pgtune_library name)
  cmake_parse_arguments(ARG "HOT" "" "" ${ARGN})
  set(folders ${ARG_UNPARSED_ARGUMENTS})
  if(NOT folders)
    set(folders .)
  endif()
  list(TRANSFORM folders APPEND /*.cpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folders})
  list(FILTER sources EXCLUDE REGEX "(^|/)main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pgtune_warnings)
  if(ARG_HOT)
    target_compile_options(${name} PRIVATE ${pgtune_hot_options})
    pgtune_precompile(${name} hot)
  else()
    pgtune_precompile(${name} host)
  endif()
endfunction()

# pgtune_program(NAME SOURCES...) adds a program; tests are pgtune_test()'s.
function(pgtune_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pgtune_warnings)
  pgtune_precompile(${name} host)
endfunction()
