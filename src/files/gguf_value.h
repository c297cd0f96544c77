// One metadata entry of a GGUF file, seen where it lies: nothing is copied, however large an array claims to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace ekvi::files {

// The numbers of the format.
enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// "u32", "string", "array".
std::string_view GgufTypeName(GgufType type);

// Bytes of one value of `type`; 0 for strings and arrays.
size_t GgufTypeBytes(GgufType type);

// The value of type T at `bytes`, which need no alignment.
template <typename T>
T LoadGguf(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// An array of numbers (or of bools, as uint8_t 0 and 1) in the file's bytes, which must outlive it.
template <typename T>
class GgufItems {
 public:
  GgufItems() = default;
  GgufItems(const std::byte* data, size_t size) : data_(data), size_(size) {}

  size_t size() const { return size_; }
  // index < size().
  T operator[](size_t index) const { return LoadGguf<T>(data_ + index * sizeof(T)); }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// An array of strings, each behind its length, in the file's bytes, which must outlive it. Read front to back.
class GgufStrings {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = std::string_view;

    explicit Iterator(const std::byte* at) : at_(at) {}
    std::string_view operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const = default;

   private:
    const std::byte* at_;
  };

  GgufStrings() = default;
  GgufStrings(std::span<const std::byte> bytes, size_t size) : bytes_(bytes), size_(size) {}

  size_t size() const { return size_; }
  Iterator begin() const { return Iterator(bytes_.data()); }
  Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }

 private:
  std::span<const std::byte> bytes_;
  size_t size_ = 0;
};

// Checked by the parser: `payload` holds exactly what type, item_type and count say.
struct GgufValue {
  std::string_view key;
  GgufType type = GgufType::kU8;
  GgufType item_type = GgufType::kU8;  // of an array; else equal to `type`
  uint64_t count = 1;                  // items of an array; else 1
  uint64_t offset = 0;                 // of the payload in the file
  std::span<const std::byte> payload;  // a string's bytes without its length; an array's items

  // "u32", "array of string".
  std::string TypeText() const;
  // The value for people: numbers in their shortest form, strings in their first 200 bytes and safe to print, arrays as
  // "[n]".
  std::string ShortText() const;
};

}  // namespace ekvi::files
