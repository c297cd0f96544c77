// Tokens "<0x00>" to "<0xFF>", one for each byte: how a model writes what none of its pieces writes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ekvi/error.h"

namespace ekvi::text {

// By byte; -1: there is none.
using ByteTokens = std::array<int32_t, 256>;

inline constexpr ByteTokens kNoByteTokens = [] {
  ByteTokens none;
  none.fill(-1);
  return none;
}();

// Appends the tokens of the bytes of `text`; false, and nothing appended, where one of them has none.
bool AppendByteTokens(const ByteTokens& tokens, std::string_view text, std::vector<int32_t>& ids);

// Error(kUnsupported) for a text that no piece writes, where there is no unknown token either.
Error CannotWrite(std::string_view text, size_t vocabulary_size);

}  // namespace ekvi::text
