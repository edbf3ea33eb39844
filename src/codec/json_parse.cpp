#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "codec/json.h"
#include "codec/scan.h"
#include "codec/utf8.h"

namespace deem::codec {
namespace {

constexpr int kMaxDepth = 512;
constexpr std::ptrdiff_t kMaxIntDigits = 4'300;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The character that a one-letter escape stands for, 0 when it is none.
char short_escape(char letter) {
  switch (letter) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// Whether the last of `members` says a key anew; then its value moves to the first place of it.
// For few members only.
void merge_last(std::vector<Json::Member>& members, std::size_t first) {
  Json::Member& last = members.back();
  for (std::size_t i = first; i + 1 < members.size(); ++i) {
    if (members[i].first == last.first) {
      members[i].second = std::move(last.second);
      members.pop_back();
      return;
    }
  }
}

// The same for many members at once, so that hostile input costs no quadratic time.
void merge_all(std::vector<Json::Member>& members, std::size_t first) {
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(members.size() - first);
  std::vector<std::size_t> target(members.size());
  bool unique = true;
  for (std::size_t i = first; i < members.size(); ++i) {
    target[i] = places.emplace(members[i].first, i).first->second;
    unique = unique && target[i] == i;
  }
  if (unique) return;
  std::size_t kept = first;
  std::vector<std::size_t> moved(members.size());
  for (std::size_t i = first; i < members.size(); ++i) {
    if (target[i] != i) {
      members[moved[target[i]]].second = std::move(members[i].second);
      continue;
    }
    moved[i] = kept;
    if (kept != i) members[kept] = std::move(members[i]);
    ++kept;
  }
  members.resize(kept);
}

// Recursive descent. Members and items of what is open wait on two shared stacks, so that each
// object and array is allocated once, at its size.
class Parser {
 public:
  Parser(std::string_view text, JsonMode mode)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        python_(mode == JsonMode::Python) {}

  Result<Json> parse() {
    const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
    if (text.starts_with("\xef\xbb\xbf")) return error("a byte order mark before the value");
    if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
      at_ = begin_ + bad;
      return error("invalid UTF-8");
    }
    members_.reserve(32);
    Json value;
    skip_space();
    if (!parse_value(value, 0)) return error(what_);
    skip_space();
    if (at_ != end_) return error("something follows the value");
    return value;
  }

 private:
  std::unexpected<Error> error(const char* what) const {
    const char* line_start = at_;
    while (line_start != begin_ && line_start[-1] != '\n') --line_start;
    std::size_t line = 1;
    for (const char* c = begin_; c != line_start; ++c) line += *c == '\n' ? 1 : 0;
    const std::size_t column =
        1 + count_code_points({line_start, static_cast<std::size_t>(at_ - line_start)});
    return fail(Error::Code::Corrupt,
                "line " + std::to_string(line) + " column " + std::to_string(column) + ": " + what);
  }

  bool refuse(const char* what) {
    what_ = what;
    return false;
  }
  bool refuse_at(const char* where, const char* what) {
    at_ = where;
    return refuse(what);
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size()) return false;
    if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  bool parse_value(Json& out, int depth) {
    if (at_ == end_) return refuse("the text ends where a value should be");
    switch (*at_) {
      case '{':
        return parse_object(out, depth + 1);
      case '[':
        return parse_array(out, depth + 1);
      case '"': {
        std::string text;
        if (!parse_string(text)) return false;
        out = Json(std::move(text));
        return true;
      }
      case 't':
        if (!take_word("true")) break;
        out = Json(true);
        return true;
      case 'f':
        if (!take_word("false")) break;
        out = Json(false);
        return true;
      case 'n':
        if (!take_word("null")) break;
        out = Json();
        return true;
      case 'N':
        if (!python_ || !take_word("NaN")) break;
        out = Json(std::numeric_limits<double>::quiet_NaN());
        return true;
      case 'I':
        if (!python_ || !take_word("Infinity")) break;
        out = Json(kInfinity);
        return true;
      default:
        if (*at_ == '-' || is_digit(*at_)) return parse_number(out);
    }
    return refuse("no JSON value");
  }

  bool parse_object(Json& out, int depth) {
    if (depth > kMaxDepth) return refuse("nested more than 512 deep");
    ++at_;
    const std::size_t first = members_.size();
    skip_space();
    if (take('}')) {
      out = Json::object();
      return true;
    }
    while (true) {
      if (at_ == end_ || *at_ != '"') return refuse("expected a key in double quotes");
      std::string key;
      if (!parse_string(key)) return false;
      skip_space();
      if (!take(':')) return refuse("expected ':' after the key");
      skip_space();
      Json value;
      if (!parse_value(value, depth)) return false;
      members_.emplace_back(std::move(key), std::move(value));
      if (members_.size() - first <= kFewMembers) merge_last(members_, first);
      skip_space();
      if (take('}')) break;
      if (!take(',')) return refuse("expected ',' or '}'");
      skip_space();
    }
    if (members_.size() - first > kFewMembers) merge_all(members_, first);
    const auto from = members_.begin() + static_cast<std::ptrdiff_t>(first);
    out = Json::object({std::move_iterator(from), std::move_iterator(members_.end())});
    members_.erase(from, members_.end());
    return true;
  }

  bool parse_array(Json& out, int depth) {
    if (depth > kMaxDepth) return refuse("nested more than 512 deep");
    ++at_;
    const std::size_t first = items_.size();
    skip_space();
    if (take(']')) {
      out = Json::array();
      return true;
    }
    while (true) {
      Json value;
      if (!parse_value(value, depth)) return false;
      items_.push_back(std::move(value));
      skip_space();
      if (take(']')) break;
      if (!take(',')) return refuse("expected ',' or ']'");
      skip_space();
    }
    const auto from = items_.begin() + static_cast<std::ptrdiff_t>(first);
    out = Json::array({std::move_iterator(from), std::move_iterator(items_.end())});
    items_.erase(from, items_.end());
    return true;
  }

  bool parse_string(std::string& out) {
    const char* const start = at_++;
    const char* stop = find_special<false>(at_, end_);
    if (stop != end_ && *stop == '"') {  // no escape in it, as almost always
      out.assign(at_, stop);
      at_ = stop + 1;
      return true;
    }
    while (true) {
      out.append(at_, stop);
      at_ = stop;
      if (at_ == end_) return refuse_at(start, "a string without its closing quote");
      if (*at_ == '"') break;
      if (*at_ != '\\') return refuse("a control character in a string");
      if (at_ + 1 == end_) return refuse_at(start, "a string without its closing quote");
      if (!parse_escape(out)) return false;
      stop = find_special<false>(at_, end_);
    }
    ++at_;
    return true;
  }

  bool parse_escape(std::string& out) {
    const char* const start = at_++;
    if (*at_ != 'u') {
      const char c = short_escape(*at_);
      if (c == 0) return refuse_at(start, "no such escape");
      out += c;
      ++at_;
      return true;
    }
    ++at_;
    std::uint32_t point = 0;
    if (!parse_hex(point)) return refuse_at(start, "\\u needs four hex digits");
    if (point >= 0xd800 && point < 0xdc00 && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
      const char* const second_start = at_;
      at_ += 2;
      std::uint32_t second = 0;
      if (!parse_hex(second)) return refuse_at(second_start, "\\u needs four hex digits");
      if (second >= 0xdc00 && second < 0xe000) {
        point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
      } else {
        at_ = second_start;
      }
    }
    if (!python_ && point >= 0xd800 && point < 0xe000) {
      return refuse_at(start, "half a surrogate pair");
    }
    append_utf8(out, point);
    return true;
  }

  bool parse_hex(std::uint32_t& point) {
    if (end_ - at_ < 4) return false;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_value(*at_++);
      if (digit < 0) return false;
      point = point << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  bool parse_number(Json& out) {
    const char* const start = at_;
    const bool negative = take('-');
    if (python_ && negative && take_word("Infinity")) {
      out = Json(-kInfinity);
      return true;
    }
    const char* const digits = at_;
    if (at_ == end_ || !is_digit(*at_)) return refuse_at(start, "no JSON value");
    if (*at_ == '0') {
      ++at_;
      if (at_ != end_ && is_digit(*at_)) return refuse_at(start, "a number with a leading zero");
    }
    std::uint64_t small = 0;  // wraps when there are more than 19 digits, and is then not used
    for (; at_ != end_ && is_digit(*at_); ++at_)
      small = 10 * small + static_cast<unsigned>(*at_ - '0');
    const std::ptrdiff_t count = at_ - digits;
    bool whole = true;
    if (at_ != end_ && *at_ == '.') {
      whole = false;
      ++at_;
      if (!skip_digits()) return refuse_at(start, "a number without digits after its point");
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      whole = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!skip_digits()) return refuse_at(start, "a number without digits in its exponent");
    }
    if (!whole) return make_double(start, out);
    if (count <= 18) {
      const auto value = static_cast<std::int64_t>(small);
      out = Json(negative ? -value : value);
      return true;
    }
    if (count > kMaxIntDigits) return refuse_at(start, "an integer of more than 4300 digits");
    out = Json::big_int({start, static_cast<std::size_t>(at_ - start)});
    return true;
  }

  bool skip_digits() {
    const char* const start = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != start;
  }

  bool make_double(const char* start, Json& out) {
    double value = 0;
    if (std::from_chars(start, at_, value).ec == std::errc::result_out_of_range) {
      // Too large or too small: from_chars does not say which, strtod does.
      value = std::strtod(std::string(start, at_).c_str(), nullptr);
      if (!python_ && (value == kInfinity || value == -kInfinity)) {
        return refuse_at(start, "a number past the range of a double");
      }
    }
    out = Json(value);
    return true;
  }

  static constexpr std::size_t kFewMembers = 64;

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const bool python_;
  const char* what_ = "";
  std::vector<Json::Member> members_;
  std::vector<Json> items_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, JsonMode mode) { return Parser(text, mode).parse(); }

}  // namespace deem::codec
