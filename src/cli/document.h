#pragma once

#include <cstdio>
#include <string>

#include "cli/gather_rows.h"
#include "cli/show_score.h"

namespace deem::cli {

/// The formats of what is no table of columns. Errors: BadInput.
inline Result<OutputFormat> parse_document_format(const std::string& name) {
  Result<OutputFormat> format = parse_output_format(name);
  if (format && (*format == OutputFormat::Csv || *format == OutputFormat::SeedLines)) {
    return fail(Error::Code::BadInput, "--format " + name + ": text, md or json");
  }
  return format;
}

/// Prints one of report's documents on stdout. Errors: Unavailable.
template <class Document>
Result<void> print_document(const Document& document, OutputFormat format) {
  const std::string text = format == OutputFormat::Json ? as_json(document)
                           : format == OutputFormat::Markdown
                               ? as_markdown(document)
                               : as_text(document, terminal_width(), wants_colour());
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) return fail(Error::Code::Unavailable, "stdout: can not write");
  return {};
}

}  // namespace deem::cli
