# The Debian package (scripts/package-deb): CPack packs what `cmake --install` puts below /usr.
# Built on the oldest Debian that it is for, as it needs that one's libc or a newer one.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pgtune)
set(CPACK_PACKAGE_VENDOR "the pgtune authors")
# DEBFULLNAME and DEBEMAIL name the maintainer of the package, as with Debian's own tools.
set(maintainer_name "pgtune maintainers")
set(maintainer_email "maintainers@pgtune.example")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(maintainer_name $ENV{DEBFULLNAME})
  set(maintainer_email $ENV{DEBEMAIL})
endif()
set(CPACK_PACKAGE_CONTACT "${maintainer_name} <${maintainer_email}>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# NVRTC and cuBLASLt, under NVIDIA's names and Debian's: without them it prints recorded answers, reports and exports.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cuda-toolkit | nvidia-cuda-toolkit (>= 12.8)")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "pgtune compiles kernel templates with NVRTC over a grid of tile sizes, stages
and the like, checks every variant against a float64 reference, times it
beside cuBLASLt, and keeps the fastest one for each problem in a database,
from which it exports C++ headers.

Searching needs an NVIDIA GPU and a CUDA Toolkit 12.8 or newer. Without
either it answers from recordings made on an H200.")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian.cmake)
include(CPack)
