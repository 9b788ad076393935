# What Debian wants of a package's files beyond what `cmake --install` does: run by CPack before it packs.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${usr}/share/doc/pgtune)
file(WRITE ${doc}/changelog.Debian
"pgtune (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; urgency=medium

  * See /usr/share/doc/pgtune/changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ")
execute_process(COMMAND date -R OUTPUT_VARIABLE now)
file(APPEND ${doc}/changelog.Debian "${now}")
file(MAKE_DIRECTORY ${usr}/share/lintian/overrides)
file(WRITE ${usr}/share/lintian/overrides/pgtune
"# SQLite and the static CUDA runtime are linked in, so that the package runs on every Debian from this one on.
pgtune: embedded-library *
pgtune: initial-upload-closes-no-bugs *
")
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
execute_process(COMMAND gzip -9n ${doc}/changelog.Debian ${doc}/changelog ${usr}/share/man/man1/pgtune.1
                COMMAND_ERROR_IS_FATAL ANY)
# zsh of Debian reads packages' completions there.
file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_pgtune ${usr}/share/zsh/vendor-completions/_pgtune)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)
