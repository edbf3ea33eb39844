#include "net/secret.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace deem::net {
namespace {

Result<Secret> checked(std::string_view raw, const std::string& where) {
  const std::string_view value = trim(raw);
  if (value.empty()) return fail(Error::Code::NotFound, where + ": the key is empty");
  const bool plain = std::ranges::all_of(value, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain) {
    return fail(Error::Code::BadInput,
                where + ": the key holds white space or bytes that can not stand in a header");
  }
  return Secret(std::string(value));
}

constexpr std::string_view kCover = "***";

/// Bytes that stand for `c` at the beginning of `text`; 0 when others stand there. JSON may write
/// any character as \uXXXX and some behind a backslash; JSON inside a JSON string has more
/// backslashes.
std::size_t spelled(std::string_view text, char c) {
  constexpr std::size_t kMostBackslashes = 8;
  constexpr std::size_t kDigits = 4;
  std::size_t at = 0;
  while (at < text.size() && at < kMostBackslashes && text[at] == '\\') ++at;
  if (at > 0 && text.size() - at > kDigits && text[at] == 'u') {
    const char* digits = text.data() + at + 1;
    unsigned point = 0;
    const auto [end, error] = std::from_chars(digits, digits + kDigits, point, 16);
    if (error == std::errc() && end == digits + kDigits && point == static_cast<unsigned char>(c)) {
      return at + 1 + kDigits;
    }
  }
  if (c == '\\') return std::min<std::size_t>(at, 2);
  return at < text.size() && text[at] == c ? at + 1 : 0;
}

/// Bytes of `text` that hold the beginning of `key`, as it is or escaped; 0 when fewer than `least`
/// characters of it stand there.
std::size_t covered(std::string_view text, std::string_view key, std::size_t least) {
  const auto differs = std::ranges::mismatch(text, key).in1;
  const auto plain = static_cast<std::size_t>(differs - text.begin());
  std::size_t escaped = 0, count = 0;
  for (; count < key.size(); ++count) {
    const std::size_t taken = spelled(text.substr(escaped), key[count]);
    if (taken == 0) break;
    escaped += taken;
  }
  return std::max(plain >= least ? plain : 0, count >= least ? escaped : 0);
}

}  // namespace

Secret::Secret(Secret&& other) noexcept : value_(other.value_) {
  OPENSSL_cleanse(other.value_.data(), other.value_.size());
  other.value_.clear();
}

Secret& Secret::operator=(Secret other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Secret::~Secret() { OPENSSL_cleanse(value_.data(), value_.size()); }

void Secret::scrub(std::string& text) const {
  constexpr std::size_t kShortest = 8;
  if (value_.size() < kShortest) return;
  const std::size_t least = std::max(kShortest, (value_.size() + 1) / 2);
  const auto may_begin = [&](char c) { return c == value_.front() || c == '\\'; };
  // A cover is no longer than what it covers, so the text is rewritten in place.
  auto kept = text.begin();
  auto from = text.begin();  // what follows is neither kept nor covered yet
  for (auto at = from; (at = std::find_if(at, text.end(), may_begin)) != text.end();) {
    const std::size_t taken = covered({at, text.end()}, value_, least);
    if (taken == 0) {
      ++at;
      continue;
    }
    kept = std::copy(from, at, kept);
    kept = std::ranges::copy(kCover, kept).out;
    at += static_cast<std::ptrdiff_t>(taken);
    from = at;
  }
  if (from == text.begin()) return;
  text.erase(std::copy(from, text.end(), kept), text.end());
}

Result<Secret> load_secret(const std::string& env, const std::string& file) {
  if (!env.empty()) {
    const char* value = std::getenv(env.c_str());
    // Who gives the key itself where its variable's name belongs should not see it printed.
    const bool is_name = env.size() <= 64 && std::ranges::all_of(env, [](char c) {
                           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                         });
    const std::string where =
        is_name || value != nullptr ? "environment variable " + env : "key-env";
    if (value == nullptr || *value == '\0') {
      return fail(Error::Code::NotFound,
                  where + (is_name || value != nullptr
                               ? " is not set: it should hold the key"
                               : " names no environment variable that is set (it wants a name, "
                                 "such as API_KEY, not the key)"));
    }
    return checked(value, where);
  }
  if (file.empty()) return Secret();
  // A map refuses pipes and devices, which may have no end.
  auto bytes = MappedFile::open(file);
  if (!bytes) return fail("key file", bytes.error());
  constexpr std::size_t kLongest = 16 * 1024;
  const std::string_view line = bytes->bytes().substr(0, bytes->bytes().find('\n'));
  if (line.size() > kLongest) {
    return fail(Error::Code::BadInput,
                "key file " + file + ": its first line is too long for a key");
  }
  return checked(line, "key file " + file);
}

}  // namespace deem::net
