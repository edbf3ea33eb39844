#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deem::decision {

/// What a reply says to its reader, in plain characters: a thinking block and everything from an
/// end-of-turn mark on are cut (a thinking block left open is cut to the end), Unicode quotes,
/// dashes, spaces and full-width letters become ASCII, and LaTeX commands lose their backslash
/// (\text and its kin vanish).
std::string clean_reply(std::string_view reply);

/// Lower-case words joined by single spaces: ASCII letters, digits and bytes above 0x7f are
/// word characters, all else separates. "Tide-Mill_2" gives "tide mill 2".
std::string normal_words(std::string_view text);

/// One word of a cleaned reply. "I'm", "A-level", "N/A", "U.S" are one word each, so that a
/// single letter in `text` really stands alone.
struct Word {
  std::string_view text;
  std::string lower;
  std::string_view before;  // what lies between the word before (or the start) and this one
  std::string_view after;   // and the word behind (or the end)
};
/// The words point into `text`, which must outlive them.
std::vector<Word> split_words(std::string_view text);

}  // namespace deem::decision
