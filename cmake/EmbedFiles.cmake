# deem_embed(TARGET NAME FOLDER files…): puts the files of FOLDER into TARGET as
#   std::span<const deem::EmbeddedFile> deem::NAME();   (src/base/embedded.h)
# The bytes go in by the assembler's .incbin, so nothing is compiled as a big array.
function(deem_embed target name folder)
  set(out "${PROJECT_BINARY_DIR}/generated/embedded_${name}.cpp")
  set(asm "")
  set(externs "")
  set(rows "")
  set(index 0)
  set(paths "")
  foreach(file ${ARGN})
    set(symbol "deem_${name}_${index}")
    set(path "${folder}/${file}")
    list(APPEND paths "${path}")
    string(APPEND asm "asm(\".section .rodata\\n.global ${symbol}\\n${symbol}:\\n.incbin \\\"${path}\\\"\\n"
      ".global ${symbol}_end\\n${symbol}_end:\\n.byte 0\\n.previous\");\n")
    string(APPEND externs "extern const char ${symbol}[];\nextern const char ${symbol}_end[];\n")
    string(APPEND rows "      {\"${file}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT "${out}" CONTENT "#include \"base/embedded.h\"\n
${asm}
extern \"C\" {
${externs}}

namespace deem {

std::span<const EmbeddedFile> ${name}() {
  static const EmbeddedFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace deem
" @ONLY)
  target_sources(${target} PRIVATE "${out}")
  set_source_files_properties("${out}" PROPERTIES OBJECT_DEPENDS "${paths}")
endfunction()
