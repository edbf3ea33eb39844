#pragma once

#include <string>

#include "board/board.h"

namespace deem::cli {

/// The boards for people, findings under them.
std::string boards_text(const board::Inventory& inventory);
/// Schema "deem.boards/1"; what is not told is null.
std::string boards_json(const board::Inventory& inventory);

}  // namespace deem::cli
