#include "cli/arguments.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <stdexcept>

#include "cli/format.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

constexpr std::array<std::string_view, 4> kYes = {"1", "true", "yes", "on"};
constexpr std::array<std::string_view, 4> kNo = {"0", "false", "no", "off"};

template <typename Words>
bool Contains(const Words& words, std::string_view text) {
  for (const std::string_view word : words) {
    if (word == text) return true;
  }
  return false;
}

bool ParseSwitch(std::string_view text, std::string_view origin) {
  if (Contains(kYes, text)) return true;
  if (Contains(kNo, text)) return false;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {} is not a value it takes", origin, Quoted(text)),
              "it takes 1, true, yes, on, 0, false, no, off", fmt::format("{}=1", origin));
}

}  // namespace

void Arguments::ReadEnvironment(const EnvironmentReader& environment) {
  for (const OptionGroup& group : command_->groups) {
    for (const Option& option : group.options) {
      if (option.environment == Environment::kIgnore || Find(option.name) != nullptr) continue;
      const std::string name = EnvironmentName(option);
      const char* text = environment(name.c_str());
      if (text == nullptr || *text == '\0') continue;
      if (option.kind != ValueKind::kFlag) {
        CheckValue(option, text, name);
      } else if (!ParseSwitch(text, name)) {
        continue;
      }
      values_[std::string(option.name)] = {Source::kEnvironment, {text}};
    }
  }
}

const Option& Arguments::Known(std::string_view name) const {
  if (const Option* option = command_->Find(name)) return *option;
  throw std::logic_error(fmt::format("{} has no option --{}", command_->name, name));
}

const Arguments::Value* Arguments::Find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Source Arguments::source(std::string_view name) const {
  Known(name);
  const Value* value = Find(name);
  return value == nullptr ? Source::kDefault : value->source;
}

std::string Arguments::Origin(std::string_view name) const {
  const Option& option = Known(name);
  return source(name) == Source::kEnvironment ? EnvironmentName(option) : LongName(option);
}

bool Arguments::Flag(std::string_view name) const { return Given(name); }

std::string Arguments::Text(std::string_view name) const {
  const Value* value = Find(name);
  return value == nullptr ? std::string(Known(name).fallback) : value->texts.back();
}

std::optional<int64_t> Arguments::Integer(std::string_view name) const {
  const std::string text = Text(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double Arguments::Number(std::string_view name) const {
  const std::string text = Text(name);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> Arguments::All(std::string_view name) const {
  Known(name);
  const Value* value = Find(name);
  return value == nullptr ? std::vector<std::string>{} : value->texts;
}

}  // namespace ekvi::cli
