// A model in one or several GGUF files: NAME-00001-of-00003.gguf and so on, any of which names them all.
//
// The first file has the metadata, each has some of the tensors. Every file passes alone; together they are as many as
// split.count says, in the order of split.no, with split.tensors.count tensors and no name twice. Read-only and safe to
// share between threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf.h"

namespace ekvi::files {

class GgufParts {
 public:
  // Errors: those of GgufFile::Open for each file; kNotFound where one is missing; kCorrupt where they do not belong
  // together, with the numbers; kUnsupported for more than 131,072 keys and tensors in all.
  static std::shared_ptr<const GgufParts> Open(const std::filesystem::path& path);
  // One file in memory, see GgufFile::Borrow.
  static std::shared_ptr<const GgufParts> Borrow(std::span<const std::byte> bytes, std::string name);
  GgufParts(const GgufParts&) = delete;
  GgufParts& operator=(const GgufParts&) = delete;

  // The one with the metadata.
  const GgufFile& first() const { return files_.front(); }
  const std::vector<GgufFile>& files() const { return files_; }
  uint64_t file_bytes() const;

  struct Place {
    const GgufFile* file = nullptr;
    const GgufTensor* tensor = nullptr;
  };
  // All tensors, in the order of the files.
  const std::vector<Place>& tensors() const { return places_; }
  // nullptr twice where there is none of that name.
  Place Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name).tensor != nullptr; }

 private:
  explicit GgufParts(std::vector<GgufFile> files);
  void CheckTogether() const;

  std::vector<GgufFile> files_;
  std::vector<Place> places_;
  ReaderNames names_;
};

}  // namespace ekvi::files
