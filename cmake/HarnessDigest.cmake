# The digest of the sources that decide what is asked, how it is read and how it is scored: two builds that ask and read alike
# have the same, whatever compiler or machine made them.
#   deem_harness_digest(TARGET)   adds a source file with `deem::harness_digest()` (src/base/embedded.h) to TARGET
# Run as a script (cmake -DLIST=… -DROOT=… -DOUT=… -P) it writes that file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS "${LIST}" files)
  list(SORT files)
  set(all "")
  foreach(file IN LISTS files)
    file(SHA256 "${ROOT}/${file}" digest)
    string(APPEND all "${digest}  ${file}\n")
  endforeach()
  string(SHA256 digest "${all}")
  set(text "#include \"base/embedded.h\"\n\nnamespace deem {\nstd::string_view harness_digest() { return \"${digest}\"; }\n}  // namespace deem\n")
  file(WRITE "${OUT}.new" "${text}")
  file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
  return()
endif()

set(DEEM_HARNESS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(deem_harness_digest target)
  set(files)
  foreach(module base codec net decision record kit seat bench score)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      "${PROJECT_SOURCE_DIR}/src/${module}/*.h" "${PROJECT_SOURCE_DIR}/src/${module}/*.cpp" "${PROJECT_SOURCE_DIR}/src/${module}/*.inc")
    list(APPEND files ${found})
  endforeach()
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$|/fuzz_[^/]*$|/fake/|/test_[^/]*$|/scripted_seat")
  list(SORT files)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/harness_files.txt" CONTENT "${lines}\n" @ONLY)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/harness_digest.cpp")
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/")
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${CMAKE_CURRENT_BINARY_DIR}/harness_files.txt" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUT=${out}" -P "${DEEM_HARNESS_SCRIPT}"
    DEPENDS ${files} "${CMAKE_CURRENT_BINARY_DIR}/harness_files.txt" "${DEEM_HARNESS_SCRIPT}"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
