#pragma once

#include <span>
#include <string_view>

namespace deem {

/// A file carried inside the program.
struct EmbeddedFile {
  std::string_view path;  // inside its folder, "items/said.jsonl"
  std::string_view bytes;
};

/// The demo kit, as it lies in kits/demo.
std::span<const EmbeddedFile> demo_kit();

/// sha256 over the sources of this build that decide what is asked, read and scored.
std::string_view harness_digest();

/// report.js and report.css, built from web/report.
std::span<const EmbeddedFile> report_web();

}  // namespace deem
