// Goal: every way to write an option means what it says, flags go before the environment and that before defaults, and
// what cannot be meant is refused by name. Method: command lines of an invented command.
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "number",
     .letter = 'n',
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .fallback = "32"},
    {.name = "threads",
     .letter = 't',
     .kind = ValueKind::kInteger,
     .value = "auto|N",
     .words = "auto",
     .minimum = 1,
     .fallback = "auto"},
    {.name = "share", .kind = ValueKind::kNumber, .value = "X", .maximum = 1, .fallback = "0.95"},
    {.name = "weight", .kind = ValueKind::kNumber, .value = "X", .fallback = "1"},
    {.name = "kv-kind",
     .kind = ValueKind::kChoice,
     .words = "paged|contiguous",
     .planned = "ring",
     .fallback = "paged"},
    {.name = "stop",
     .kind = ValueKind::kText,
     .value = "TEXT",
     .repeat = Repeat::kEach,
     .environment = Environment::kIgnore},
    {.name = "quiet", .letter = 'q'},
    {.name = "verbose", .letter = 'v'},
};

const Command& Invented() {
  static const Command kCommand = {.name = "invented", .groups = {{"Options", kOptions}}, .arguments_max = 1};
  return kCommand;
}

using Variables = std::map<std::string, std::string>;

