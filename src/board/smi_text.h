#pragma once

// Private to board: what nvidia-smi prints, taken apart. Pure.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "board/board.h"

namespace deem::board {

/// A field of ours and the names that versions of nvidia-smi have for it, the newest first.
struct SmiField {
  std::string_view key;
  std::vector<std::string_view> names;
};

/// The fields that `deem` asks for, all but the first optional.
const std::vector<SmiField>& smi_list_fields();
/// Those that change from second to second.
const std::vector<SmiField>& smi_read_fields();

/// A query: the names asked for and the keys they stand for, in order.
struct SmiQuery {
  std::vector<std::string> names;
  std::vector<std::string> keys;
  std::string argument() const;  // "--query-gpu=uuid,…"
};

/// Every quoted name of `nvidia-smi --help-query-gpu`, aliases included.
std::set<std::string, std::less<>> parse_smi_help(std::string_view text);

/// The fields among `known`; one unknown field would fail the whole query.
SmiQuery make_smi_query(const std::vector<SmiField>& fields,
                        const std::set<std::string, std::less<>>& known);

/// The reference bench's two queries, for an nvidia-smi without a list of its fields.
SmiQuery reference_smi_query(int which);

/// One line of `--format=csv,noheader,nounits`, by key; what is not told is absent.
struct SmiLine {
  std::vector<std::pair<std::string, std::string>> values;
  std::string error;  // "GPU is lost", "GPU requires reset" where a field says so
  std::optional<std::string> text(std::string_view key) const;  // fit for a line
  std::optional<double> number(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;           // Enabled, Disabled
  std::optional<std::uint64_t> bits(std::string_view key) const;  // 0x…
};

struct SmiTable {
  std::vector<SmiLine> lines;
  std::vector<std::string> problems;  // lines that are no row of the query: an error of one board
};

/// The last column may hold commas (a process's name). Lines without a uuid are problems.
SmiTable parse_smi_csv(std::string_view text, const std::vector<std::string>& keys);

/// The MIG instances of `nvidia-smi -L` by their board's UUID: "MIG 1g.10gb  Device  0: (UUID:
/// MIG-…)" under its board's line. It tells nothing of their memory.
std::vector<std::pair<std::string, Instance>> parse_smi_instances(std::string_view text);

/// Whether a value says that there is none: N/A, [N/A], [Not Supported], Not Found, ERR! …
bool is_smi_absent(std::string_view value);

BoardInfo smi_board(const SmiLine& line);
record::PowerReading smi_reading(const SmiLine& line);

}  // namespace deem::board
