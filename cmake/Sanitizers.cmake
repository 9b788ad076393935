# PGTUNE_SANITIZE: a finding ends the program, so that no test can pass over one.
if(PGTUNE_SANITIZE)
  set(flags -fsanitize=${PGTUNE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # A cast of a number too large for its target is undefined, and not among "undefined".
  if(PGTUNE_SANITIZE MATCHES undefined)
    list(APPEND flags -fsanitize=float-cast-overflow)
  endif()
  # Optimising checks costs more time than the tests then save.
  add_compile_options(${flags} -O0 -g1)
  add_link_options(${flags})
endif()
if(PGTUNE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PGTUNE_FUZZ needs clang, which libFuzzer belongs to: -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
