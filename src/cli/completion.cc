#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"

namespace ekvi::cli {
namespace {

std::string Replaced(std::string_view text, std::string_view special, std::string_view escape) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += escape;
    result += c;
  }
  return result;
}

std::string Words(std::string_view words) { return fmt::format("{}", fmt::join(SplitWords(words), " ")); }

template <typename Visit>
void ForEachOption(const Command& command, Visit visit) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) visit(option);
  }
}

std::string CommandNames() {
  std::string names;
  for (const Command* command : AllCommands()) names += fmt::format("{} ", command->name);
  return names;
}

// Where nothing is offered, bash falls back to file names (-o default): right for paths, harmless for numbers.
std::string BashCase(const Command& command) {
  std::string names, cases;
  ForEachOption(command, [&](const Option& option) {
    names += LongName(option) + " ";
    if (option.kind == ValueKind::kFlag) return;
    const std::string letter = option.letter != 0 ? fmt::format("-{}|", option.letter) : "";
    cases += fmt::format("        {}{}) words=\"{}\"; value=1 ;;\n", letter, LongName(option), Words(option.words));
  });
  return fmt::format(
      "    {})\n"
      "      case $before in\n{}"
      "        *) words=\"{}\"; names=\"{}\" ;;\n"
      "      esac ;;\n",
      command.name, cases, Words(command.words), names);
}

// An entry of _arguments: '(-m --model)'{-m,--model}'[model file]:MODEL:_files'.
std::string ZshOption(const Option& option) {
  const std::string help = Replaced(Replaced(option.help, "[]:", "\\"), "'", "'\\'");
  std::string value;
  if (option.kind == ValueKind::kPath) value = ":file:_files";
  if (option.kind != ValueKind::kFlag && option.kind != ValueKind::kPath) {
    value = option.words.empty() ? ":value: " : fmt::format(":value:({})", Words(option.words));
  }
  const std::string long_name = LongName(option);
  if (option.letter == 0) return fmt::format("'{}[{}]{}'", long_name, help, value);
  return fmt::format("'(-{0} {1})'{{-{0},{1}}}'[{2}]{3}'", option.letter, long_name, help, value);
}

std::string ZshCase(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments -s", command.name);
  ForEachOption(command, [&](const Option& option) { text += " \\\n        " + ZshOption(option); });
  const std::string words = command.words.empty() ? "_files" : fmt::format("({})", Words(command.words));
  return text + fmt::format(" \\\n        '*:argument:{}' ;;\n", words);
}

std::string FishOption(const Command& command, const Option& option) {
  std::string line =
      fmt::format("complete -c ekvi -n '__fish_seen_subcommand_from {}' -l {}", command.name, option.name);
  if (option.letter != 0) line += fmt::format(" -s {}", option.letter);
  if (option.kind == ValueKind::kPath) line += " -r -F";
  if (option.kind != ValueKind::kFlag && option.kind != ValueKind::kPath) {
    line += option.words.empty() ? " -x" : fmt::format(" -x -a '{}'", Words(option.words));
  }
  return line + fmt::format(" -d '{}'\n", Replaced(option.help, "'\\", "\\"));
}

}  // namespace

std::string BashCompletion() {
  std::string cases;
  for (const Command* command : AllCommands()) cases += BashCase(*command);
  return fmt::format(
      "# bash completion of ekvi: source <(ekvi completion bash)\n"
      "_ekvi() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= names= value=\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{}--help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "  esac\n"
      "  if [[ -z $value && $word == -* ]]; then words=$names; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _ekvi ekvi\n",
      CommandNames(), cases);
}

std::string ZshCompletion() {
  std::string commands, cases;
  for (const Command* command : AllCommands()) {
    commands += fmt::format("      '{}:{}'\n", command->name, Replaced(command->summary, "'", "'\\'"));
    cases += ZshCase(*command);
  }
  return fmt::format(
      "#compdef ekvi\n"
      "# zsh completion of ekvi: ekvi completion zsh > a folder of $fpath/_ekvi\n"
      "_ekvi() {{\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a commands=(\n{}    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _ekvi ]]; then _ekvi \"$@\"; else compdef _ekvi ekvi; fi\n",
      commands, cases);
}

std::string FishCompletion() {
  std::string text =
      "# fish completion of ekvi: ekvi completion fish > ~/.config/fish/completions/ekvi.fish\n"
      "complete -c ekvi -n __fish_use_subcommand -f\n";
  for (const Command* command : AllCommands()) {
    text += fmt::format("complete -c ekvi -n __fish_use_subcommand -a {} -d '{}'\n", command->name,
                        Replaced(command->summary, "'\\", "\\"));
    ForEachOption(*command, [&](const Option& option) { text += FishOption(*command, option); });
    if (command->words.empty()) continue;
    text += fmt::format("complete -c ekvi -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", command->name,
                        Words(command->words));
  }
  return text;
}

}  // namespace ekvi::cli
