#pragma once

// Private to seat: one JSON reply under simdjson, read without throwing. Heavy: only for
// parse_*.cpp.

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::seat {

using Element = simdjson::dom::element;

/// A parsed reply. What is not strict JSON but json.loads would take (NaN, Infinity, 1e400, big
/// integers, lone surrogates) is read too: numbers without a finite value become the strings "NaN",
/// "Infinity" and "-Infinity", which is also how some servers write them.
/// A thread's parser is kept from one document to the next, since making one costs as much as
/// reading a short reply.
class Document {
 public:
  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) = delete;
  ~Document();

  /// Errors: Corrupt "not JSON: …" with the first bytes.
  static Result<Document> parse(std::string_view bytes);
  const Element& root() const { return root_; }

 private:
  Document();
  std::unique_ptr<simdjson::dom::parser> parser_;  // owns what root_ points into
  Element root_;
};

/// A reply that holds the member `needed`. Errors: Corrupt without it, Unavailable when the body is
/// an error object in spite of its status.
Result<Document> parse_document(std::string_view bytes, std::string_view needed);

/// The member `key`; none when it is absent, null, or `element` is no object.
std::optional<Element> member(const Element& element, std::string_view key);
std::optional<Element> member(const std::optional<Element>& element, std::string_view key);

/// The first item of an array; none when there is none.
std::optional<Element> first_item(const std::optional<Element>& element);

std::optional<std::string> read_string(const std::optional<Element>& element);
/// The same, but none where it is empty.
std::optional<std::string> read_told(const std::optional<Element>& element);
/// Whole numbers, also written as 12.0.
std::optional<std::int64_t> read_int(const std::optional<Element>& element);
/// A count of tokens; none below 0 or over kMostTokens, which no model reads.
inline constexpr std::int64_t kMostTokens = 1'000'000'000'000;
std::optional<std::int64_t> read_count(const std::optional<Element>& element);
/// A finite number.
std::optional<double> read_number(const std::optional<Element>& element);
/// A log-probability: a number as it stands, −9999 included; NaN where anything stands that is no
/// number; none for absent, null and "-Infinity".
std::optional<double> read_logprob(const std::optional<Element>& element);

}  // namespace deem::seat
