#include "seat/document.h"

#include <cmath>
#include <limits>

#include "base/text.h"
#include "codec/json.h"
#include "seat/parse_reply.h"

namespace deem::seat {
namespace {

/// Numbers JSON has no form for become strings, lone surrogates U+FFFD.
void make_strict(codec::Json& value) {
  using Kind = codec::Json::Kind;
  switch (value.kind()) {
    case Kind::BigInt:
      value = codec::Json(value.as_double());
      make_strict(value);
      break;
    case Kind::Double: {
      const double number = value.as_double();
      if (std::isnan(number)) {
        value = codec::Json("NaN");
      } else if (std::isinf(number)) {
        value = codec::Json(number < 0 ? "-Infinity" : "Infinity");
      }
      break;
    }
    case Kind::String:
      if (!is_utf8(value.as_string())) {
        std::string text;
        const std::string& bytes = value.as_string();
        for (std::size_t i = 0; i < bytes.size(); ++i) {
          const auto lead = static_cast<unsigned char>(bytes[i]);
          const auto next = static_cast<unsigned char>(i + 1 < bytes.size() ? bytes[i + 1] : '\0');
          if (lead == 0xED && next >= 0xA0) {  // a surrogate in WTF-8
            text += "\xEF\xBF\xBD";
            i += 2;
          } else {
            text += bytes[i];
          }
        }
        value = codec::Json(std::move(text));
      }
      break;
    case Kind::Array:
      for (auto& item : value.items()) make_strict(item);
      break;
    case Kind::Object:
      for (auto& [key, item] : value.members()) make_strict(item);
      break;
    case Kind::Null:
    case Kind::Bool:
    case Kind::Int:
      break;
  }
}

/// The parser this thread used last and nobody holds.
std::unique_ptr<simdjson::dom::parser>& spare_parser() {
  thread_local std::unique_ptr<simdjson::dom::parser> spare;
  return spare;
}

}  // namespace

Document::Document() : parser_(std::move(spare_parser())) {
  if (!parser_) parser_ = std::make_unique<simdjson::dom::parser>();
}

Document::~Document() {
  constexpr std::size_t kKeep = 1 << 20;  // one that has read a whole vocabulary is let go
  if (parser_ && parser_->capacity() <= kKeep) spare_parser() = std::move(parser_);
}

Result<Document> Document::parse(std::string_view bytes) {
  Document out;
  if (out.parser_->parse(bytes.data(), bytes.size()).get(out.root_) == simdjson::SUCCESS)
    return out;
  auto lenient = codec::parse_json(bytes, codec::JsonMode::Python);
  if (lenient) {
    make_strict(*lenient);
    const std::string strict = codec::dump_json(*lenient);
    if (out.parser_->parse(strict).get(out.root_) == simdjson::SUCCESS) return out;
  }
  const std::string why = lenient ? "" : " (" + lenient.error().message + ")";
  return fail(Error::Code::Corrupt, "not JSON" + why + ": \"" + printable(bytes, 80) + "\"");
}

Result<Document> parse_document(std::string_view bytes, std::string_view needed) {
  auto document = Document::parse(bytes);
  if (!document) return document;
  if (member(document->root(), needed)) return document;
  if (member(document->root(), "error")) {
    return fail(Error::Code::Unavailable, parse_error_sentence(bytes));
  }
  return fail(Error::Code::Corrupt,
              "no \"" + std::string(needed) + "\" in the reply: \"" + printable(bytes, 80) + "\"");
}

std::optional<Element> member(const Element& element, std::string_view key) {
  simdjson::dom::object object;
  Element value;
  if (element.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  if (object.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

std::optional<Element> member(const std::optional<Element>& element, std::string_view key) {
  return element ? member(*element, key) : std::nullopt;
}

std::optional<Element> first_item(const std::optional<Element>& element) {
  simdjson::dom::array array;
  if (!element || element->get_array().get(array) != simdjson::SUCCESS) return std::nullopt;
  if (array.begin() == array.end()) return std::nullopt;
  return *array.begin();
}

std::optional<std::string> read_string(const std::optional<Element>& element) {
  std::string_view text;
  if (!element || element->get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_told(const std::optional<Element>& element) {
  auto text = read_string(element);
  return text && text->empty() ? std::nullopt : std::move(text);
}

std::optional<std::int64_t> read_int(const std::optional<Element>& element) {
  std::int64_t whole = 0;
  if (element && element->get_int64().get(whole) == simdjson::SUCCESS) return whole;
  const auto number = read_number(element);
  if (!number || std::abs(*number) > 9e15 || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::int64_t> read_count(const std::optional<Element>& element) {
  const auto count = read_int(element);
  return count && *count >= 0 && *count <= kMostTokens ? count : std::nullopt;
}

std::optional<double> read_number(const std::optional<Element>& element) {
  double number = 0;
  if (!element || element->get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<double> read_logprob(const std::optional<Element>& element) {
  if (!element) return std::nullopt;
  if (const auto number = read_number(element)) return number;
  std::string_view text;
  if (element->get_string().get(text) == simdjson::SUCCESS) {
    const std::string word = to_lower(trim(text));
    if (word == "-infinity" || word == "-inf" || word == "−infinity") return std::nullopt;
    if (word == "infinity" || word == "inf") return std::numeric_limits<double>::infinity();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace deem::seat
