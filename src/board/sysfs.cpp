#include "board/sysfs.h"

#include <charconv>

#include "base/file.h"
#include "base/text.h"

namespace deem::board {

std::optional<std::string> read_text(const std::string& path) {
  const Result<std::string> text = read_file(path, 4096);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

std::optional<double> parse_number(std::string_view text, double scale) {
  text = trim(text);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || at != end) return std::nullopt;
  return static_cast<double>(value) * scale;
}

std::optional<double> read_number(const std::string& path, double scale) {
  const auto text = read_text(path);
  return text ? parse_number(*text, scale) : std::nullopt;
}

std::optional<std::uint64_t> read_hex(const std::string& path) {
  const auto text = read_text(path);
  if (!text || !text->starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [at, code] = std::from_chars(text->data() + 2, end, value, 16);
  if (code != std::errc() || at != end) return std::nullopt;
  return value;
}

Result<std::vector<PciBoard>> list_pci_boards(const std::string& sysfs) {
  const std::string folder = join_path(sysfs, "bus/pci/devices");
  const Result<std::vector<std::string>> names = list_folder(folder);
  if (!names) return fail(names.error());
  std::vector<PciBoard> out;
  for (const std::string& name : *names) {
    const std::string device = join_path(folder, name);
    const auto vendor = read_hex(device + "/vendor"), kind = read_hex(device + "/class");
    if (!vendor || !kind) continue;
    const bool display = *kind >> 16 == 0x03, accelerator = *kind >> 16 == 0x12;
    if ((*vendor == kNvidia && display) || (*vendor == kAmd && (display || accelerator))) {
      out.push_back({name, *vendor});
    }
  }
  return out;
}

}  // namespace deem::board
