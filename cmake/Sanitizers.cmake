# PGTUNE_SANITIZE: a finding ends the program, so that no test can pass over one.
if(PGTUNE_SANITIZE)
  set(flags -fsanitize=${PGTUNE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(PGTUNE_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    list(APPEND flags -fsanitize=float-cast-overflow -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer_ignorelist.txt)
  endif()
  # Optimising checked code costs more time than the tests then save, pgtune_hot() libraries aside.
  add_compile_options(${flags} -O0 -g1)
  add_link_options(${flags})
endif()
if(PGTUNE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PGTUNE_FUZZ needs clang, which libFuzzer belongs to: -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# pgtune_hot(TARGET) keeps loops that tests run millions of times bearable under a sanitizer.
function(pgtune_hot target)
  if(PGTUNE_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
