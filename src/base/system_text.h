// The small text files in which Linux describes itself (/proc, /sys): read whole, missing ones as nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi::base {

// The file's text, at most 1 MiB of it; nothing where it cannot be read.
std::optional<std::string> ReadSystemText(const std::filesystem::path& path);

// Pieces between separators, empty ones left out.
std::vector<std::string_view> SplitFields(std::string_view text, char separator);

// The decimal number that `text` starts with after blanks; nothing where there is none or it does not fit.
std::optional<uint64_t> LeadingNumber(std::string_view text);

// The number after `key` at the start of a line ("MemTotal:", "inactive_file ").
std::optional<uint64_t> NumberOfLine(std::string_view text, std::string_view key);

}  // namespace ekvi::base
