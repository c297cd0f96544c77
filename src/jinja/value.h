// A value of the template language: Python's none, bool, int, float, str, list, tuple, dict, and what templates get
// beside them (undefined, iterators, namespaces, macros, functions).
//
// Values share what they hold; only iterators and objects (a namespace, a loop) change after they are made. Integers
// have 64 bits: what does not fit is refused, never wrapped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "jinja/meter.h"

namespace ekvi::jinja {

class Value;
class Dict;
class Renderer;
using Items = std::vector<Value>;

struct CallArguments {
  Items positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Something with attributes or to be called: a namespace, a loop, a macro, a function, a method of a value.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string TypeName() const = 0;  // as Python names the type
  virtual std::string Repr() const = 0;
  // Nothing where it has no attribute of that name.
  virtual std::optional<Value> Attribute(std::string_view name);
  virtual bool IsCallable() const { return false; }
  // Fails: "'NAME' object is not callable".
  virtual Value Call(Renderer& renderer, CallArguments& arguments);
  // Of the values it holds for good, as Value::depth.
  virtual int depth() const { return 0; }
  // Drops what it refers to: the renderer calls it at the end for objects that can refer to themselves.
  virtual void Clear() {}
};

class Value {
 public:
  // Why a value is undefined; "'x' is undefined".
  struct Message {
    std::string text;
    Charge charge;
  };
  struct Undefined {
    std::shared_ptr<const Message> message;
  };
  struct None {};
  struct Text {
    Text(std::string text, bool is_markup);
    std::string bytes;
    bool markup;        // |safe and |escape: what is added to it is escaped
    size_t characters;  // code points
    Charge charge;
  };
  enum class SequenceType { kList, kTuple, kRange, kKeys, kValues, kItems };
  struct Sequence {
    Sequence(SequenceType sequence_type, Items sequence_items, std::string sequence_label = "");
    SequenceType type;
    Items items;
    std::string label;  // how a range is written
    int depth;          // 1 more than its deepest item
    Charge charge;
  };
  // What filters such as map give: its items come once.
  struct Iterator {
    Iterator(std::string iterator_type, Items iterator_items);
    std::string type;
    Items items;
    size_t next = 0;
    int depth;
    Charge charge;
  };

  Value() : data_(Undefined{}) {}
  static Value MakeUndefined(std::string message);
  static Value MakeNone() { return Value(Data(None{})); }
  static Value Of(bool value) { return Value(Data(value)); }
  static Value Of(int64_t value) { return Value(Data(value)); }
  static Value Of(double value) { return Value(Data(value)); }
  static Value Of(std::string text, bool markup = false);
  static Value Of(std::string_view text) { return Of(std::string(text)); }
  static Value Of(const char* text) { return Of(std::string(text)); }
  static Value List(Items items) { return Make(SequenceType::kList, std::move(items)); }
  static Value Tuple(Items items) { return Make(SequenceType::kTuple, std::move(items)); }
  static Value Make(SequenceType type, Items items, std::string label = "");
  static Value Iterating(std::string type, Items items);
  static Value Of(Dict dict);
  static Value Of(std::shared_ptr<Object> object) { return Value(Data(std::move(object))); }

  bool IsUndefined() const { return std::holds_alternative<Undefined>(data_); }
  bool IsNone() const { return std::holds_alternative<None>(data_); }
  bool IsBool() const { return std::holds_alternative<bool>(data_); }
  bool IsInt() const { return std::holds_alternative<int64_t>(data_); }
  bool IsFloat() const { return std::holds_alternative<double>(data_); }
  bool IsIntegral() const { return IsInt() || IsBool(); }  // what Python takes for an int
  bool IsNumber() const { return IsIntegral() || IsFloat(); }
  bool IsText() const { return std::holds_alternative<std::shared_ptr<const Text>>(data_); }
  bool IsSequence() const { return std::holds_alternative<std::shared_ptr<const Sequence>>(data_); }
  bool IsSequence(SequenceType type) const { return IsSequence() && sequence().type == type; }
  bool IsList() const { return IsSequence(SequenceType::kList); }
  bool IsTuple() const { return IsSequence(SequenceType::kTuple); }
  bool IsDict() const { return std::holds_alternative<std::shared_ptr<const Dict>>(data_); }
  bool IsIterator() const { return std::holds_alternative<std::shared_ptr<Iterator>>(data_); }
  bool IsObject() const { return std::holds_alternative<std::shared_ptr<Object>>(data_); }

  // Each for values of its type only.
  bool boolean() const { return std::get<bool>(data_); }
  int64_t integer() const { return IsBool() ? static_cast<int64_t>(boolean()) : std::get<int64_t>(data_); }
  double number() const { return IsFloat() ? std::get<double>(data_) : static_cast<double>(integer()); }
  const std::string& text() const { return shared_text()->bytes; }
  const Text& whole_text() const { return *shared_text(); }
  bool markup() const { return IsText() && shared_text()->markup; }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data_); }
  const Dict& dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  Iterator& iterator() const { return *std::get<std::shared_ptr<Iterator>>(data_); }
  Object& object() const { return *std::get<std::shared_ptr<Object>>(data_); }
  const std::shared_ptr<Object>& shared_object() const { return std::get<std::shared_ptr<Object>>(data_); }
  std::string undefined_message() const;

  // Lists and dicts in it, one in the other; 0 for what holds none.
  int depth() const;
  // Whether it is the very same thing: Python's `is`.
  bool Same(const Value& other) const;

 private:
  using Data =
      std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const Text>, std::shared_ptr<const Sequence>,
                   std::shared_ptr<const Dict>, std::shared_ptr<Iterator>, std::shared_ptr<Object>>;
  explicit Value(Data data) : data_(std::move(data)) {}
  const std::shared_ptr<const Text>& shared_text() const { return std::get<std::shared_ptr<const Text>>(data_); }

  Data data_;
};

// A step for each of some values that are about to be copied, and room for them.
inline void StepItems(uint64_t count) {
  Step(count);
  CheckRoom(count * sizeof(Value));
}

// "str", "NoneType", "dict_items": Python's name of the type.
std::string TypeName(const Value& value);
// "dict object", "None": what messages about attributes call it.
std::string ObjectName(const Value& value);

}  // namespace ekvi::jinja
