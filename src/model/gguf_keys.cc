#include "model/gguf_keys.h"

#include <fmt/format.h>

namespace ekvi::model {
namespace {

template <typename Items>
std::vector<int64_t> Listed(const Items& items) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < items.size(); ++i) values.push_back(static_cast<int64_t>(items[i]));
  return values;
}

}  // namespace

Error GgufKeys::Fail(ErrorCode code, std::string_view key, std::string_view what, std::string numbers,
                     std::string hint) const {
  return file().KeyError(code, Name(key), what, std::move(numbers), std::move(hint));
}

int64_t GgufKeys::Checked(std::string_view key, uint64_t value, KeyRange range) const {
  const auto number = static_cast<int64_t>(value);
  if (value <= INT64_MAX && number >= range.least && number <= range.most) return number;
  throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} is out of range", value),
             fmt::format("{} … {}", range.least, range.most));
}

int64_t GgufKeys::Count(std::string_view key, KeyRange range) const {
  return Checked(key, file().RequireUint(Name(key)), range);
}

int64_t GgufKeys::Count(std::string_view key, KeyRange range, int64_t otherwise) const {
  return Has(key) ? Count(key, range) : otherwise;
}

std::vector<int64_t> GgufKeys::CountPerLayer(std::string_view key, KeyRange range, int64_t layers) const {
  const files::GgufValue* value = file().Find(Name(key));
  if (value == nullptr || value->type != files::GgufType::kArray)
    return std::vector<int64_t>(layers, Count(key, range));
  const std::vector<int64_t> counts = value->item_type == files::GgufType::kU32 ? Listed(*file().GetU32s(Name(key)))
                                                                                : Listed(*file().GetI32s(Name(key)));
  if (static_cast<int64_t>(counts.size()) != layers) {
    throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} values for {} layers", counts.size(), layers));
  }
  for (const int64_t count : counts) Checked(key, static_cast<uint64_t>(count), range);
  return counts;
}

double GgufKeys::Number(std::string_view key, NumberRange range) const {
  const float value = file().RequireF32(Name(key));
  if (value > range.above && value <= range.most) return value;
  throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} is out of range", value),
             fmt::format("above {}, at most {}", range.above, range.most));
}

double GgufKeys::Number(std::string_view key, NumberRange range, double otherwise) const {
  return Has(key) ? Number(key, range) : otherwise;
}

bool GgufKeys::Flag(std::string_view key, bool otherwise) const {
  return file().GetBool(Name(key)).value_or(otherwise);
}

}  // namespace ekvi::model
