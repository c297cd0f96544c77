// A file that is there in full or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace ekvi {

// Writes beside `path`, syncs, then renames: an older file of that name stays untouched unless all of it could be
// written. Special files (/dev/null, a pipe) are written directly. Errors: kIo with path and reason.
void WriteFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace ekvi
