#pragma once

// Private to net: Beast's HTTP parser without its message types. Header fields we do not use are
// never stored, and the body goes straight into one string. Heavy: include in few places.

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <string>
#include <string_view>

namespace deem::net {

/// Room after a body for readers that look past its end (simdjson reads 64 bytes beyond).
inline constexpr std::size_t kBodySlack = 64;

template <bool is_request>
class MessageParser : public boost::beast::http::basic_parser<is_request> {
 public:
  int status = 0;
  std::string method, target, body, content_type, content_encoding, retry_after, authorization,
      host;

 private:
  using View = boost::beast::string_view;
  using ErrorCode = boost::beast::error_code;
  using Field = boost::beast::http::field;
  using Options = boost::optional<std::uint64_t>;

  static std::string copy(View text) { return std::string(text.data(), text.size()); }

  void on_request_impl(boost::beast::http::verb, View method_text, View target_text, int,
                       ErrorCode&) override {
    method = copy(method_text);
    target = copy(target_text);
  }
  void on_response_impl(int code, View, int, ErrorCode&) override { status = code; }
  void on_field_impl(Field name, View, View value, ErrorCode&) override {
    switch (name) {
      case Field::content_type:
        content_type = copy(value);
        break;
      case Field::content_encoding:
        content_encoding = copy(value);
        break;
      case Field::retry_after:
        retry_after = copy(value);
        break;
      case Field::authorization:
        authorization = copy(value);
        break;
      case Field::host:
        host = copy(value);
        break;
      default:
        break;
    }
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const Options& length, ErrorCode&) override {
    // A server may announce what it never sends, so no more than this is taken on its word.
    constexpr std::uint64_t kTrust = 1 << 20;
    if (length) body.reserve(static_cast<std::size_t>(std::min(*length, kTrust)) + kBodySlack);
  }
  std::size_t on_body_impl(View bytes, ErrorCode&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, ErrorCode&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(ErrorCode&) override {}
};

using ReplyParser = MessageParser<false>;
using RequestParser = MessageParser<true>;

}  // namespace deem::net
