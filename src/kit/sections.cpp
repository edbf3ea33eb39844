#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "kit/formats.h"

namespace deem::kit {

namespace {

struct Part {
  std::string_view heading, body;
};

/// The parts of a text below "## Heading" lines, in order.
std::vector<Part> parts_of(std::string_view state) {
  std::vector<Part> parts;
  std::size_t body_begin = 0;
  bool open = false;
  const auto close = [&](std::size_t end) {
    if (open) parts.back().body = trim(state.substr(body_begin, end - body_begin));
    open = false;
  };
  for (std::size_t at = 0; at < state.size();) {
    const std::size_t end = std::min(state.find('\n', at), state.size());
    const std::string_view line = state.substr(at, end - at);
    if (line.starts_with("# ") || line.starts_with("## ")) close(at);
    if (line.starts_with("## ")) {
      parts.push_back({.heading = trim(line.substr(3)), .body = {}});
      body_begin = std::min(end + 1, state.size());
      open = true;
    }
    at = end + 1;
  }
  close(state.size());
  return parts;
}

}  // namespace

void fill_bodies(std::string_view state, std::vector<Section>& sections) {
  std::map<std::string_view, std::deque<std::string_view>> bodies;
  for (const Part& part : parts_of(state)) bodies[part.heading].push_back(part.body);
  for (Section& section : sections) {
    const auto found = bodies.find(trim(section.heading));
    if (found == bodies.end() || found->second.empty()) continue;
    section.body = found->second.front();
    found->second.pop_front();
  }
}

std::vector<Section> sections_of(std::string_view state) {
  std::vector<Section> sections;
  std::set<std::string> taken;
  for (const Part& part : parts_of(state)) {
    const std::string slug = part.heading.empty() ? "section" : slug_of(part.heading);
    std::string id = slug;
    for (int n = 2; !taken.insert(id).second; ++n) id = slug + "-" + std::to_string(n);
    sections.push_back(
        {.id = id, .heading = std::string(part.heading), .body = std::string(part.body)});
  }
  return sections;
}

std::string slug_of(std::string_view title) {
  std::string slug;
  for (const char c : to_lower(title)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (plain) {
      slug += c;
    } else if (!slug.empty() && !slug.ends_with('-')) {
      slug += '-';
    }
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug;
}

std::string section_text(const Section& section) {
  return section.body.empty() ? std::string() : section.heading + "\n\n" + section.body;
}

}  // namespace deem::kit
