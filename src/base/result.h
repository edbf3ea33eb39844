#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace deem {

/// What went wrong, for code (`code`) and for a person (`message`).
struct Error {
  enum class Code { BadInput, NotFound, Corrupt, Unavailable, Timeout, Unsupported };
  Code code = Code::BadInput;
  std::string message;  // lower case, no full stop, names the thing: "ledger.db: not a database"
};

/// A value or an Error. Ignoring one is a compiler warning.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

[[nodiscard]] inline std::unexpected<Error> fail(Error::Code code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

/// Adds where to a lower layer's what: "run 42: ledger.db: disk full".
[[nodiscard]] inline std::unexpected<Error> fail(std::string_view where, Error cause) {
  cause.message.insert(0, std::string(where) + ": ");
  return std::unexpected(std::move(cause));
}

/// Passes an Error on unchanged.
[[nodiscard]] inline std::unexpected<Error> fail(Error cause) {
  return std::unexpected(std::move(cause));
}

}  // namespace deem
