# Most of a file's compile time is reading nlohmann/json, CLI11, fmt, GoogleTest and the standard library, and instantiating
# their templates; in a batch that is done once. What a file keeps for itself in an unnamed namespace is then shared by its
# batch: names there have to differ within a folder. A file that cannot do that says
# set_source_files_properties(FILE PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON).
set(CMAKE_UNITY_BUILD ${PGTUNE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
