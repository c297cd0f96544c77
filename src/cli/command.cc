#include "cli/command.h"

namespace ekvi::cli {
namespace {

template <typename Predicate>
const Option* FindIf(const std::vector<OptionGroup>& groups, Predicate matches) {
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) {
      if (matches(option)) return &option;
    }
  }
  return nullptr;
}

}  // namespace

const Option* Command::Find(std::string_view wanted) const {
  return FindIf(groups, [&](const Option& option) { return option.name == wanted; });
}

const Option* Command::Find(char letter) const {
  return FindIf(groups, [&](const Option& option) { return option.letter != 0 && option.letter == letter; });
}

}  // namespace ekvi::cli
