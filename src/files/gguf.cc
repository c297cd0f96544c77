#include "files/gguf.h"

#include <fmt/core.h>

#include "files/reader_error.h"

namespace ekvi::files {
namespace {

// The value of an integer entry; nothing where it is no integer or negative.
std::optional<uint64_t> AsUint(const GgufValue& value) {
  const std::byte* data = value.payload.data();
  const auto non_negative = [](int64_t number) { return number < 0 ? std::nullopt : std::optional<uint64_t>(number); };
  switch (value.type) {
    case GgufType::kU8:
      return LoadGguf<uint8_t>(data);
    case GgufType::kU16:
      return LoadGguf<uint16_t>(data);
    case GgufType::kU32:
      return LoadGguf<uint32_t>(data);
    case GgufType::kU64:
      return LoadGguf<uint64_t>(data);
    case GgufType::kI8:
      return non_negative(LoadGguf<int8_t>(data));
    case GgufType::kI16:
      return non_negative(LoadGguf<int16_t>(data));
    case GgufType::kI32:
      return non_negative(LoadGguf<int32_t>(data));
    case GgufType::kI64:
      return non_negative(LoadGguf<int64_t>(data));
    default:
      return std::nullopt;
  }
}

void RefuseShards(const GgufFile& file) {
  const auto count = file.GetUint("split.count");
  if (!count || *count <= 1) return;
  throw file.KeyError(ErrorCode::kUnsupported, "split.count", "one of several files of a model",
                      fmt::format("{} files", Digits(*count)), "open all of them as one model");
}

}  // namespace

GgufFile::GgufFile(base::MappedFile mapped, std::span<const std::byte> bytes, std::string name)
    : mapped_(std::move(mapped)), bytes_(bytes), name_(std::move(name)), contents_(ParseGguf(bytes_, name_)) {}

GgufFile GgufFile::Open(const std::filesystem::path& path) {
  GgufFile file = OpenPart(path);
  RefuseShards(file);
  return file;
}

GgufFile GgufFile::OpenPart(const std::filesystem::path& path) {
  base::MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  return GgufFile(std::move(mapped), bytes, path.string());
}

GgufFile GgufFile::Borrow(std::span<const std::byte> bytes, std::string name) {
  GgufFile file({}, bytes, std::move(name));
  RefuseShards(file);
  return file;
}

std::vector<std::pair<std::string, std::string>> GgufFile::MetadataText() const {
  std::vector<std::pair<std::string, std::string>> text;
  text.reserve(values().size());
  for (const GgufValue& value : values()) text.emplace_back(value.key, value.ShortText());
  return text;
}

const GgufValue* GgufFile::Find(std::string_view key) const {
  const auto index = contents_.keys.Find(key);
  return index ? &contents_.values[*index] : nullptr;
}

const GgufValue* GgufFile::FindTyped(std::string_view key, GgufType type) const {
  const GgufValue* value = Find(key);
  if (value != nullptr && value->type != type) throw WrongType(*value, GgufTypeName(type));
  return value;
}

std::optional<uint64_t> GgufFile::GetUint(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = AsUint(*value);
  if (!number) throw WrongType(*value, "u32 or u64");
  return number;
}

std::optional<float> GgufFile::GetF32(std::string_view key) const {
  const GgufValue* value = FindTyped(key, GgufType::kF32);
  return value == nullptr ? std::nullopt : std::optional(LoadGguf<float>(value->payload.data()));
}

std::optional<bool> GgufFile::GetBool(std::string_view key) const {
  const GgufValue* value = FindTyped(key, GgufType::kBool);
  return value == nullptr ? std::nullopt : std::optional(LoadGguf<uint8_t>(value->payload.data()) != 0);
}

std::optional<std::string_view> GgufFile::GetString(std::string_view key) const {
  const GgufValue* value = FindTyped(key, GgufType::kString);
  if (value == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(value->payload.data()), value->payload.size());
}

template <typename T>
std::optional<GgufItems<T>> GgufFile::GetItems(std::string_view key, GgufType item_type) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufType::kArray || value->item_type != item_type) {
    throw WrongType(*value, fmt::format("array of {}", GgufTypeName(item_type)));
  }
  return GgufItems<T>(value->payload.data(), value->count);
}

std::optional<GgufStrings> GgufFile::GetStrings(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufType::kArray || value->item_type != GgufType::kString)
    throw WrongType(*value, "array of string");
  return GgufStrings(value->payload, value->count);
}

std::optional<GgufItems<float>> GgufFile::GetF32s(std::string_view key) const {
  return GetItems<float>(key, GgufType::kF32);
}

std::optional<GgufItems<int32_t>> GgufFile::GetI32s(std::string_view key) const {
  return GetItems<int32_t>(key, GgufType::kI32);
}

std::optional<GgufItems<uint32_t>> GgufFile::GetU32s(std::string_view key) const {
  return GetItems<uint32_t>(key, GgufType::kU32);
}

std::optional<GgufItems<uint8_t>> GgufFile::GetBools(std::string_view key) const {
  return GetItems<uint8_t>(key, GgufType::kBool);
}

uint64_t GgufFile::RequireUint(std::string_view key) const {
  if (const auto value = GetUint(key)) return *value;
  throw MissingKey(key);
}

float GgufFile::RequireF32(std::string_view key) const {
  if (const auto value = GetF32(key)) return *value;
  throw MissingKey(key);
}

std::string_view GgufFile::RequireString(std::string_view key) const {
  if (const auto value = GetString(key)) return *value;
  throw MissingKey(key);
}

GgufStrings GgufFile::RequireStrings(std::string_view key) const {
  if (const auto value = GetStrings(key)) return *value;
  throw MissingKey(key);
}

GgufItems<float> GgufFile::RequireF32s(std::string_view key) const {
  if (const auto value = GetF32s(key)) return *value;
  throw MissingKey(key);
}

Error GgufFile::KeyError(ErrorCode code, std::string_view key, std::string_view what, std::string numbers,
                         std::string hint) const {
  return FileError(code, name_, fmt::format("key {}: {}", Quote(key), what), std::move(numbers), std::move(hint));
}

Error GgufFile::WrongType(const GgufValue& value, std::string_view wanted) const {
  return KeyError(ErrorCode::kCorrupt, value.key,
                  fmt::format("it is of type {}, wanted is {}", value.TypeText(), wanted),
                  fmt::format("value {} at offset {}", Quote(value.ShortText()), Digits(value.offset)));
}

Error GgufFile::MissingKey(std::string_view key) const {
  return KeyError(ErrorCode::kCorrupt, key, "missing", fmt::format("the file has {} keys", values().size()),
                  "convert the model again, or download it again");
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  const auto index = contents_.tensor_names.Find(name);
  return index ? &contents_.tensors[*index] : nullptr;
}

numeric::Format GgufFile::ComputedFormat(const GgufTensor& tensor) const {
  if (tensor.type->format) return *tensor.type->format;
  throw FileError(ErrorCode::kUnsupported, name_,
                  fmt::format("tensor {}: element type {} is not computed", Quote(tensor.name), tensor.type->name),
                  fmt::format("shape {}, {} bytes", tensor.ShapeText(), Digits(tensor.bytes)),
                  "use the model in F16, BF16, Q8_0, Q4_K or another type of docs/models.md");
}

}  // namespace ekvi::files
