// Python's operators on values. All fail as Python does, with its words.
#pragma once

#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

enum class Binary { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

bool Truth(const Value& value);
bool Equal(const Value& left, const Value& right);
// left < right; `sign` is how messages write the operator that was asked for.
bool Less(const Value& left, const Value& right, std::string_view sign = "<");
bool Contains(const Value& container, const Value& item);
bool Compare(Comparison comparison, const Value& left, const Value& right);
Value Apply(Binary operation, const Value& left, const Value& right);
Value Negate(const Value& value);
Value Positive(const Value& value);

// Items one after the other: of lists, the characters of a text, the keys of a dict; an iterator is used up. Undefined
// has none. Fails for what cannot be iterated.
Items Iterate(const Value& value);
// len(). Fails for what has none.
int64_t Length(const Value& value);
// value[start:stop:step]; undefined bounds are absent ones.
struct Slice {
  Value start, stop, step;
};
Value ApplySlice(const Value& value, const Slice& slice);

// The text with & < > ' " written as in HTML; what is safe already stays.
Value Escape(const Value& value);
// Undefined values fail where they are used.
void RequireDefined(const Value& value);

}  // namespace ekvi::jinja
