// JSON as the readers of tokenizer.json see it: typed access whose errors name file, place and what was wanted.
//
//   JsonDocument document(bytes, "tokenizer.json");
//   const JsonValue model = document.root().Require("model");
//   const std::string_view type = model.Require("type").String();   // "tokenizer.json: model.type: …"
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ekvi/error.h"

namespace ekvi::text {

class JsonDocument;

// A value of a document, which must outlive it. Errors are kCorrupt unless said otherwise.
class JsonValue {
 public:
  std::string_view String() const;
  bool Bool() const;
  double Number() const;
  // A whole number from 0 to `max`; Error(kCorrupt) with the number and the limit for others.
  uint64_t Uint(uint64_t max) const;
  simdjson::dom::array Array() const;
  // Error where a key stands twice: readers disagree on which one counts. Not looked for among over 256 members, which
  // are vocabularies: their readers do.
  simdjson::dom::object Object() const;

  bool is_null() const { return element_.is_null(); }
  bool is_string() const { return element_.is_string(); }
  bool is_object() const { return element_.is_object(); }
  bool is_array() const { return element_.is_array(); }

  // A member of an object. Get: nothing where it is missing or null.
  std::optional<JsonValue> Get(std::string_view key) const;
  JsonValue Require(std::string_view key) const;
  bool Bool(std::string_view key, bool fallback) const;
  // The item of an array, for its place in errors.
  JsonValue Item(simdjson::dom::element element, size_t index) const;
  JsonValue Member(simdjson::dom::element element, std::string_view key) const;

  // "FILE: PLACE: WHAT" with the numbers.
  Error Fault(ErrorCode code, std::string_view what, std::string numbers = "", std::string hint = "") const;

 private:
  friend class JsonDocument;
  JsonValue(simdjson::dom::element element, std::string place, std::shared_ptr<const std::string> file)
      : element_(element), place_(std::move(place)), file_(std::move(file)) {}
  Error WrongType(std::string_view wanted) const;

  simdjson::dom::element element_;
  std::string place_;  // "model.merges[12]"; empty for the root
  std::shared_ptr<const std::string> file_;
};

// At most 512 MiB and 64 levels deep. Memory is about ten times the text, most of it never touched.
class JsonDocument {
 public:
  // `name` stands for the file in errors. kCorrupt where `bytes` are no JSON; kUnsupported past the limits.
  JsonDocument(std::string_view bytes, std::string name);
  JsonValue root() const { return JsonValue(root_, "", file_); }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;  // root_ points into it, wherever the document moves
  simdjson::dom::element root_;
  std::shared_ptr<const std::string> file_;
};

}  // namespace ekvi::text
