#include "files/gguf_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/checked.h"
#include "files/gguf_cursor.h"
#include "files/gguf_tensor_table.h"

namespace ekvi::files {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kEntryCountMax = 65'536;
// An empty key or name (8 bytes) with the least that follows: a type and a byte's value; a dimension count, a
// dimension, a type and an offset. Empty ones are refused later, but a count that not even they could fill is refused
// at once.
constexpr uint64_t kKeyBytesMin = 8 + 4 + 1;
constexpr uint64_t kTensorBytesMin = 8 + 4 + 8 + 4 + 8;
constexpr uint64_t kKeyNameBytesMax = 65'535;
constexpr uint64_t kItemCountMax = 16u << 20;
constexpr uint64_t kMetadataBytesMax = 512u << 20;
constexpr uint32_t kTypeCount = 13;
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint32_t kAlignmentDefault = 32, kAlignmentMin = 8, kAlignmentMax = 64u << 10;

void CheckMagic(GgufCursor& cursor, std::string_view file) {
  if (cursor.left() == 0)
    throw FileError(ErrorCode::kCorrupt, file, "the file is empty", "0 bytes", "copy or download the file again");
  if (cursor.left() < kMagic.size()) {
    throw cursor.Fail(ErrorCode::kCorrupt, "truncated", fmt::format("the file has {} bytes", cursor.left()));
  }
  const auto magic = cursor.Take(kMagic.size());
  const std::string_view found(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (found != kMagic) {
    throw FileError(ErrorCode::kCorrupt, file, "not a GGUF file",
                    fmt::format("it begins with {} instead of {}", Quote(found), Quote(kMagic)),
                    "give a model file that ends in .gguf");
  }
}

uint32_t ReadVersion(GgufCursor& cursor) {
  const auto version = cursor.Read<uint32_t>();
  if (version == 2 || version == 3) return version;
  if ((version & 0xFFFF) == 0) {
    throw cursor.Fail(
        ErrorCode::kUnsupported, "a big-endian file",
        fmt::format("version field {} at offset 4; little-endian files of version 2 and 3 are read", version),
        "convert the model to little-endian");
  }
  throw cursor.Fail(ErrorCode::kUnsupported, fmt::format("GGUF version {}", version),
                    fmt::format("version {} at offset 4; versions 2 and 3 are read", version),
                    "convert the model again with a present converter");
}

// `what` is "tensor count" or "key count".
uint64_t ReadCount(GgufCursor& cursor, std::string_view what, uint64_t entry_bytes_min) {
  const uint64_t offset = cursor.at();
  const auto count = cursor.Read<uint64_t>();
  if (count > cursor.left() / entry_bytes_min) {
    throw cursor.Fail(ErrorCode::kCorrupt, fmt::format("an impossible {}", what),
                      fmt::format("{} {} at offset {}, {} bytes are left in the file", what, Digits(count),
                                  Digits(offset), Digits(cursor.left())));
  }
  if (count > kEntryCountMax) {
    throw cursor.Fail(ErrorCode::kUnsupported, fmt::format("the {} is over the limit", what),
                      fmt::format("{} {}, at most {}", what, Digits(count), Digits(kEntryCountMax)));
  }
  return count;
}

bool IsGoodKey(std::string_view key) {
  if (key.empty() || key.size() > kKeyNameBytesMax || key.front() == '.' || key.back() == '.') return false;
  if (key.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7F; });
}

GgufType ReadType(GgufCursor& cursor, std::string_view what) {
  const uint64_t offset = cursor.at();
  const auto type = cursor.Read<uint32_t>();
  if (type >= kTypeCount) {
    throw cursor.Fail(ErrorCode::kCorrupt, fmt::format("unknown {} {}", what, type),
                      fmt::format("type {} at offset {}, types are 0 to {}", type, Digits(offset), kTypeCount - 1));
  }
  return static_cast<GgufType>(type);
}

void CheckBools(GgufCursor& cursor, const GgufValue& value) {
  if (value.item_type != GgufType::kBool) return;
  for (size_t i = 0; i < value.payload.size(); ++i) {
    if (value.payload[i] <= std::byte{1}) continue;
    throw cursor.Fail(
        ErrorCode::kCorrupt, "a bool that is neither 0 nor 1",
        fmt::format("byte {} at offset {}", std::to_integer<int>(value.payload[i]), Digits(value.offset + i)));
  }
}

// The items of an array lie one after the other; strings are walked once, so that all are known to end in the file.
std::span<const std::byte> TakeItems(GgufCursor& cursor, std::span<const std::byte> file, const GgufValue& value) {
  if (value.item_type != GgufType::kString) return cursor.Take(value.count * GgufTypeBytes(value.item_type));
  const uint64_t begin = cursor.at();
  for (uint64_t i = 0; i < value.count; ++i) cursor.ReadString();
  return file.subspan(begin, cursor.at() - begin);
}

void ReadArray(GgufCursor& cursor, std::span<const std::byte> file, GgufValue& value) {
  value.item_type = ReadType(cursor, "array item type");
  if (value.item_type == GgufType::kArray) {
    throw cursor.Fail(ErrorCode::kUnsupported, "a nested array", fmt::format("at offset {}", Digits(value.offset)));
  }
  const uint64_t offset = cursor.at();
  value.count = cursor.Read<uint64_t>();
  const size_t item_bytes = value.item_type == GgufType::kString ? sizeof(uint64_t) : GgufTypeBytes(value.item_type);
  if (value.count > cursor.left() / item_bytes) {
    throw cursor.Fail(ErrorCode::kCorrupt, "truncated, or a wrong array length",
                      fmt::format("array length {} ({}) at offset {}, {} bytes are left in the file",
                                  Digits(value.count), value.TypeText(), Digits(offset), Digits(cursor.left())));
  }
  if (value.count > kItemCountMax) {
    throw cursor.Fail(ErrorCode::kUnsupported, "an array is too long",
                      fmt::format("array length {} at offset {}, at most {}", Digits(value.count), Digits(offset),
                                  Digits(kItemCountMax)));
  }
  value.offset = cursor.at();
  value.payload = TakeItems(cursor, file, value);
}

GgufValue ReadValue(GgufCursor& cursor, std::span<const std::byte> file) {
  GgufValue value;
  const uint64_t offset = cursor.at();
  value.key = cursor.ReadString();
  if (!IsGoodKey(value.key)) {
    throw cursor.Fail(
        ErrorCode::kCorrupt, fmt::format("a bad key {}", Quote(value.key)),
        fmt::format("{} bytes at offset {}; keys are 1 to {} printable ASCII bytes, their parts between dots "
                    "not empty",
                    Digits(value.key.size()), Digits(offset), Digits(kKeyNameBytesMax)));
  }
  cursor.part().name = value.key;
  value.type = value.item_type = ReadType(cursor, "value type");
  value.offset = cursor.at();
  if (value.type == GgufType::kArray) {
    ReadArray(cursor, file, value);
  } else if (value.type == GgufType::kString) {
    const std::string_view text = cursor.ReadString();
    value.offset += sizeof(uint64_t);
    value.payload = std::as_bytes(std::span(text));
  } else {
    value.payload = cursor.Take(GgufTypeBytes(value.type));
  }
  CheckBools(cursor, value);
  return value;
}

template <typename Entry, typename Name>
ReaderNames IndexNames(const std::vector<Entry>& entries, Name Entry::*name) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.*name);
  return ReaderNames(names);
}

