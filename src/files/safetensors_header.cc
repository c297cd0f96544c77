// A handler of the JSON reader's events. Where an event may come is known from the depth and the last key alone:
//
//   depth 1: keys are tensor names or "__metadata__"; only an object may follow
//   depth 2: in metadata, keys with strings; in a tensor, dtype (a string), shape and data_offsets (arrays)
//   depth 3: in one of these arrays; only integers
//
// Anything else is refused at once, so that nothing deeper than 3 levels is ever entered. The JSON reader is iterative
// and checks UTF-8, surrogates, control characters and number syntax; it would end quietly at a NUL byte, which is
// therefore refused beforehand.
#include "files/safetensors_header.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "files/reader_error.h"
#include "files/reader_names.h"

namespace ekvi::files {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr size_t kEntryCountMax = 65'536;
constexpr size_t kNameBytesMax = 512;
constexpr size_t kDimCountMax = 8;
constexpr uint64_t kIntegerMax = uint64_t{1} << 53;

class HeaderHandler : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderHandler(std::string_view file) : file_(file) {}

  SafetensorsHeader Take() && { return std::move(header_); }

  bool null() override { throw Unexpected("null"); }
  bool boolean(bool) override { throw Unexpected("a bool"); }
  bool number_float(double, const std::string& text) override {
    throw Unexpected(fmt::format("the number {}", Quote(text)));
  }
  bool number_integer(int64_t value) override { throw Unexpected(fmt::format("the negative number {}", value)); }
  bool binary(Json::binary_t&) override { throw Unexpected("binary data"); }
  bool number_unsigned(uint64_t value) override;
  bool string(std::string& value) override;
  bool start_object(size_t) override;
  bool key(std::string& name) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string& token, const Json::exception&) override;

 private:
  enum class Entry { kNone, kMetadata, kTensor };

  std::string Where() const;
  Error Fail(ErrorCode code, std::string_view what, std::string numbers = "") const;
  Error Unexpected(std::string_view what) const;
  void BeginTensor(const std::string& name);
  void EndTensor();
  void CountEntries(size_t count, std::string_view what) const;

  std::string_view file_;
  SafetensorsHeader header_;
  int depth_ = 0;
  Entry entry_ = Entry::kNone;
  bool metadata_seen_ = false;
  std::string member_;  // the last key of depth 2
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false;
  std::vector<uint64_t> items_;
};

std::string HeaderHandler::Where() const {
  if (depth_ == 0) return "header";
  const std::string of_member = depth_ >= 2 && !member_.empty() ? fmt::format(", {}", Quote(member_)) : "";
  if (entry_ == Entry::kMetadata) return fmt::format("header, {}{}", Quote(kMetadataKey), of_member);
  if (entry_ == Entry::kTensor) return fmt::format("tensor {}{}", Quote(header_.tensors.back().name), of_member);
  return "header";
}

Error HeaderHandler::Fail(ErrorCode code, std::string_view what, std::string numbers) const {
  return FileError(code, file_, fmt::format("{}: {}", Where(), what), std::move(numbers), "");
}

Error HeaderHandler::Unexpected(std::string_view what) const {
  static constexpr std::string_view kWanted[] = {"an object of tensors", "an object",
                                                 "a string or an array of integers", "an integer that is not negative"};
  const std::string_view wanted = entry_ == Entry::kMetadata && depth_ == 2 ? "a string" : kWanted[std::min(depth_, 3)];
  return Fail(ErrorCode::kCorrupt, fmt::format("{} where {} belongs", what, wanted),
              fmt::format("at depth {}", depth_));
}

bool HeaderHandler::number_unsigned(uint64_t value) {
  if (depth_ != 3) throw Unexpected(fmt::format("the number {}", value));
  if (value > kIntegerMax) {
    throw Fail(ErrorCode::kCorrupt, "an integer is too large", fmt::format("{}, at most 2^53", Digits(value)));
  }
  items_.push_back(value);
  const size_t count_max = member_ == "shape" ? kDimCountMax : 2;
  if (items_.size() > count_max) {
    throw Fail(member_ == "shape" ? ErrorCode::kUnsupported : ErrorCode::kCorrupt, "too many numbers",
               fmt::format("more than {}", count_max));
  }
  return true;
}

bool HeaderHandler::string(std::string& value) {
  if (depth_ != 2) throw Unexpected(fmt::format("the string {}", Quote(value)));
  if (entry_ == Entry::kMetadata) {
    header_.metadata.back().second = std::move(value);
    return true;
  }
  if (member_ != "dtype") throw Unexpected(fmt::format("the string {}", Quote(value)));
  const SafetensorsType* type = FindSafetensorsType(value);
  if (type == nullptr) throw Fail(ErrorCode::kUnsupported, fmt::format("unknown element type {}", Quote(value)));
  header_.tensors.back().type = type;
  return true;
}

bool HeaderHandler::start_object(size_t) {
  if (depth_ >= 2) throw Unexpected("an object");
  ++depth_;
  if (depth_ == 2) member_.clear();
  return true;
}

