#pragma once

#include "score/python_number.h"

namespace deem::score {

/// From after a string's opening quote to its closing one, with escapes and
/// other alphabets checked; nullptr when it is no valid string. Stops at
/// control characters, so text that ends with one needs no length. `escaped`
/// tells whether it holds a backslash.
const char* skip_any_string(const char* at, bool& escaped);

/// From a number's begin to its end; nullptr when it is none, or an integer of
/// more than 18 digits.
const char* skip_any_number(const char* at);

/// The same, with its value; also null, which is None. 24 bytes before its end
/// must be readable.
const char* read_any_number(const char* at, PythonNumber& number);

}  // namespace deem::score