void CheckUnique(const ReaderNames& names, std::string_view kind, auto name_of, std::string_view file) {
  const auto duplicate = names.Duplicate();
  if (!duplicate) return;
  throw FileError(ErrorCode::kCorrupt, file, fmt::format("{} {}: duplicate", kind, Quote(name_of(*duplicate))),
                  fmt::format("{} {} has the name of an earlier one", kind, Digits(*duplicate + 1)), "");
}

uint32_t FindAlignment(const GgufContents& contents, std::string_view file) {
  const auto index = contents.keys.Find(kAlignmentKey);
  if (!index) return kAlignmentDefault;
  const GgufValue& value = contents.values[*index];
  const uint32_t alignment = value.type == GgufType::kU32 ? LoadGguf<uint32_t>(value.payload.data()) : 0;
  if (alignment >= kAlignmentMin && alignment <= kAlignmentMax && std::has_single_bit(alignment)) return alignment;
  throw FileError(ErrorCode::kCorrupt, file, fmt::format("key {}: an impossible alignment", Quote(kAlignmentKey)),
                  fmt::format("{} ({}) at offset {}; a u32 power of two from {} to {}", value.ShortText(),
                              value.TypeText(), Digits(value.offset), kAlignmentMin, Digits(kAlignmentMax)),
                  "");
}

void ReadValues(GgufCursor& cursor, std::span<const std::byte> bytes, uint64_t count, GgufContents& contents) {
  for (uint64_t i = 0; i < count; ++i) {
    cursor.part() = {.kind = "key", .index = i, .count = count};
    contents.values.push_back(ReadValue(cursor, bytes));
    if (cursor.at() > kMetadataBytesMax) {
      throw cursor.Fail(ErrorCode::kUnsupported, "too much metadata",
                        fmt::format("{} bytes up to here, at most {}", Digits(cursor.at()), Digits(kMetadataBytesMax)));
    }
  }
}

void ReadTensors(GgufCursor& cursor, uint64_t count, GgufContents& contents) {
  for (uint64_t i = 0; i < count; ++i) {
    cursor.part() = {.kind = "tensor", .index = i, .count = count};
    contents.tensors.push_back(ReadGgufTensor(cursor));
  }
}

}  // namespace

GgufContents ParseGguf(std::span<const std::byte> bytes, std::string_view file) {
  GgufCursor cursor(bytes, file);
  cursor.part() = {.kind = "header"};
  CheckMagic(cursor, file);
  GgufContents contents;
  contents.version = ReadVersion(cursor);
  const uint64_t tensor_count = ReadCount(cursor, "tensor count", kTensorBytesMin);
  const uint64_t key_count = ReadCount(cursor, "key count", kKeyBytesMin);

  ReadValues(cursor, bytes, key_count, contents);
  contents.keys = IndexNames(contents.values, &GgufValue::key);
  CheckUnique(
      contents.keys, "key", [&](uint32_t i) { return contents.values[i].key; }, file);
  contents.alignment = FindAlignment(contents, file);

  ReadTensors(cursor, tensor_count, contents);
  contents.tensor_names = IndexNames(contents.tensors, &GgufTensor::name);
  CheckUnique(
      contents.tensor_names, "tensor", [&](uint32_t i) { return contents.tensors[i].name; }, file);
  PlaceGgufTensors({.bytes = bytes, .file = file, .header_end = cursor.at(), .alignment = contents.alignment},
                   contents.tensors);
  return contents;
}

}  // namespace ekvi::files
