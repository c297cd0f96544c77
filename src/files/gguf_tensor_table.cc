// Placing takes three passes. Each tensor alone: its offset is aligned and its bytes end within the file. In order of
// offset: none begins before the one in front of it ends. Again in that order: what lies between is padding, shorter
// than the alignment and zero. Separate passes, so that a misplaced tensor is named itself and not its neighbour.
#include "files/gguf_tensor_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace ekvi::files {
namespace {

constexpr uint64_t kNameBytesMax = 63;  // ggml keeps 64 with the closing NUL
constexpr uint32_t kDimCountMax = 4;
constexpr uint64_t kDimMax = uint64_t{1} << 40;

Error TensorError(const GgufDataArea& area, const GgufTensor& tensor, std::string_view what, std::string numbers,
                  std::string hint = "") {
  return FileError(ErrorCode::kCorrupt, area.file, fmt::format("tensor {}: {}", Quote(tensor.name), what),
                   std::move(numbers), std::move(hint));
}

void ReadName(GgufCursor& cursor, GgufTensor& tensor) {
  const uint64_t offset = cursor.at();
  tensor.name = cursor.ReadString();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool readable =
      !tensor.name.empty() && tensor.name.size() <= kNameBytesMax && std::ranges::none_of(tensor.name, is_control);
  if (!readable) {
    throw cursor.Fail(ErrorCode::kCorrupt, fmt::format("a bad name {}", Quote(tensor.name)),
                      fmt::format("{} bytes at offset {}; names have 1 to {} bytes and no control characters",
                                  Digits(tensor.name.size()), Digits(offset), kNameBytesMax));
  }
  cursor.part().name = tensor.name;
}

void ReadDims(GgufCursor& cursor, GgufTensor& tensor) {
  const uint64_t offset = cursor.at();
  tensor.dim_count = cursor.Read<uint32_t>();
  if (tensor.dim_count == 0 || tensor.dim_count > kDimCountMax) {
    throw cursor.Fail(ErrorCode::kCorrupt, "a wrong number of dimensions",
                      fmt::format("{} dimensions at offset {}, 1 to {} are possible", Digits(tensor.dim_count),
                                  Digits(offset), kDimCountMax));
  }
  for (uint32_t i = 0; i < tensor.dim_count; ++i) tensor.dims[i] = cursor.Read<uint64_t>();
  for (uint32_t i = 0; i < tensor.dim_count; ++i) {
    if (tensor.dims[i] == 0 || tensor.dims[i] > kDimMax) {
      throw cursor.Fail(
          ErrorCode::kCorrupt, "an impossible shape",
          fmt::format("shape {} at offset {}, each dimension is 1 to 2^40", tensor.ShapeText(), Digits(offset)));
    }
  }
}

void ReadType(GgufCursor& cursor, GgufTensor& tensor) {
  const uint64_t offset = cursor.at();
  const auto id = cursor.Read<uint32_t>();
  tensor.type = FindGgufTensorType(id);
  if (tensor.type != nullptr) return;
  const std::string_view removed = RemovedGgufTensorType(id);
  const std::string what = removed.empty() ? fmt::format("unknown element type {}", id)
                                           : fmt::format("element type {} ({}), which ggml removed", id, removed);
  throw cursor.Fail(ErrorCode::kUnsupported, what, fmt::format("type {} at offset {}", id, Digits(offset)),
                    "convert the model again, to F16, Q8_0 or Q4_K");
}

void CountBytes(GgufCursor& cursor, GgufTensor& tensor) {
  const GgufTensorType& type = *tensor.type;
  if (tensor.dims[0] % type.block_values != 0) {
    throw cursor.Fail(ErrorCode::kCorrupt, fmt::format("its rows do not divide into blocks of {}", type.name),
                      fmt::format("row length {} in shape {}, block length {}", Digits(tensor.dims[0]),
                                  tensor.ShapeText(), type.block_values));
  }
  std::optional<uint64_t> values = 1;
  for (const uint64_t dim : tensor.dims) values = values ? base::CheckedMul(*values, dim) : values;
  const std::optional<uint64_t> bytes =
      values ? base::CheckedMul<uint64_t>(*values / type.block_values, type.block_bytes) : std::nullopt;
  if (!bytes) {
    throw cursor.Fail(ErrorCode::kCorrupt, "its size overflows",
                      fmt::format("shape {} of {}: more than 2^64 bytes", tensor.ShapeText(), type.name));
  }
  tensor.values = *values;
  tensor.bytes = *bytes;
}

void CheckPlace(const GgufDataArea& area, const GgufTensor& tensor, uint64_t data_start) {
  if (tensor.offset % area.alignment != 0) {
    throw TensorError(
        area, tensor, "begins off the alignment",
        fmt::format("offset {} in the data, alignment {}", Digits(tensor.offset), Digits(area.alignment)));
  }
  const uint64_t data_bytes = area.bytes.size() - data_start;
  if (tensor.offset > data_bytes) {
    throw TensorError(area, tensor, "begins past the end of the file",
                      fmt::format("offset {} in the data, which begins at byte {}; the file has {} bytes",
                                  Digits(tensor.offset), Digits(data_start), Digits(area.bytes.size())),
                      "copy or download the file again: it is truncated or damaged");
  }
  const uint64_t there = data_bytes - tensor.offset;
  if (tensor.bytes > there) {
    throw TensorError(
        area, tensor, "ends past the end of the file",
        fmt::format("{} bytes expected from byte {}, {} are there; the file has {} bytes", Digits(tensor.bytes),
                    Digits(data_start + tensor.offset), Digits(there), Digits(area.bytes.size())),
        fmt::format("copy or download the file again: at least {} bytes are missing", Digits(tensor.bytes - there)));
  }
}

void CheckOverlap(const GgufDataArea& area, const GgufTensor& before, const GgufTensor& tensor) {
  const uint64_t end = before.offset + before.bytes;
  if (tensor.offset >= end) return;
  throw TensorError(area, tensor, fmt::format("overlaps tensor {}", Quote(before.name)),
                    fmt::format("it begins at byte {}, the other lies at {} to {}", Digits(tensor.offset),
                                Digits(before.offset), Digits(end)));
}

void CheckPadding(const GgufDataArea& area, uint64_t begin, uint64_t end, std::string_view where) {
  if (end - begin >= area.alignment) {
    throw FileError(ErrorCode::kCorrupt, area.file, fmt::format("bytes that belong to nothing {}", where),
                    fmt::format("{} bytes from byte {}, padding to {} has fewer", Digits(end - begin), Digits(begin),
                                Digits(area.alignment)),
                    "");
  }
  const auto padding = area.bytes.subspan(begin, end - begin);
  const auto odd = std::ranges::find_if(padding, [](std::byte b) { return b != std::byte{0}; });
  if (odd == padding.end()) return;
  throw FileError(ErrorCode::kCorrupt, area.file, fmt::format("padding that is not zero {}", where),
                  fmt::format("byte {} is {}", Digits(begin + static_cast<uint64_t>(odd - padding.begin())),
                              std::to_integer<int>(*odd)),
                  "");
}

// The byte from which tensors' offsets count. A file without tensors may end unpadded: vocabularies are written that
// way.
uint64_t DataStart(const GgufDataArea& area, const std::vector<GgufTensor>& tensors) {
  const uint64_t size = area.bytes.size();
  const uint64_t start = base::CheckedRoundUp<uint64_t>(area.header_end, area.alignment).value_or(size);
  if (tensors.empty()) return std::min(start, size);
  if (start < size) return start;
  throw FileError(ErrorCode::kCorrupt, area.file, "the tensors' data is missing",
                  fmt::format("{} tensors are described up to byte {}; the file has {} bytes", Digits(tensors.size()),
                              Digits(area.header_end), Digits(size)),
                  "copy or download the file again: it is truncated");
}

}  // namespace

