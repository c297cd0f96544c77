// The metadata of one architecture in a GGUF file, with the range of every number checked where it is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf_parts.h"
#include "model/key_range.h"

namespace ekvi::model {

// Keys are named by what follows the architecture: "block_count" is "llama.block_count". Errors (kCorrupt) name the
// full key, the value and the range; a missing key is an error where no default is given.
class GgufKeys {
 public:
  GgufKeys(const files::GgufParts& parts, std::string_view architecture) : parts_(parts), architecture_(architecture) {}

  const files::GgufParts& parts() const { return parts_; }
  const files::GgufFile& file() const { return parts_.first(); }
  std::string Name(std::string_view key) const { return architecture_ + "." + std::string(key); }
  bool Has(std::string_view key) const { return file().Find(Name(key)) != nullptr; }

  int64_t Count(std::string_view key, KeyRange range) const;
  int64_t Count(std::string_view key, KeyRange range, int64_t otherwise) const;
  // One number for all layers, or an array with one for each.
  std::vector<int64_t> CountPerLayer(std::string_view key, KeyRange range, int64_t layers) const;
  double Number(std::string_view key, NumberRange range) const;
  double Number(std::string_view key, NumberRange range, double otherwise) const;
  bool Flag(std::string_view key, bool otherwise) const;

  Error Fail(ErrorCode code, std::string_view key, std::string_view what, std::string numbers = "",
             std::string hint = "") const;

 private:
  int64_t Checked(std::string_view key, uint64_t value, KeyRange range) const;

  const files::GgufParts& parts_;
  std::string architecture_;
};

}  // namespace ekvi::model
