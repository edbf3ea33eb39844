#include "base/system_error.h"

#include <cerrno>
#include <system_error>

namespace deem {

std::string system_words(int number) {
  std::string words = std::system_category().message(number);
  const bool capital = !words.empty() && words[0] >= 'A' && words[0] <= 'Z';
  // "RPC struct is bad" keeps its capitals; "No such file" does not.
  if (capital && words.size() > 1 && words[1] >= 'a') {
    words[0] = static_cast<char>(words[0] - 'A' + 'a');
  }
  return words;
}

Error system_error(std::string_view what, int number) {
  const auto code = number == ENOENT ? Error::Code::NotFound : Error::Code::Unavailable;
  return Error{code, std::string(what) + ": " + system_words(number)};
}

}  // namespace deem
