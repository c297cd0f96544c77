#include "files/safetensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/checked.h"
#include "files/reader_error.h"
#include "numeric/convert.h"

namespace ekvi::files {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are read where they lie: little-endian machines only");

constexpr uint64_t kLengthBytes = 8;
// 65,536 tensors of 512-byte names need less.
constexpr uint64_t kHeaderBytesMax = 32u << 20;
constexpr char kIncomplete[] = "copy or download the file again: it is incomplete or damaged";

// The header's text; checks its length against the file.
std::string_view TakeHeader(std::span<const std::byte> bytes, std::string_view file) {
  if (bytes.size() < kLengthBytes) {
    throw FileError(ErrorCode::kCorrupt, file, "truncated: no room for the header's length",
                    fmt::format("the file has {} bytes", bytes.size()), kIncomplete);
  }
  uint64_t length;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::string numbers =
      fmt::format("header length {}, the file has {} bytes", Digits(length), Digits(bytes.size()));
  constexpr std::string_view kPointer = "version ";
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), kLengthBytes);
  if (start == kPointer) {
    throw FileError(ErrorCode::kCorrupt, file, "not a safetensors file but a text, perhaps a large-file pointer",
                    numbers, "fetch the file itself (git lfs pull)");
  }
  if (length > bytes.size() - kLengthBytes) {
    throw FileError(ErrorCode::kCorrupt, file, "the header length is past the end of the file", numbers, kIncomplete);
  }
  if (length < 2) throw FileError(ErrorCode::kCorrupt, file, "the header length is too small", numbers, "");
  if (length > kHeaderBytesMax) {
    throw FileError(ErrorCode::kUnsupported, file, "the header is too long",
                    fmt::format("{}; at most {} are read", numbers, Digits(kHeaderBytesMax)), "");
  }
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length};
}

ReaderNames IndexNames(const std::vector<SafetensorsTensor>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const SafetensorsTensor& tensor : tensors) names.push_back(tensor.name);
  return ReaderNames(names);
}

std::string Offsets(const SafetensorsTensor& tensor) {
  return fmt::format("offsets {} to {}", Digits(tensor.begin), Digits(tensor.end));
}

// Bytes that shape and type ask for; nothing where they pass 2^64 or are no whole number.
std::optional<uint64_t> BytesOf(const SafetensorsTensor& tensor) {
  std::optional<uint64_t> bits = tensor.type->bits;
  if (std::ranges::find(tensor.shape, uint64_t{0}) != tensor.shape.end()) return 0;
  for (const uint64_t dim : tensor.shape) bits = bits ? base::CheckedMul(*bits, dim) : bits;
  return bits && *bits % 8 == 0 ? std::optional(*bits / 8) : std::nullopt;
}

template <typename Stored>
std::vector<int64_t> CopyIntegers(std::span<const std::byte> bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<int64_t>(value);
  }
  return values;
}

std::optional<DType> FloatType(std::string_view name) {
  if (name == "F64") return DType::kF64;
  if (name == "F32") return DType::kF32;
  if (name == "F16") return DType::kF16;
  if (name == "BF16") return DType::kBF16;
  return std::nullopt;
}

}  // namespace

SafetensorsFile::SafetensorsFile(base::MappedFile mapped, std::span<const std::byte> bytes, std::string name)
    : mapped_(std::move(mapped)), name_(std::move(name)), file_bytes_(bytes.size()) {
  const std::string_view json = TakeHeader(bytes, name_);
  data_ = bytes.subspan(kLengthBytes + json.size());
  header_ = ParseSafetensorsHeader(json, name_);
  for (const SafetensorsTensor& tensor : header_.tensors) CheckSize(tensor);
  CheckTiling();
  names_ = IndexNames(header_.tensors);
}

SafetensorsFile SafetensorsFile::Open(const std::filesystem::path& path) {
  base::MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  return SafetensorsFile(std::move(mapped), bytes, path.string());
}

SafetensorsFile SafetensorsFile::Borrow(std::span<const std::byte> bytes, std::string name) {
  return SafetensorsFile({}, bytes, std::move(name));
}

Error SafetensorsFile::TensorError(ErrorCode code, const SafetensorsTensor& tensor, std::string_view what,
                                   std::string numbers) const {
  return FileError(code, name_, fmt::format("tensor {}: {}", Quote(tensor.name), what), std::move(numbers), "");
}

