#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace deem {

/// The system's words for `number`, first letter in lower case: "no space left on device".
std::string system_words(int number);

/// An Error about `what` from errno's value: NotFound for ENOENT, else Unavailable.
Error system_error(std::string_view what, int number);

}  // namespace deem
