#include "jinja/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

// A value's own bytes and the counters beside it; measured with the allocator at hand.
constexpr uint64_t kHeaderBytes = 96;
// Of an entry of a dict: two values, and its part of the index.
constexpr uint64_t kEntryBytes = 2 * sizeof(Value) + 64;

int DepthOf(const Items& items) {
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, item.depth());
  if (deepest >= kMaxValueDepth) Refuse(fmt::format("values nest more than {} deep", kMaxValueDepth));
  return deepest + 1;
}

std::string_view SequenceTypeName(Value::SequenceType type) {
  switch (type) {
    case Value::SequenceType::kList:
      return "list";
    case Value::SequenceType::kTuple:
      return "tuple";
    case Value::SequenceType::kRange:
      return "range";
    case Value::SequenceType::kKeys:
      return "dict_keys";
    case Value::SequenceType::kValues:
      return "dict_values";
    case Value::SequenceType::kItems:
      return "dict_items";
  }
  return "";
}

// A dict and what it takes, freed together.
struct ChargedDict {
  explicit ChargedDict(Dict from)
      : charge(kHeaderBytes + from.size() * kEntryBytes + from.key_bytes()), dict(std::move(from)) {}
  Charge charge;
  Dict dict;
};

}  // namespace

std::optional<Value> Object::Attribute(std::string_view) { return std::nullopt; }
Value Object::Call(Renderer&, CallArguments&) { Fail(fmt::format("'{}' object is not callable", TypeName())); }

Value::Text::Text(std::string text, bool is_markup)
    : bytes(std::move(text)),
      markup(is_markup),
      characters(CountCharacters(bytes)),
      charge(kHeaderBytes + bytes.capacity()) {}

Value::Sequence::Sequence(SequenceType sequence_type, Items sequence_items, std::string sequence_label)
    : type(sequence_type),
      items(std::move(sequence_items)),
      label(std::move(sequence_label)),
      depth(DepthOf(items)),
      charge(kHeaderBytes + items.capacity() * sizeof(Value)) {}

Value::Iterator::Iterator(std::string iterator_type, Items iterator_items)
    : type(std::move(iterator_type)),
      items(std::move(iterator_items)),
      depth(DepthOf(items)),
      charge(kHeaderBytes + items.capacity() * sizeof(Value)) {}

Value Value::MakeUndefined(std::string message) {
  const uint64_t bytes = kHeaderBytes + message.size();
  return Value(Data(Undefined{std::shared_ptr<const Message>(new Message{std::move(message), Charge(bytes)})}));
}

Value Value::Of(std::string text, bool markup) {
  CheckText(text.size());
  StepBytes(text.size());
  return Value(Data(std::make_shared<const Text>(std::move(text), markup)));
}

Value Value::Make(SequenceType type, Items items, std::string label) {
  Step(items.size());
  return Value(Data(std::make_shared<const Sequence>(type, std::move(items), std::move(label))));
}

Value Value::Iterating(std::string type, Items items) {
  Step(items.size());
  return Value(Data(std::make_shared<Iterator>(std::move(type), std::move(items))));
}

Value Value::Of(Dict dict) {
  Step(dict.size());
  const auto charged = std::make_shared<const ChargedDict>(std::move(dict));
  return Value(Data(std::shared_ptr<const Dict>(charged, &charged->dict)));
}

std::string Value::undefined_message() const {
  const auto& message = std::get<Undefined>(data_).message;
  return message == nullptr ? "the value is undefined" : message->text;
}

int Value::depth() const {
  if (IsSequence()) return sequence().depth;
  if (IsDict()) return dict().depth();
  if (IsIterator()) return iterator().depth;
  return IsObject() ? object().depth() : 0;
}

bool Value::Same(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  if (IsUndefined()) return false;
  if (IsNone()) return true;
  if (IsBool()) return boolean() == other.boolean();
  if (IsInt()) return integer() == other.integer();
  if (IsFloat()) return number() == other.number();
  if (IsText()) return text() == other.text();
  if (IsSequence())
    return &sequence() == &other.sequence() ||
           (IsTuple() && sequence().items.empty() && other.IsTuple() && other.sequence().items.empty());
  if (IsDict()) return &dict() == &other.dict();
  if (IsIterator()) return &iterator() == &other.iterator();
  return &object() == &other.object();
}

std::string TypeName(const Value& value) {
  if (value.IsUndefined()) return "Undefined";
  if (value.IsNone()) return "NoneType";
  if (value.IsBool()) return "bool";
  if (value.IsInt()) return "int";
  if (value.IsFloat()) return "float";
  if (value.IsText()) return value.markup() ? "Markup" : "str";
  if (value.IsSequence()) return std::string(SequenceTypeName(value.sequence().type));
  if (value.IsDict()) return "dict";
  if (value.IsIterator()) return value.iterator().type;
  return value.object().TypeName();
}

std::string ObjectName(const Value& value) {
  if (value.IsNone()) return "None";
  if (value.IsObject()) return fmt::format("jinja2.{} object", value.object().TypeName());
  return TypeName(value) + " object";
}

}  // namespace ekvi::jinja