Arguments Parse(std::vector<std::string> words, const Variables& variables = {}) {
  return Arguments::Parse(Invented(), words, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// What the error says, all parts; fails where there is none.
std::string Refusal(std::vector<std::string> words, const Variables& variables = {},
                    ErrorCode code = ErrorCode::kInvalidArgument) {
  try {
    Parse(std::move(words), variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Arguments, Nothing_GivesDefaults) {
  const Arguments arguments = Parse({});
  EXPECT_EQ(arguments.Integer("number"), 32);
  EXPECT_EQ(arguments.Integer("threads"), std::nullopt);
  EXPECT_EQ(arguments.Text("threads"), "auto");
  EXPECT_EQ(arguments.Number("share"), 0.95);
  EXPECT_FALSE(arguments.Flag("quiet"));
  EXPECT_TRUE(arguments.All("stop").empty());
  EXPECT_EQ(arguments.source("number"), Source::kDefault);
}

TEST(Arguments, Spellings_MeanTheSame) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--number", "7"}, {"--number=7"}, {"-n", "7"}, {"-n7"}, {"-qn7"}, {"-qvn", "7"}, {"--", "-n9"}}) {
    const Arguments arguments = Parse(words);
    EXPECT_EQ(arguments.Integer("number"), words[0] == "--" ? 32 : 7) << words[0];
  }
  EXPECT_EQ(Parse({"--", "-n9"}).positional(), std::vector<std::string>{"-n9"});
}

TEST(Arguments, Values_ArriveAsTheyWereTyped) {
  EXPECT_EQ(Parse({"[INST] a, b [/INST]"}).positional()[0], "[INST] a, b [/INST]");
  EXPECT_EQ(Parse({""}).positional(), std::vector<std::string>{""});
  EXPECT_EQ(Parse({"-"}).positional()[0], "-");
  EXPECT_EQ(Parse({"--stop", "-n", "--stop=", "--stop", "a=b"}).All("stop"),
            (std::vector<std::string>{"-n", "", "a=b"}));
}

TEST(Arguments, LastValue_Counts) { EXPECT_EQ(Parse({"-n", "3", "-n", "4"}).Integer("number"), 4); }

TEST(Arguments, Flag_GoesBeforeEnvironmentBeforeDefault) {
  EXPECT_EQ(Parse({}, {{"EKVI_NUMBER", "9"}}).Integer("number"), 9);
  EXPECT_EQ(Parse({}, {{"EKVI_NUMBER", "9"}}).source("number"), Source::kEnvironment);
  EXPECT_EQ(Parse({"-n8"}, {{"EKVI_NUMBER", "9"}}).Integer("number"), 8);
  EXPECT_EQ(Parse({}, {{"EKVI_NUMBER", ""}}).Integer("number"), 32) << "empty counts as not set";
  EXPECT_EQ(Parse({}, {{"EKVI_KV_KIND", "contiguous"}}).Text("kv-kind"), "contiguous");
  EXPECT_TRUE(Parse({}, {{"EKVI_STOP", "x"}}).All("stop").empty()) << "not read from the environment";
}

TEST(Arguments, Switches_AreReadFromTheEnvironment) {
  EXPECT_TRUE(Parse({}, {{"EKVI_QUIET", "1"}}).Flag("quiet"));
  EXPECT_TRUE(Parse({}, {{"EKVI_QUIET", "on"}}).Flag("quiet"));
  EXPECT_FALSE(Parse({}, {{"EKVI_QUIET", "0"}}).Flag("quiet"));
  EXPECT_TRUE(Has(Refusal({}, {{"EKVI_QUIET", "maybe"}}), "EKVI_QUIET: 'maybe'"));
}

TEST(Arguments, Origin_NamesFlagOrVariable) {
  EXPECT_EQ(Parse({"-n8"}).Origin("number"), "--number");
  EXPECT_EQ(Parse({}, {{"EKVI_NUMBER", "9"}}).Origin("number"), "EKVI_NUMBER");
}

TEST(Arguments, UnknownOptions_AreRefusedWithTheNearest) {
  EXPECT_TRUE(Has(Refusal({"--nunber", "3"}), "did you mean --number?"));
  EXPECT_TRUE(Has(Refusal({"--nunber=3"}), "'--nunber'"));
  EXPECT_TRUE(Has(Refusal({"-x"}), "invented has no option '-x'"));
  EXPECT_TRUE(Has(Refusal({"-qx"}), "'-x'"));
  EXPECT_TRUE(Has(Refusal({"--numb"}), "did you mean --number?")) << "never taken for it";
}

TEST(Arguments, WrongValues_AreRefusedNotChanged) {
  for (const char* value : {"0", "257", "-1", "abc", "1.5", "0x10", "", " 7", "99999999999999999999", "auto"}) {
    EXPECT_TRUE(Has(Refusal({"--number", value}), "a whole number from 1 to 256")) << value;
  }
  for (const char* value : {"nan", "inf", "-0.1", "1.1", "x", "0.5x"}) {
    EXPECT_TRUE(Has(Refusal({"--share", value}), "a number from 0 to 1")) << value;
  }
  for (const char* value : {"nan", "inf", "infinity", "-inf", "1e999"}) {
    EXPECT_TRUE(Has(Refusal({"--weight", value}), "a number from 0")) << value;
  }
  EXPECT_TRUE(Has(Refusal({"--threads", "0"}), "auto, or a whole number from 1"));
  EXPECT_TRUE(Has(Refusal({"--kv-kind", "page"}), "did you mean paged?"));
  EXPECT_TRUE(Has(Refusal({}, {{"EKVI_NUMBER", "0"}}), "EKVI_NUMBER: '0'"));
}

TEST(Arguments, PlannedWords_AreUnsupportedRatherThanWrong) {
  EXPECT_TRUE(Has(Refusal({"--kv-kind", "ring"}, {}, ErrorCode::kUnsupported), "--kv-kind ring is not there yet"));
}

TEST(Arguments, MissingAndSuperfluousParts_AreRefused) {
  EXPECT_TRUE(Has(Refusal({"--number"}), "--number needs a value"));
  EXPECT_TRUE(Has(Refusal({"-n"}), "--number needs a value"));
  EXPECT_TRUE(Has(Refusal({"--quiet=1"}), "--quiet takes no value"));
  EXPECT_TRUE(Has(Refusal({"Once", "upon"}), "the first too many is 'upon'"));
}

TEST(Arguments, UnknownNames_AreBugs) { EXPECT_THROW(Parse({}).Text("nothing"), std::logic_error); }

}  // namespace
}  // namespace ekvi::cli
