// What the errors of the file readers have in common: they name the file, then the part of it, then the numbers, and
// quote bytes of the file so that no input can break a line or flood a screen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ekvi/error.h"

namespace ekvi::files {

// 'bytes' in quotes: characters as they are, what is not UTF-8 or controls a terminal as \xNN, cut with "…" after 80
// bytes.
std::string Quote(std::string_view bytes);

// 1234567 as "1,234,567".
std::string Digits(uint64_t number);

// Error(code, "FILE: WHAT", numbers, hint). Without a hint, that of a corrupt file is to fetch it again,
// that of an unsupported one what is supported.
Error FileError(ErrorCode code, std::string_view file, std::string_view what, std::string numbers, std::string hint);

}  // namespace ekvi::files
