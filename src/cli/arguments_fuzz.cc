// What must hold: a command line is refused with an Error, or its values are in range, and written out in full, each
// with its value and the other arguments behind "--", it means the same. Input: words, a line each; the first line is
// the value of an environment variable.
#include "cli/arguments.h"
#include "fuzzing.h"

namespace ekvi::fuzzing {
namespace {

using cli::Arguments, cli::Command, cli::Option, cli::ValueKind;

constexpr Option kOptions[] = {
    {.name = "number",
     .letter = 'n',
     .kind = ValueKind::kInteger,
     .minimum = 2,
     .maximum = 256,
     .multiple = 2,
     .fallback = "32"},
    {.name = "threads",
     .letter = 't',
     .kind = ValueKind::kInteger,
     .words = "auto|max",
     .minimum = 1,
     .fallback = "auto"},
    {.name = "share", .letter = 's', .kind = ValueKind::kNumber, .maximum = 1, .open = true, .fallback = "0.5"},
    {.name = "kind", .kind = ValueKind::kChoice, .words = "paged|contiguous", .planned = "ring", .fallback = "paged"},
    {.name = "stop", .kind = ValueKind::kText, .repeat = cli::Repeat::kEach},
    {.name = "output", .letter = 'o', .kind = ValueKind::kPath},
    {.name = "quiet", .letter = 'q', .environment = cli::Environment::kIgnore},
    {.name = "verbose", .letter = 'v', .environment = cli::Environment::kIgnore},
};

const Command& Invented() {
  static const Command kCommand = {.name = "invented", .groups = {{"Options", kOptions}}, .arguments_max = 2};
  return kCommand;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (c != '\0') {  // no word has one
      lines.back() += c;
    }
  }
  return lines;
}

void CheckRanges(const Arguments& arguments) {
  const auto number = arguments.Integer("number");
  EKVI_CHECK(number && *number >= 2 && *number <= 256 && *number % 2 == 0);
  const auto threads = arguments.Integer("threads");
  const std::string word = arguments.Text("threads");
  EKVI_CHECK(threads ? *threads >= 1 : word == "auto" || word == "max");
  const double share = arguments.Number("share");
  EKVI_CHECK(share > 0 && share <= 1);
  EKVI_CHECK(arguments.Text("kind") == "paged" || arguments.Text("kind") == "contiguous");
  EKVI_CHECK(arguments.positional().size() <= 2);
}

std::vector<std::string> InFull(const Arguments& arguments) {
  std::vector<std::string> words;
  for (const Option& option : kOptions) {
    if (option.kind == ValueKind::kFlag) {
      if (arguments.Flag(option.name)) words.push_back(LongName(option));
    } else if (arguments.source(option.name) == cli::Source::kFlag) {
      for (const std::string& text : arguments.All(option.name)) words.push_back(LongName(option) + "=" + text);
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), arguments.positional().begin(), arguments.positional().end());
  return words;
}

}  // namespace

void TryInput(std::string_view input) {
  std::vector<std::string> words = Lines(input);
  const std::string variable = words.front();
  words.erase(words.begin());
  const auto environment = [&](const char* name) {
    return std::string_view(name) == "EKVI_NUMBER" || std::string_view(name) == "EKVI_STOP" ? variable.c_str()
                                                                                            : nullptr;
  };
  const Arguments arguments = Arguments::Parse(Invented(), words, environment);
  CheckRanges(arguments);
  MustWork([&] {
    const Arguments again = Arguments::Parse(Invented(), InFull(arguments), environment);
    for (const Option& option : kOptions) {
      EKVI_CHECK(again.All(option.name) == arguments.All(option.name));
      EKVI_CHECK(again.source(option.name) == arguments.source(option.name));
    }
    EKVI_CHECK(again.positional() == arguments.positional());
  });
}

std::vector<std::string> Seeds() {
  return {"\n-n8\n--threads\nmax\n-qv\nwords", "64\n--share=0.25\n--stop\n\n--stop=a, b\n-o\nx\n--\n-n",
          "\n--kind=ring\n--numbr 4",          "7\n-",
          "\n-vn\n1e3\n-qs.5\n--quiet=1",      "\n--number=+8\n--share=nan\n--threads=0x4"};
}

}  // namespace ekvi::fuzzing
