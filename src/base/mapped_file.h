// A file's bytes, mapped read-only: nothing is copied, and what several processes read is in memory once.
// The file must not shrink while it is mapped: reading past its new end kills the process (SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ekvi::base {

class MappedFile {
 public:
  MappedFile() = default;
  // Regular files only; the size is taken once, from the open descriptor. Errors: kNotFound, kIo (with the reason).
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Lets go of the memory that a part of bytes() takes in this process: whole pages, from the one that holds its first
  // byte to the last one that ends within it. They stay readable, from the system's cache or the disk. Nothing for
  // bytes of somebody else.
  void Release(std::span<const std::byte> part) const noexcept;

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ekvi::base
