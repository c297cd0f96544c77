// What a fuzzer says: foo_fuzz.cc beside foo.cc defines TryInput and Seeds, fuzzing.cc is the rest of the program.
//
// An input may be refused with ekvi::Error, whose summary is one line. Any other exception, a failed EKVI_CHECK, a
// finding of the sanitizers, too much time or memory is a finding; libFuzzer then writes the input to a file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace ekvi::fuzzing {

// Gives `input` to what is under test and checks what must hold. Its bytes end where a sanitizer sees it.
void TryInput(std::string_view input);
// What the search begins with.
std::vector<std::string> Seeds();

// Whether `call` ran without Error.
bool Works(const std::function<void()>& call);

// What may not be refused any more: an Error is a finding.
inline void MustWork(const std::function<void()>& call) { EKVI_CHECK(Works(call)); }

// Contents of the files below a folder of the shared material whose names end so and that have at most `bytes_max`
// bytes; none where there is no such material.
std::vector<std::string> SharedFiles(const std::filesystem::path& folder, std::string_view ending, size_t bytes_max);

}  // namespace ekvi::fuzzing
