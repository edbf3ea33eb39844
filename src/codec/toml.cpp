#include "codec/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.h"

namespace deem::codec {
namespace {

constexpr int kMaxBrackets = 64;
constexpr int kMaxKeyParts = 32;

std::unexpected<Error> refuse(std::string_view name, std::size_t line, std::size_t column,
                              std::string_view what) {
  return fail(Error::Code::BadInput, std::string(name) + ":" + std::to_string(line) + ":" +
                                         std::to_string(column) + ": " + std::string(what));
}

// Walks over the text outside strings and comments and counts open brackets and dots between keys.
class DepthCheck {
 public:
  DepthCheck(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<void> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '[' || c == '{') ++open_;
      if (c == ']' || c == '}') --open_;
      if (c == '.') {
        ++dots_;
      } else if (std::string_view("=,\n[]{}").find(c) != std::string_view::npos) {
        dots_ = 0;
      }
      if (open_ > kMaxBrackets) return refuse_here("brackets more than 64 deep");
      if (dots_ >= kMaxKeyParts) return refuse_here("a key of more than 32 parts");
      ++at_;
    }
    return {};
  }

 private:
  std::unexpected<Error> refuse_here(std::string_view what) const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t newline = before.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
    return refuse(name_, lines + 1, count_code_points(before.substr(start)) + 1, what);
  }

  // A one-line string ends with its line at the latest: then it is an error that the parser names.
  void skip_string(char quote) {
    const bool escapes = quote == '"';
    const std::string triple(3, quote);
    const bool many_lines = text_.substr(at_).starts_with(triple);
    at_ += many_lines ? 3U : 1U;
    for (; at_ < text_.size(); ++at_) {
      if (escapes && text_[at_] == '\\') {
        ++at_;
      } else if (many_lines && text_.substr(at_).starts_with(triple)) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == quote)
          ++at_;  // """x""""" ends with two of its own
        return;
      } else if (!many_lines && (text_[at_] == quote || text_[at_] == '\n')) {
        at_ += text_[at_] == quote ? 1U : 0U;
        return;
      }
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  int open_ = 0;
  int dots_ = 0;
};

TomlDoc::Place place_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "/" + std::string(key);
}

template <class DateOrTime>
Json text_of(const DateOrTime& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

class Converter {
 public:
  explicit Converter(TomlDoc& doc) : doc_(doc) {}

  Json convert(const toml::node& node, const std::string& path) {
    switch (node.type()) {
      case toml::node_type::table:
        return convert_table(*node.as_table(), path);
      case toml::node_type::array:
        return convert_array(*node.as_array(), path);
      case toml::node_type::string:
        return node.as_string()->get();
      case toml::node_type::integer:
        return node.as_integer()->get();
      case toml::node_type::floating_point:
        return node.as_floating_point()->get();
      case toml::node_type::boolean:
        return node.as_boolean()->get();
      case toml::node_type::date:
        return text_of(node.as_date()->get());
      case toml::node_type::time:
        return text_of(node.as_time()->get());
      case toml::node_type::date_time:
        return text_of(node.as_date_time()->get());
      default:
        return nullptr;
    }
  }

  Json convert_table(const toml::table& table, const std::string& path) {
    // toml++ sorts by key; the key's own place gives the file's order back.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, value] : table) entries.emplace_back(&key, &value);
    std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
      return a.first->source().begin < b.first->source().begin;
    });
    std::vector<Json::Member> members;
    for (const auto& [key, value] : entries) {
      const std::string inner = join(path, key->str());
      doc_.places[inner] = place_of(key->source());
      members.emplace_back(key->str(), convert(*value, inner));
    }
    return Json::object(std::move(members));
  }

 private:
  Json convert_array(const toml::array& array, const std::string& path) {
    std::vector<Json> items;
    for (const toml::node& item : array) {
      const std::string inner = join(path, std::to_string(items.size()));
      doc_.places[inner] = place_of(item.source());
      items.push_back(convert(item, inner));
    }
    return Json::array(std::move(items));
  }

  TomlDoc& doc_;
};

}  // namespace

std::size_t TomlDoc::line(std::string_view path) const {
  const auto found = places.find(path);
  return found == places.end() ? 0 : found->second.line;
}

std::string TomlDoc::where(std::string_view path) const {
  while (true) {
    if (const auto found = places.find(path); found != places.end()) {
      return name + ":" + std::to_string(found->second.line) + ":" +
             std::to_string(found->second.column);
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return name;
    path = path.substr(0, slash);
  }
}

Result<TomlDoc> parse_toml(std::string_view text, std::string_view name) {
  if (const auto checked = DepthCheck(text, name).run(); !checked) return fail(checked.error());
  try {
    const toml::table table = toml::parse(text);
    TomlDoc doc{.name = std::string(name)};
    doc.root = Converter(doc).convert_table(table, "");
    return doc;
  } catch (const toml::parse_error& error) {
    std::string what = printable(error.description(), 300);
    if (what.starts_with("Error while")) what[0] = 'e';
    return refuse(name, error.source().begin.line, error.source().begin.column, what);
  }
}

}  // namespace deem::codec
