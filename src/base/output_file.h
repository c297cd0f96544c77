// A file that is there in full or not at all: written beside its name, synced, then renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace ekvi::base {

// Dropped without Finish, it leaves nothing behind and an older file of that name untouched; where the file system has
// nameless files (O_TMPFILE) that holds for a killed process too. A symbolic link stays, the file it names is replaced;
// the replaced file's mode is kept. Special files (/dev/null, a pipe) are written directly. Errors: kIo with path and
// reason (no space, read-only, no such folder). After an error the object is dropped: neither Write nor Finish may
// follow.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(std::span<const std::byte> bytes);
  // The last call: the file is in place when it returns.
  void Finish();

 private:
  enum class Kind { kDirect, kNameless, kNamed };

  void Drop() noexcept;
  [[noreturn]] void Fail(int error);
  void LinkNameless();

  std::filesystem::path path_, target_;
  std::filesystem::path temporary_;  // empty while there is none
  int descriptor_ = -1;
  Kind kind_ = Kind::kDirect;
};

}  // namespace ekvi::base
