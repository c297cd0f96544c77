// For tests: writes GGUF files of any shape into memory, right or wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf_value.h"

namespace ekvi::files {

template <typename T>
std::string GgufBytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string GgufString(std::string_view text) { return GgufBytes<uint64_t>(text.size()) + std::string(text); }

class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;

  GgufBuilder& Value(std::string_view key, uint32_t type, std::string_view payload) {
    keys_ += GgufString(key) + GgufBytes(type) + std::string(payload);
    ++key_count_;
    return *this;
  }
  GgufBuilder& Array(std::string_view key, uint32_t item_type, uint64_t count, std::string_view items) {
    return Value(key, 9, GgufBytes(item_type) + GgufBytes(count) + std::string(items));
  }
  GgufBuilder& U32(std::string_view key, uint32_t value) { return Value(key, 4, GgufBytes(value)); }
  GgufBuilder& F32(std::string_view key, float value) { return Value(key, 6, GgufBytes(value)); }
  GgufBuilder& Bool(std::string_view key, bool value) { return Value(key, 7, GgufBytes<uint8_t>(value)); }
  GgufBuilder& String(std::string_view key, std::string_view value) { return Value(key, 8, GgufString(value)); }
  GgufBuilder& Strings(std::string_view key, const std::vector<std::string>& values) {
    std::string items;
    for (const std::string& value : values) items += GgufString(value);
    return Array(key, 8, values.size(), items);
  }
  template <typename T>
  GgufBuilder& Items(std::string_view key, uint32_t item_type, const std::vector<T>& values) {
    std::string items;
    for (const T value : values) items += GgufBytes(value);
    return Array(key, item_type, values.size(), items);
  }

  // Data is laid out in the order of the calls.
  GgufBuilder& Tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, std::string_view data) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment, '\0');
    return TensorAt(name, dims, type, data_.size(), data);
  }
  // The same with the offset that stands in the file.
  GgufBuilder& TensorAt(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset,
                        std::string_view data) {
    tensors_ += GgufString(name) + GgufBytes(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) tensors_ += GgufBytes(dim);
    tensors_ += GgufBytes(type) + GgufBytes(offset);
    data_ += data;
    ++tensor_count_;
    return *this;
  }

  std::string Header() const {
    return "GGUF" + GgufBytes(version) + GgufBytes(tensor_count_) + GgufBytes(key_count_) + keys_ + tensors_;
  }
  std::string Build() const {
    std::string file = Header();
    file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
    return file + data_;
  }

 private:
  uint64_t key_count_ = 0, tensor_count_ = 0;
  std::string keys_, tensors_, data_;
};

inline std::span<const std::byte> AsBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace ekvi::files
