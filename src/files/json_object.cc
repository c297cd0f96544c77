#include "files/json_object.h"

#include <fmt/core.h>

#include <cmath>

#include "files/reader_error.h"

namespace ekvi::files {
namespace {

bool IsNumber(const JsonValue& value) {
  return (value.kind == JsonKind::kInteger || value.kind == JsonKind::kNumber) && std::isfinite(value.number);
}

}  // namespace

JsonObject::JsonObject(const JsonValue& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {
  if (value.kind == JsonKind::kObject) return;
  // The path ends in the dot that stands before keys.
  const std::string what = path_.empty()
                               ? "not a JSON object"
                               : fmt::format("key {}: not a JSON object", Quote(path_.substr(0, path_.size() - 1)));
  throw FileError(ErrorCode::kCorrupt, file_, what, fmt::format("it is {}", JsonKindName(value.kind)), "");
}

const JsonValue* JsonObject::Find(std::string_view key) const {
  const JsonValue* value = value_->Find(key);
  return value == nullptr || value->kind == JsonKind::kNull ? nullptr : value;
}

std::optional<int64_t> JsonObject::Integer(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::kInteger) throw WrongType(key, *value, "an integer");
  return value->integer;
}

std::optional<double> JsonObject::Number(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!IsNumber(*value)) throw WrongType(key, *value, "a number");
  return value->number;
}

std::optional<bool> JsonObject::Bool(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::kBool) throw WrongType(key, *value, "true or false");
  return value->boolean;
}

std::optional<std::string_view> JsonObject::String(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::kString) throw WrongType(key, *value, "a string");
  return value->string;
}

std::optional<JsonObject> JsonObject::Object(std::string_view key) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::kObject) throw WrongType(key, *value, "an object");
  return JsonObject(*value, file_, path_ + std::string(key) + ".");
}

template <typename T, typename Take>
std::optional<std::vector<T>> JsonObject::Items(std::string_view key, std::string_view wanted, const Take& take) const {
  const JsonValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != JsonKind::kArray) throw WrongType(key, *value, wanted);
  std::vector<T> items;
  for (const JsonValue& item : value->items) {
    const std::optional<T> taken = take(item);
    if (!taken) throw WrongType(key, item, wanted);
    items.push_back(*taken);
  }
  return items;
}

std::optional<std::vector<int64_t>> JsonObject::Integers(std::string_view key) const {
  return Items<int64_t>(key, "a list of integers", [](const JsonValue& item) {
    return item.kind == JsonKind::kInteger ? std::optional(item.integer) : std::nullopt;
  });
}

std::optional<std::vector<double>> JsonObject::Numbers(std::string_view key) const {
  return Items<double>(key, "a list of numbers", [](const JsonValue& item) {
    return IsNumber(item) ? std::optional(item.number) : std::nullopt;
  });
}

std::optional<std::vector<std::string_view>> JsonObject::Strings(std::string_view key) const {
  return Items<std::string_view>(key, "a list of strings", [](const JsonValue& item) {
    return item.kind == JsonKind::kString ? std::optional<std::string_view>(item.string) : std::nullopt;
  });
}

Error JsonObject::KeyError(ErrorCode code, std::string_view key, std::string_view what, std::string numbers,
                           std::string hint) const {
  return FileError(code, file_, fmt::format("key {}: {}", Quote(path_ + std::string(key)), what), std::move(numbers),
                   std::move(hint));
}

Error JsonObject::Missing(std::string_view key) const {
  return KeyError(ErrorCode::kCorrupt, key, "missing", fmt::format("the object has {} keys", value_->members.size()),
                  "the file may be incomplete: fetch it again");
}

Error JsonObject::WrongType(std::string_view key, const JsonValue& value, std::string_view wanted) const {
  return KeyError(ErrorCode::kCorrupt, key,
                  fmt::format("it is of type {}, wanted is {}", JsonKindName(value.kind), wanted),
                  fmt::format("value {}", value.ShortText()));
}

}  // namespace ekvi::files
