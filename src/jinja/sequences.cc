// What Python does with anything that has items: iteration, length, slices.
#include <fmt/format.h>

#include <algorithm>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

Items Texts(const std::vector<std::string_view>& parts) {
  Items items;
  CheckRoom(parts.size() * sizeof(Value));
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(Value::Of(part));
  return items;
}

// Python's slice.indices: where to begin and end, and how to go.
struct Indices {
  int64_t start, stop, step;
};

int64_t BoundOf(const Value& value, int64_t absent, int64_t length, bool backward) {
  if (value.IsNone() || value.IsUndefined()) return absent;
  if (!value.IsIntegral()) Fail("slice indices must be integers or None or have an __index__ method");
  int64_t bound = value.integer();
  if (bound < 0) bound = bound < -length ? -1 : bound + length;
  return std::clamp<int64_t>(bound, backward ? -1 : 0, backward ? length - 1 : length);
}

Indices IndicesOf(const Slice& slice, int64_t length) {
  int64_t step = 1;
  if (!slice.step.IsNone() && !slice.step.IsUndefined()) {
    if (!slice.step.IsIntegral()) Fail("slice indices must be integers or None or have an __index__ method");
    step = std::clamp<int64_t>(slice.step.integer(), -INT64_MAX, INT64_MAX);
  }
  if (step == 0) Fail("slice step cannot be zero");
  const bool backward = step < 0;
  return {BoundOf(slice.start, backward ? length - 1 : 0, length, backward),
          BoundOf(slice.stop, backward ? -1 : length, length, backward), step};
}

template <typename Take>
void ForEachIndex(const Indices& at, int64_t length, Take take) {
  // A step longer than the sequence takes one item, like a step of its length.
  const int64_t step = std::clamp<int64_t>(at.step, -length - 1, length + 1);
  for (int64_t i = at.start; step > 0 ? i < at.stop : i > at.stop; i += step) take(static_cast<size_t>(i));
}

Value SliceText(const Value& value, const Slice& slice) {
  const std::string_view text = value.text();
  const auto length = static_cast<int64_t>(value.whole_text().characters);
  const Indices at = IndicesOf(slice, length);
  StepBytes(text.size());
  if (at.step == 1) {
    if (at.stop <= at.start) return Value::Of("");
    const bool ascii = value.whole_text().characters == text.size();
    const auto offset = [&](int64_t index) {
      return ascii ? static_cast<size_t>(index) : CharacterOffset(text, static_cast<size_t>(index));
    };
    if (!ascii) Step(text.size() / 16);
    const size_t begin = offset(at.start);
    return Value::Of(text.substr(begin, offset(at.stop) - begin));
  }
  const auto characters = Characters(text);
  std::string result;
  ForEachIndex(at, length, [&](size_t index) { result += characters[index]; });
  return Value::Of(std::move(result));
}

std::string RangeLabel(const Items& items, int64_t step) {
  if (items.empty()) return "range(0, 0)";
  const int64_t start = items.front().integer();
  int64_t stop = 0;
  if (__builtin_add_overflow(items.back().integer(), step, &stop)) Refuse("an integer does not fit 64 bits");
  return step == 1 ? fmt::format("range({}, {})", start, stop) : fmt::format("range({}, {}, {})", start, stop, step);
}

}  // namespace

Items Iterate(const Value& value) {
  if (value.IsSequence()) {
    StepItems(value.sequence().items.size());
    return value.sequence().items;
  }
  if (value.IsDict()) {
    StepItems(value.dict().size());
    return value.dict().Keys();
  }
  if (value.IsText()) return Texts(Characters(value.text()));
  if (value.IsUndefined()) return {};
  if (value.IsIterator()) {
    Value::Iterator& iterator = value.iterator();
    StepItems(iterator.items.size() - iterator.next);
    Items rest(iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.next), iterator.items.end());
    iterator.next = iterator.items.size();
    return rest;
  }
  Fail(fmt::format("'{}' object is not iterable", TypeName(value)));
}

int64_t Length(const Value& value) {
  if (value.IsText()) return static_cast<int64_t>(value.whole_text().characters);
  if (value.IsSequence()) return static_cast<int64_t>(value.sequence().items.size());
  if (value.IsDict()) return static_cast<int64_t>(value.dict().size());
  if (value.IsUndefined()) return 0;
  if (value.IsObject()) {
    const auto length = value.object().Attribute("length");  // a loop has one
    if (length && value.object().TypeName() == "LoopContext") return length->integer();
  }
  Fail(fmt::format("object of type '{}' has no len()", TypeName(value)));
}

Value ApplySlice(const Value& value, const Slice& slice) {
  RequireDefined(value);
  if (value.IsText()) return SliceText(value, slice);
  const bool sliceable = value.IsList() || value.IsTuple() || value.IsSequence(Value::SequenceType::kRange);
  if (!sliceable) {
    if (value.IsDict()) Fail("unhashable type: 'slice'");
    Fail(fmt::format("'{}' object is not subscriptable", TypeName(value)));
  }
  const Items& items = value.sequence().items;
  const auto length = static_cast<int64_t>(items.size());
  const Indices at = IndicesOf(slice, length);
  CheckRoom(items.size() * sizeof(Value));
  Items taken;
  ForEachIndex(at, length, [&](size_t index) {
    Step();
    taken.push_back(items[index]);
  });
  const bool is_range = value.sequence().type == Value::SequenceType::kRange;
  const int64_t stride = is_range && length > 1 ? items[1].integer() - items[0].integer() : 1;
  int64_t step = 0;
  if (__builtin_mul_overflow(stride, at.step, &step) && is_range) Refuse("an integer does not fit 64 bits");
  std::string label = is_range ? RangeLabel(taken, step) : "";
  return Value::Make(value.sequence().type, std::move(taken), std::move(label));
}

}  // namespace ekvi::jinja
