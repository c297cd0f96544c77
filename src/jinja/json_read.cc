// The parser tells what it meets one by one and holds no tree, so the depth is checked before anything nests.
#include "jinja/json_read.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "jinja/dict.h"
#include "jinja/failure.h"

namespace ekvi::jinja {
namespace {

using Json = nlohmann::json;

constexpr const char* kWideHint = "the number as a text, or without its last digits";

class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::string_view name) : name_(name) {}

  Value Take() { return std::move(result_); }

  bool null() override { return Add(Value::MakeNone()); }
  bool boolean(bool value) override { return Add(Value::Of(value)); }
  bool number_integer(number_integer_t value) override { return Add(Value::Of(int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > INT64_MAX) Refuse(fmt::format("{}: the integer {} does not fit 64 bits", name_, value), kWideHint);
    return Add(Value::Of(static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    const bool integer = text.find_first_of(".eE") == std::string::npos;
    if (integer) Refuse(fmt::format("{}: the integer {} does not fit 64 bits", name_, text.substr(0, 40)), kWideHint);
    return Add(Value::Of(value));
  }
  bool string(string_t& value) override { return Add(Value::Of(std::move(value))); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return Open(true); }
  bool key(string_t& value) override {
    open_.back().key = Value::Of(std::move(value));
    return true;
  }
  bool end_object() override {
    Value value = Value::Of(std::move(open_.back().dict));
    open_.pop_back();
    return Add(std::move(value));
  }
  bool start_array(std::size_t) override { return Open(false); }
  bool end_array() override {
    Value value = Value::List(std::move(open_.back().items));
    open_.pop_back();
    return Add(std::move(value));
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    throw Failure{.code = ErrorCode::kInvalidArgument,
                  .message = fmt::format("{} is not JSON, at byte {}", name_, position),
                  .hint = Reason(error.what())};
  }

 private:
  struct Container {
    bool is_dict = false;
    Value key;
    Dict dict;
    Items items;
  };

  // The library's message without its own name and place.
  static std::string Reason(std::string message) {
    const size_t begin = message.find(": ");
    return begin == std::string::npos ? message : message.substr(begin + 2);
  }

  bool Open(bool is_dict) {
    if (open_.size() + 1 >= static_cast<size_t>(kMaxValueDepth)) {
      throw Failure{.code = ErrorCode::kInvalidArgument,
                    .message = fmt::format("{} nests more than {} deep", name_, kMaxValueDepth)};
    }
    open_.push_back({.is_dict = is_dict});
    return true;
  }

  bool Add(Value value) {
    Step();
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().is_dict) {
      open_.back().dict.Set(std::move(open_.back().key), std::move(value));
    } else {
      Items& items = open_.back().items;
      if (items.size() == items.capacity()) CheckRoom(3 * items.size() * sizeof(Value));
      items.push_back(std::move(value));
    }
    return true;
  }

  std::string name_;
  std::vector<Container> open_;
  Value result_;
};

}  // namespace

Value ReadJson(std::string_view text, std::string_view name) {
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {  // the library would end there quietly
    throw Failure{.code = ErrorCode::kInvalidArgument,
                  .message = fmt::format("{} is not JSON, at byte {}", name, nul + 1),
                  .hint = "a NUL byte stands there"};
  }
  Builder builder(name);
  Json::sax_parse(text, &builder);
  return builder.Take();
}

}  // namespace ekvi::jinja
