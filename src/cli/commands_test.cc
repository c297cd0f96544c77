// Goal: the tables of commands and options hold together, and help, completion and docs/commands.md come from them.
// Method: every entry is visited; the page in the repository is compared byte for byte.
#include "cli/commands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/arguments.h"
#include "cli/completion.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/help.h"
#include "cli/options.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

template <typename Visit>
void ForEachOption(Visit visit) {
  for (const Command* command : AllCommands()) {
    for (const OptionGroup& group : command->groups) {
      for (const Option& option : group.options) visit(*command, option);
    }
  }
}

void ExpectFitsAScreen(const std::string& text, std::string_view what) {
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << what;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), 80) << what << ": " << line;
    EXPECT_FALSE(line.ends_with(' ')) << what << ": " << line;
  }
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Commands, NamesAndLetters_AreUniqueInACommand) {
  for (const Command* command : AllCommands()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const OptionGroup& group : command->groups) {
      for (const Option& option : group.options) {
        EXPECT_TRUE(names.insert(option.name).second) << command->name << " --" << option.name;
        EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second)
            << command->name << " -" << option.letter;
      }
    }
  }
}

TEST(Commands, ALetter_MeansTheSameOptionEverywhere) {
  std::map<char, std::string_view> meaning;
  ForEachOption([&](const Command& command, const Option& option) {
    if (option.letter == 0) return;
    EXPECT_EQ(meaning.emplace(option.letter, option.name).first->second, option.name) << command.name;
  });
}

TEST(Commands, Defaults_AreValuesOfTheirOptions) {
  ForEachOption([](const Command& command, const Option& option) {
    if (option.fallback.empty()) return;
    EXPECT_NO_THROW(CheckValue(option, option.fallback, option.name)) << command.name;
  });
}

TEST(Commands, RefusedValues_ComeWithOneToTry) {
  ForEachOption([](const Command& command, const Option& option) {
    for (const char* bad : {"", "x", "-1", "nan", "1e999"}) {
      try {
        CheckValue(option, bad, LongName(option));
      } catch (const Error& error) {
        EXPECT_FALSE(error.numbers().empty() || error.hint().empty()) << command.name << ": " << error.what();
      }
    }
  });
}

TEST(Commands, Texts_AreLinesWithoutFullStop) {
  ForEachOption([](const Command& command, const Option& option) {
    EXPECT_FALSE(option.help.empty()) << command.name << " --" << option.name;
    EXPECT_LE(DisplayWidth(option.help), 44) << option.help;
    EXPECT_FALSE(option.help.ends_with('.')) << option.help;
  });
  for (const Command* command : AllCommands()) {
    EXPECT_FALSE(command->summary.empty() || command->summary.ends_with('.')) << command->name;
    EXPECT_NE(command->run, nullptr);
  }
}

TEST(Commands, Find_SuggestsTheNearest) {
  EXPECT_EQ(FindCommand("verify").name, "verify");
  try {
    FindCommand("generte");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "did you mean ekvi generate?");
  }
}

TEST(Help, EveryText_FitsAScreen) {
  ExpectFitsAScreen(ProgramHelp(), "help");
  ExpectFitsAScreen(OptionsHelp(), "help options");
  for (const Command* command : AllCommands()) ExpectFitsAScreen(CommandHelp(*command), command->name);
}

TEST(Help, EveryOption_IsNamed) {
  ForEachOption([](const Command& command, const Option& option) {
    const std::string help = CommandHelp(command);
    EXPECT_TRUE(Has(help, LongName(option)) || (option.letter != 0 && Has(help, fmt::format("-{}", option.letter))));
  });
}

TEST(Help, Topics_AreTheCommands) {
  for (const Command* command : AllCommands()) {
    if (command->name == "help") continue;
    const auto topics = SplitWords(HelpCommand().words);
    EXPECT_NE(std::find(topics.begin(), topics.end(), command->name), topics.end()) << command->name;
  }
}

TEST(Completion, EveryShell_KnowsCommandsOptionsAndWords) {
  for (const std::string& script : {BashCompletion(), ZshCompletion(), FishCompletion()}) {
    ForEachOption([&](const Command& command, const Option& option) {
      EXPECT_TRUE(Has(script, command.name));
      EXPECT_TRUE(Has(script, option.name)) << option.name;
      for (const std::string_view word : SplitWords(option.words)) EXPECT_TRUE(Has(script, word)) << word;
    });
  }
}

TEST(ReferencePage, IsWhatTheRepositoryHolds) {
  std::ifstream file(EKVI_SOURCE_DIR "/docs/commands.md", std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), ReferencePage()) << "print it anew: ekvi help reference > docs/commands.md";
}

TEST(ExitCodes, EveryError_HasItsCodeOfTheTable) {
  EXPECT_EQ(ExitCodeOf(ErrorCode::kInvalidArgument), 2);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kNotFound), 3);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kCorrupt), 3);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kIo), 3);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kUnsupported), 4);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kCapacity), 5);
  EXPECT_EQ(ExitCodeOf(ErrorCode::kCancelled), 130);
  EXPECT_EQ(ExitCodeOf(std::bad_alloc()), 5);
  EXPECT_EQ(ExitCodeOf(std::runtime_error("x")), 1);
  EXPECT_EQ(ExitCodeOf(ClosedPipe()), 0);
  EXPECT_EQ(ExitCodeOf(ExitError(kMismatch, ErrorCode::kCorrupt, "x")), 6);
  EXPECT_EQ(ExitCodeOf(WriteFailure("x", "full")), 1);
}

TEST(ExitCodes, ErrorText_HasThreePartsAndNoControlCharacters) {
  const Error error(ErrorCode::kCorrupt, "model.gguf: bad\x9b", "1,024 > 512", "download it again");
  EXPECT_EQ(ErrorText(error), "error: model.gguf: bad\\x9b\n  1,024 > 512\n  try: download it again\n");
  EXPECT_EQ(ErrorText(Error(ErrorCode::kIo, "short")), "error: short\n");
  EXPECT_EQ(ErrorText(std::runtime_error("a\x1b")), "error: internal: a\\x1b\n");
}

}  // namespace
}  // namespace ekvi::cli