std::string GgufTensor::ShapeText() const {
  std::string text = "[";
  for (uint32_t i = 0; i < std::min(dim_count, kDimCountMax); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", dims[i]);
  return text + "]";
}

GgufTensor ReadGgufTensor(GgufCursor& cursor) {
  GgufTensor tensor;
  ReadName(cursor, tensor);
  ReadDims(cursor, tensor);
  ReadType(cursor, tensor);
  CountBytes(cursor, tensor);
  tensor.offset = cursor.Read<uint64_t>();
  return tensor;
}

void PlaceGgufTensors(const GgufDataArea& area, std::vector<GgufTensor>& tensors) {
  const uint64_t data_start = DataStart(area, tensors);
  for (GgufTensor& tensor : tensors) {
    CheckPlace(area, tensor, data_start);
    tensor.offset += data_start;
  }

  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return tensors[i].offset; });
  for (size_t i = 1; i < order.size(); ++i) CheckOverlap(area, tensors[order[i - 1]], tensors[order[i]]);

  CheckPadding(area, area.header_end, data_start, "before the tensors");
  uint64_t end = data_start;
  for (const uint32_t i : order) {
    CheckPadding(area, end, tensors[i].offset, fmt::format("before tensor {}", Quote(tensors[i].name)));
    end = tensors[i].offset + tensors[i].bytes;
  }
  CheckPadding(area, end, area.bytes.size(), "after the last tensor");
}

}  // namespace ekvi::files
