#pragma once

// Private to report: text that goes into a page. Prompts, replies, names of kits and arms are
// hostile.

#include <string>
#include <string_view>

#include "codec/json.h"

namespace deem::report {

/// Control characters, marks that turn the direction of text, invisible ones and bytes that are no
/// UTF-8, each as "[U+202E]" or "[x9F]". Line breaks and tabs stay.
std::string visible(std::string_view text);

/// Visible, and with & < > " ' as references: fit for content and for a quoted attribute, in HTML
/// and in SVG.
std::string html(std::string_view text);

/// A JSON value for a script element of type application/json: ASCII, with < > & escaped, so that
/// nothing in it ends the element.
std::string script_json(const codec::Json& value);

/// "'sha256-…'", the source expression by which a content security policy allows an inline script
/// or style of exactly these bytes.
std::string csp_hash(std::string_view bytes);

/// An element's id made of any text: a-z, 0-9 and dashes.
std::string slug(std::string_view text);

}  // namespace deem::report
