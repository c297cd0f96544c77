// The weights of a Hugging Face folder: model.safetensors, or model.safetensors.index.json with the files it names.
//
// An index is no more trusted than the rest: its files are plain names in the folder itself, regular files or the links
// of the Hub's cache (into its own ../../blobs), and every tensor lies in exactly the file that the index says.
// Read-only and safe to share between threads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "files/reader_names.h"
#include "files/safetensors.h"

namespace ekvi::files {

class SafetensorsFolder {
 public:
  // Errors: those of SafetensorsFile::Open and ParseJson; kNotFound for a folder without weights (naming what was
  // looked for) or a file of the index that is not there; kCorrupt for a name outside the folder, a tensor that is not
  // where the index says or in two files; kUnsupported for over 1,000 files.
  static SafetensorsFolder Open(const std::filesystem::path& folder);

  struct Place {
    const SafetensorsFile* file = nullptr;
    const SafetensorsTensor* tensor = nullptr;
  };
  // nullptr twice where there is none of that name.
  Place Find(std::string_view name) const;

  const std::string& name() const { return name_; }
  const std::vector<SafetensorsFile>& files() const { return files_; }

 private:
  explicit SafetensorsFolder(std::string name) : name_(std::move(name)) {}
  void OpenIndexed(const std::filesystem::path& folder, const std::filesystem::path& index);
  void IndexNames();

  std::string name_;
  std::vector<SafetensorsFile> files_;
  std::vector<Place> places_;
  ReaderNames names_;
};

}  // namespace ekvi::files
