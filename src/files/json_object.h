// Typed access to an object of a JSON file, with errors that name file, key and value.
//
// A key whose value is null counts as missing: so do the programs that write such files mean it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/error.h"
#include "files/json_value.h"

namespace ekvi::files {

class JsonObject {
 public:
  // The value outlives this. `path` is what stands before keys in errors ("rope_scaling."). Error(kCorrupt) where it is
  // no object.
  JsonObject(const JsonValue& value, std::string file, std::string path = "");

  const std::string& file() const { return file_; }
  const JsonValue& value() const { return *value_; }
  // nullptr where the key is missing or null.
  const JsonValue* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }

  // Nothing where the key is missing; Error(kCorrupt) naming key, type and the type wanted where it has another.
  std::optional<int64_t> Integer(std::string_view key) const;
  std::optional<double> Number(std::string_view key) const;  // finite; an integer will do
  std::optional<bool> Bool(std::string_view key) const;
  std::optional<std::string_view> String(std::string_view key) const;
  std::optional<JsonObject> Object(std::string_view key) const;
  std::optional<std::vector<int64_t>> Integers(std::string_view key) const;
  std::optional<std::vector<double>> Numbers(std::string_view key) const;
  std::optional<std::vector<std::string_view>> Strings(std::string_view key) const;

  // "FILE: key 'KEY': WHAT" with the numbers.
  Error KeyError(ErrorCode code, std::string_view key, std::string_view what, std::string numbers = "",
                 std::string hint = "") const;
  Error Missing(std::string_view key) const;

 private:
  Error WrongType(std::string_view key, const JsonValue& value, std::string_view wanted) const;
  template <typename T, typename Take>
  std::optional<std::vector<T>> Items(std::string_view key, std::string_view wanted, const Take& take) const;

  const JsonValue* value_;
  std::string file_, path_;
};

}  // namespace ekvi::files