void SafetensorsFile::CheckSize(const SafetensorsTensor& tensor) const {
  if (tensor.begin > tensor.end)
    throw TensorError(ErrorCode::kCorrupt, tensor, "its offsets are reversed", Offsets(tensor));
  const auto bytes = BytesOf(tensor);
  const std::string shape = fmt::format("shape {} of {}", tensor.ShapeText(), tensor.type->name);
  if (!bytes)
    throw TensorError(ErrorCode::kCorrupt, tensor, "its size overflows or is no whole number of bytes", shape);
  if (*bytes != tensor.end - tensor.begin) {
    throw TensorError(ErrorCode::kCorrupt, tensor, "its offsets do not fit its shape",
                      fmt::format("{} needs {} bytes, {} give {}", shape, Digits(*bytes), Offsets(tensor),
                                  Digits(tensor.end - tensor.begin)));
  }
  if (tensor.end > data_.size()) {
    throw TensorError(ErrorCode::kCorrupt, tensor, "ends past the end of the file",
                      fmt::format("{}, {} bytes of data are there; the file has {} bytes", Offsets(tensor),
                                  Digits(data_.size()), Digits(file_bytes_)));
  }
}

void SafetensorsFile::CheckTiling() const {
  const auto& tensors = header_.tensors;
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return std::pair(tensors[i].begin, tensors[i].end); });
  uint64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const SafetensorsTensor& tensor = tensors[order[i]];
    if (tensor.begin < end) {
      const SafetensorsTensor& before = tensors[order[i - 1]];
      throw TensorError(ErrorCode::kCorrupt, tensor, fmt::format("overlaps tensor {}", Quote(before.name)),
                        fmt::format("{} and {}", Offsets(tensor), Offsets(before)));
    }
    if (tensor.begin > end) {
      throw TensorError(ErrorCode::kCorrupt, tensor, "bytes that belong to nothing lie before it",
                        fmt::format("{}, the tensor before ends at {}", Offsets(tensor), Digits(end)));
    }
    end = tensor.end;
  }
  if (end == data_.size()) return;
  throw FileError(ErrorCode::kCorrupt, name_, "bytes that belong to nothing after the last tensor",
                  fmt::format("the tensors end at {}, the data at {}", Digits(end), Digits(data_.size())), "");
}

std::optional<std::string_view> SafetensorsFile::Metadata(std::string_view key) const {
  const auto entry = std::ranges::find(header_.metadata, key, &std::pair<std::string, std::string>::first);
  return entry == header_.metadata.end() ? std::nullopt : std::optional<std::string_view>(entry->second);
}

const SafetensorsTensor* SafetensorsFile::Find(std::string_view name) const {
  const auto index = names_.Find(name);
  return index ? &header_.tensors[*index] : nullptr;
}

const SafetensorsTensor& SafetensorsFile::Require(std::string_view name) const {
  if (const SafetensorsTensor* tensor = Find(name)) return *tensor;
  throw FileError(ErrorCode::kCorrupt, name_, fmt::format("tensor {}: missing", Quote(name)),
                  fmt::format("the file has {} tensors", Digits(header_.tensors.size())), "");
}

std::vector<double> SafetensorsFile::ReadF64(std::string_view name) const {
  const SafetensorsTensor& tensor = Require(name);
  const auto type = FloatType(tensor.type->name);
  if (!type) {
    throw TensorError(ErrorCode::kUnsupported, tensor, fmt::format("element type {}", tensor.type->name),
                      "F64, F32, F16 or BF16 are wanted");
  }
  const auto bytes = Data(tensor);
  std::vector<double> values(bytes.size() * 8 / tensor.type->bits);
  numeric::Widen(*type, bytes.data(), values.data(), values.size());
  return values;
}

std::vector<int64_t> SafetensorsFile::ReadI64(std::string_view name) const {
  const SafetensorsTensor& tensor = Require(name);
  const std::string_view type = tensor.type->name;
  const auto bytes = Data(tensor);
  if (type == "I64") return CopyIntegers<int64_t>(bytes);
  if (type == "I32") return CopyIntegers<int32_t>(bytes);
  if (type == "I16") return CopyIntegers<int16_t>(bytes);
  if (type == "I8") return CopyIntegers<int8_t>(bytes);
  if (type == "U32") return CopyIntegers<uint32_t>(bytes);
  if (type == "U16") return CopyIntegers<uint16_t>(bytes);
  if (type == "U8" || type == "BOOL") return CopyIntegers<uint8_t>(bytes);
  if (type != "U64") {
    throw TensorError(ErrorCode::kUnsupported, tensor, fmt::format("element type {}", type),
                      "an integer type is wanted");
  }
  std::vector<int64_t> values = CopyIntegers<uint64_t>(bytes);
  const auto negative = std::ranges::find_if(values, [](int64_t value) { return value < 0; });
  if (negative == values.end()) return values;
  throw TensorError(ErrorCode::kCorrupt, tensor, "a value does not fit 63 bits",
                    fmt::format("value {} is {}", Digits(static_cast<uint64_t>(negative - values.begin())),
                                Digits(static_cast<uint64_t>(*negative))));
}

}  // namespace ekvi::files