bool HeaderHandler::key(std::string& name) {
  if (depth_ == 1 && name == kMetadataKey) {
    if (metadata_seen_) throw Fail(ErrorCode::kCorrupt, fmt::format("{} stands twice", Quote(kMetadataKey)));
    metadata_seen_ = true;
    entry_ = Entry::kMetadata;
  } else if (depth_ == 1) {
    BeginTensor(name);
  } else if (entry_ == Entry::kMetadata) {
    CountEntries(header_.metadata.size(), "metadata entries");
    header_.metadata.emplace_back(name, "");
    member_ = name;
  } else {
    member_ = name;
    bool* seen = name == "dtype"          ? &has_type_
                 : name == "shape"        ? &has_shape_
                 : name == "data_offsets" ? &has_offsets_
                                          : nullptr;
    if (seen == nullptr) throw Fail(ErrorCode::kCorrupt, "an unknown member");
    if (*seen) throw Fail(ErrorCode::kCorrupt, "a member that stands twice");
    *seen = true;
  }
  return true;
}

void HeaderHandler::BeginTensor(const std::string& name) {
  entry_ = Entry::kNone;
  CountEntries(header_.tensors.size(), "tensors");
  if (name.empty() || name.size() > kNameBytesMax || name.find('\0') != std::string::npos) {
    throw Fail(ErrorCode::kCorrupt, fmt::format("a bad tensor name {}", Quote(name)),
               fmt::format("{} bytes; names have 1 to {} and no NUL", Digits(name.size()), kNameBytesMax));
  }
  entry_ = Entry::kTensor;
  header_.tensors.emplace_back().name = name;
  has_type_ = has_shape_ = has_offsets_ = false;
}

void HeaderHandler::EndTensor() {
  member_.clear();
  const std::string_view missing = !has_type_ ? "dtype" : !has_shape_ ? "shape" : !has_offsets_ ? "data_offsets" : "";
  if (!missing.empty()) throw Fail(ErrorCode::kCorrupt, fmt::format("{} is missing", Quote(missing)));
}

bool HeaderHandler::end_object() {
  if (depth_ == 2 && entry_ == Entry::kTensor) EndTensor();
  --depth_;
  return true;
}

bool HeaderHandler::start_array(size_t) {
  if (depth_ != 2 || (member_ != "shape" && member_ != "data_offsets") || entry_ != Entry::kTensor)
    throw Unexpected("an array");
  ++depth_;
  items_.clear();
  return true;
}

bool HeaderHandler::end_array() {
  SafetensorsTensor& tensor = header_.tensors.back();
  if (member_ == "shape") {
    tensor.shape = items_;
  } else {
    if (items_.size() != 2) {
      throw Fail(ErrorCode::kCorrupt, "not two numbers", fmt::format("{} numbers", items_.size()));
    }
    tensor.begin = items_[0];
    tensor.end = items_[1];
  }
  --depth_;
  return true;
}

bool HeaderHandler::parse_error(size_t position, const std::string& token, const Json::exception&) {
  throw Fail(ErrorCode::kCorrupt, "the header is not valid JSON",
             fmt::format("at byte {} of the header, near {}", Digits(position), Quote(token)));
}

void HeaderHandler::CountEntries(size_t count, std::string_view what) const {
  if (count < kEntryCountMax) return;
  throw FileError(ErrorCode::kUnsupported, file_, fmt::format("header: too many {}", what),
                  fmt::format("more than {}", Digits(kEntryCountMax)), "");
}

void CheckUnique(const auto& entries, auto name_of, std::string_view what, std::string_view file) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(name_of(entry));
  const auto duplicate = ReaderNames(names).Duplicate();
  if (!duplicate) return;
  throw FileError(ErrorCode::kCorrupt, file, fmt::format("{} {}: duplicate", what, Quote(names[*duplicate])),
                  fmt::format("entry {} of the header has the name of an earlier one", Digits(*duplicate + 1)), "");
}

void CheckEnds(std::string_view json, std::string_view file) {
  const size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{') {
    throw FileError(ErrorCode::kCorrupt, file, "header: the header is not valid JSON",
                    fmt::format("at byte {} of the header: an object {{…}} of depth 3 must begin there, found is {}",
                                first == std::string_view::npos ? 0 : first, Quote(json.substr(0, 16))),
                    "");
  }
  if (const size_t nul = json.find('\0'); nul != std::string_view::npos) {
    throw FileError(ErrorCode::kCorrupt, file, "header: the header is not valid JSON",
                    fmt::format("a NUL byte at byte {} of the header", Digits(nul)), "");
  }
}

}  // namespace

std::string SafetensorsTensor::ShapeText() const {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + "]";
}

SafetensorsHeader ParseSafetensorsHeader(std::string_view json, std::string_view file) {
  CheckEnds(json, file);
  HeaderHandler handler(file);
  Json::sax_parse(json, &handler);
  SafetensorsHeader header = std::move(handler).Take();
  CheckUnique(
      header.metadata, [](const auto& entry) -> std::string_view { return entry.first; }, "metadata", file);
  CheckUnique(
      header.tensors, [](const SafetensorsTensor& tensor) -> std::string_view { return tensor.name; }, "tensor", file);
  return header;
}

}  // namespace ekvi::files
