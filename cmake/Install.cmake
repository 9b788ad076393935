# The destinations of `cmake --install` (GNUInstallDirs; for a wheel, scikit-build-core's folders). Nothing else is needed at
# run time: templates, ladders and recordings are linked into pgtune.
include(GNUInstallDirs)
# Installing and packing need the programs (target `programs`), not the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
if(SKBUILD)
  set(PGTUNE_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(PGTUNE_WORKERDIR ${SKBUILD_SCRIPTS_DIR})
  set(PGTUNE_DATADIR ${SKBUILD_DATA_DIR}/share)
  set(PGTUNE_MANDIR ${SKBUILD_DATA_DIR}/share/man)
  set(PGTUNE_DOCDIR ${SKBUILD_DATA_DIR}/share/doc/pgtune)
  set(PGTUNE_LIBEXEC_FROM_BIN .)
else()
  set(PGTUNE_BINDIR ${CMAKE_INSTALL_BINDIR})
  set(PGTUNE_WORKERDIR ${CMAKE_INSTALL_LIBEXECDIR}/pgtune)
  set(PGTUNE_DATADIR ${CMAKE_INSTALL_DATADIR})
  set(PGTUNE_MANDIR ${CMAKE_INSTALL_MANDIR})
  set(PGTUNE_DOCDIR ${CMAKE_INSTALL_DOCDIR})
  # Seen from the program's folder, so that an installed tree may move; absolute where the two need not move together.
  if(IS_ABSOLUTE "${PGTUNE_WORKERDIR}" OR IS_ABSOLUTE "${PGTUNE_BINDIR}")
    set(PGTUNE_LIBEXEC_FROM_BIN ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pgtune)
  else()
    file(RELATIVE_PATH PGTUNE_LIBEXEC_FROM_BIN "/prefix/${PGTUNE_BINDIR}" "/prefix/${PGTUNE_WORKERDIR}")
  endif()
endif()

# pgtune_install_rules() comes after the programs. The manual page and the completions are what the program says of itself.
function(pgtune_install_rules)
  if(PGTUNE_PREBUILT)
    # The worker beside the program is found in any layout.
    install(PROGRAMS ${PGTUNE_PREBUILT}/bin/pgtune DESTINATION ${PGTUNE_BINDIR})
    install(PROGRAMS ${PGTUNE_PREBUILT}/bin/pgtune-worker DESTINATION ${PGTUNE_BINDIR} OPTIONAL)
    install(DIRECTORY ${PGTUNE_PREBUILT}/bin/ DESTINATION ${PGTUNE_BINDIR} FILES_MATCHING PATTERN "*.so")
    add_custom_target(programs)
    pgtune_install_files(${PGTUNE_PREBUILT}/share)
    return()
  endif()
  install(TARGETS pgtune RUNTIME DESTINATION ${PGTUNE_BINDIR})
  if(TARGET pgtune-worker)
    install(TARGETS pgtune-worker RUNTIME DESTINATION ${PGTUNE_WORKERDIR})
  endif()
  set(generated ${CMAKE_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${generated})
  add_custom_command(
    OUTPUT ${generated}/pgtune.1 ${generated}/pgtune.bash ${generated}/_pgtune ${generated}/pgtune.fish
    COMMAND pgtune man > pgtune.1
    COMMAND pgtune completion bash > pgtune.bash
    COMMAND pgtune completion zsh > _pgtune
    COMMAND pgtune completion fish > pgtune.fish
    WORKING_DIRECTORY ${generated}
    COMMENT "Writing the manual page and completions"
    VERBATIM)
  add_custom_target(pgtune_share ALL DEPENDS ${generated}/pgtune.1)
  add_dependencies(programs pgtune_share)
  pgtune_install_files(${generated})
endfunction()

# pgtune_install_files(GENERATED) installs what is no program; GENERATED holds the manual page and the completions.
function(pgtune_install_files generated)
  install(FILES ${generated}/pgtune.1 DESTINATION ${PGTUNE_MANDIR}/man1)
  install(FILES ${generated}/pgtune.bash DESTINATION ${PGTUNE_DATADIR}/bash-completion/completions RENAME pgtune)
  install(FILES ${generated}/_pgtune DESTINATION ${PGTUNE_DATADIR}/zsh/site-functions)
  install(FILES ${generated}/pgtune.fish DESTINATION ${PGTUNE_DATADIR}/fish/vendor_completions.d)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
          DESTINATION ${PGTUNE_DOCDIR})
  # Lists of problems for `search --shapes`.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/shapes DESTINATION ${PGTUNE_DATADIR}/pgtune FILES_MATCHING PATTERN "*.txt")
endfunction()
