// Text and token ids that a command is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace ekvi::cli {

// All bytes of a file, or of stdin for "-". At most 64 MiB: more is refused, never cut (no context is that long).
// Terminals and pipes, named ones and /dev/fd/N too, are read to their end; a named pipe waits for its writer, and a
// signal ends the wait as it ends other work (interrupts.h).
// Errors: kNotFound, kIo with path and reason (folders, block devices); kInvalidArgument past the limit; kCancelled
// where the signal does not end the process.
std::string ReadText(const std::string& path);

// The one text of a command: its argument, else the file of `file_option`, else stdin where that is no terminal.
// Nothing where there is none of them; kInvalidArgument where there are both argument and file.
std::optional<std::string> InputText(const Arguments& arguments, std::string_view file_option);

// Ids separated by commas, blanks or line feeds. kInvalidArgument names the first word that is no id and its place;
// `origin` says where the text came from.
std::vector<int32_t> ParseIds(std::string_view text, std::string_view origin);
// kInvalidArgument names the first id outside 0 … vocabulary - 1 and its place.
void CheckIds(const std::vector<int32_t>& ids, int vocabulary, std::string_view origin);

// ID:VALUE, e.g. "13:-2.5" or "2:-inf".
std::pair<int32_t, double> ParseBias(std::string_view text);

}  // namespace ekvi::cli
