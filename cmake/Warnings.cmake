# Warnings for pgtune's own targets only; linked libraries are included as system headers.
add_library(pgtune_warnings INTERFACE)
target_compile_options(pgtune_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${PGTUNE_WERROR}>:-Werror>)

# pgtune_library(NAME [FOLDER ...]) adds a static library of every source in the folders (this one where none is named)
# and in the folders below them, with the project's include root and warnings. A new file needs no line here.
function(pgtune_library name)
  set(folders ${ARGN})
  if(NOT folders)
    set(folders .)
  endif()
  list(TRANSFORM folders APPEND /*.cpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folders})
  list(FILTER sources EXCLUDE REGEX "(^|/)main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE pgtune_warnings)
endfunction()
