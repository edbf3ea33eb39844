#include "net/secret.h"

#include <openssl/crypto.h>

#include <algorithm>
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
  std::string escaped;
  for (const char c : value_) escaped += c == '/' ? "\\/" : std::string(1, c);
  for (const std::string& form : {value_, escaped}) {
    for (std::size_t at = 0; (at = text.find(form, at)) != std::string::npos; at += 3) {
      text.replace(at, form.size(), "***");
    }
  }
  OPENSSL_cleanse(escaped.data(), escaped.size());
}

Result<Secret> load_secret(const std::string& env, const std::string& file) {
  if (!env.empty()) {
    const char* value = std::getenv(env.c_str());
    if (value == nullptr || *value == '\0') {
      return fail(Error::Code::NotFound,
                  "environment variable " + env + " is not set: it should hold the key");
    }
    return checked(value, "environment variable " + env);
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
