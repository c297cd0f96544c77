// The keys of a Hugging Face config.json, with the range of every number checked where it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/json_object.h"
#include "model/key_range.h"

namespace ekvi::model {

// Errors (kCorrupt) name file, key, value and range; a missing key is an error where no default is given. A value of
// null counts as missing, but IsNull tells.
class HubKeys {
 public:
  explicit HubKeys(files::JsonObject object) : object_(std::move(object)) {}

  const files::JsonObject& object() const { return object_; }
  bool Has(std::string_view key) const { return object_.Has(key); }
  // The key is there, with a value of null.
  bool IsNull(std::string_view key) const;

  int64_t Count(std::string_view key, KeyRange range) const;
  int64_t Count(std::string_view key, KeyRange range, int64_t otherwise) const;
  // Nothing where the key is missing; an error where there is not one for each layer.
  std::optional<std::vector<int64_t>> CountPerLayer(std::string_view key, KeyRange range, int64_t layers) const;
  double Number(std::string_view key, NumberRange range) const;
  double Number(std::string_view key, NumberRange range, double otherwise) const;
  // A soft cap: null means none (0), a missing key `otherwise`.
  double CapOrNone(std::string_view key, double otherwise) const;
  bool Flag(std::string_view key, bool otherwise) const;
  // kUnsupported, with the reason, where the key is true.
  void RefuseTrue(std::string_view key, std::string_view why) const;

  Error Fail(ErrorCode code, std::string_view key, std::string_view what, std::string numbers = "",
             std::string hint = "") const {
    return object_.KeyError(code, key, what, std::move(numbers), std::move(hint));
  }

 private:
  int64_t Checked(std::string_view key, int64_t value, KeyRange range) const;

  files::JsonObject object_;
};

}  // namespace ekvi::model
