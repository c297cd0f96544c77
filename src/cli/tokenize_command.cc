// Text to token ids and back, and comparison with the ids of another tokenizer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "cli/table.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "file",
     .letter = 'f',
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "text from a file, every byte; - for stdin"},
    {.name = "special", .environment = Environment::kIgnore, .help = "names of control tokens become those tokens"},
    {.name = "bos", .environment = Environment::kIgnore, .help = "put the begin token in front"},
    {.name = "pieces", .environment = Environment::kIgnore, .help = "a line for each token: id and piece"},
    {.name = "decode",
     .kind = ValueKind::kText,
     .value = "IDS",
     .environment = Environment::kIgnore,
     .help = "print the text of ids: 1,2,3"},
    {.name = "compare",
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "compare with the ids in a JSON file"},
};

using Ids = std::vector<int32_t>;

// A JSON array of ids, or an object that has one as "ids", "tokens" or "input_ids".
Ids ReadIds(const std::string& path) {
  const Json json = GivenJson(ReadText(path));
  const Json* list = &json;
  for (const char* key : {"ids", "tokens", "input_ids"}) {
    if (json.is_object() && json.contains(key)) list = &json[key];
  }
  const auto is_id = [](const Json& entry) { return entry.is_number_unsigned() && entry <= INT32_MAX; };
  if (!list->is_array() || !std::all_of(list->begin(), list->end(), is_id)) {
    throw Error(ErrorCode::kCorrupt, path + " holds no list of token ids", json.is_discarded() ? "it is not JSON" : "",
                "a JSON array of whole numbers, alone or as \"ids\" of an object");
  }
  return list->get<Ids>();
}

std::string Place(const Tokenizer& tokenizer, const Ids& ids, size_t at) {
  if (at >= ids.size()) return fmt::format("the end after {}", CountOf(static_cast<int64_t>(ids.size()), "token"));
  const bool known = ids[at] < tokenizer.size();
  return fmt::format("{} {}", ids[at], known ? Quoted(tokenizer.Piece(ids[at])) : "(outside the vocabulary)");
}

void Compare(const Tokenizer& tokenizer, const Ids& ids, const Ids& expected, const std::string& path) {
  if (ids == expected) return;
  const auto [ours, theirs] = std::mismatch(ids.begin(), ids.end(), expected.begin(), expected.end());
  const auto at = static_cast<size_t>(ours - ids.begin());
  throw ExitError(kMismatch, ErrorCode::kCorrupt, fmt::format("the ids differ from {} at position {}", path, at),
                  fmt::format("{} here, {} there", Place(tokenizer, ids, at), Place(tokenizer, expected, at)),
                  "ekvi tokenize --pieces, to see how each text is cut");
}

std::string IdText(const Tokenizer& tokenizer, const Ids& ids, const Arguments& arguments) {
  if (!arguments.Flag("pieces")) return fmt::format("{}\n", fmt::join(ids, " "));
  Table table({Align::kRight});
  for (const int32_t id : ids) table.Add({std::to_string(id), Printable(tokenizer.Piece(id))});
  return table.Render();
}

void Print(const Arguments& arguments, const Tokenizer& tokenizer, const Ids& ids, const std::string* text,
           Console& console) {
  if (console.json()) {
    Json report = ReportFor(arguments, nullptr);
    report["model"] = {{"tokenizer", tokenizer.Description()}, {"vocabulary", tokenizer.size()}};
    Json pieces = Json::array();
    for (const int32_t id : ids) pieces.push_back(std::string(tokenizer.Piece(id)));
    report["results"] = {{"ids", ids}, {"pieces", pieces}};
    if (text != nullptr) report["results"]["text"] = *text;
    report["warnings"] = Json::array();
    console.Answer(JsonText(report));
  } else {
    console.Answer(text != nullptr ? *text + (console.answers_terminal() ? "\n" : "")
                                   : IdText(tokenizer, ids, arguments));
  }
  console.Finish();
}

void RefuseWithDecode(const Arguments& arguments) {
  for (const std::string_view name : {"file", "special", "bos", "pieces", "compare"}) {
    if (arguments.Given(name)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("--{} has no meaning with --decode", name), "",
                  "leave one of them out");
    }
  }
  if (!arguments.positional().empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--decode and a text exclude each other",
                fmt::format("got the text {}", Quoted(arguments.positional()[0])), "leave one of them out");
  }
}

int Decode(const Arguments& arguments, Console& console) {
  RefuseWithDecode(arguments);
  const Ids ids = ParseIds(arguments.Text("decode"), "--decode");
  Progress progress(ProgressModeOf(arguments));
  const auto tokenizer = LoadTokenizer(arguments, progress);
  CheckIds(ids, tokenizer->size(), "--decode");
  const std::string text = tokenizer->Decode(ids);
  Print(arguments, *tokenizer, ids, &text, console);
  return kOk;
}

int Run(const Arguments& arguments, Console& console) {
  if (arguments.Given("decode")) return Decode(arguments, console);
  const auto text = InputText(arguments, "file");
  if (!text)
    throw Error(ErrorCode::kInvalidArgument, "there is no text", "",
                "ekvi tokenize TEXT, --file FILE, or a pipe into stdin");
  const std::string reference = arguments.Text("compare");
  const Ids expected = arguments.Given("compare") ? ReadIds(reference) : Ids{};
  Progress progress(ProgressModeOf(arguments));
  const auto tokenizer = LoadTokenizer(arguments, progress);
  Ids ids = tokenizer->Encode(*text, {.begin = false, .special = arguments.Flag("special")});
  if (arguments.Flag("bos")) {
    const auto begin = tokenizer->begin_token();
    if (!begin)
      throw Error(ErrorCode::kUnsupported, "--bos: the vocabulary has no begin token", tokenizer->Description(),
                  "leave --bos out");
    ids.insert(ids.begin(), *begin);
  }
  Print(arguments, *tokenizer, ids, nullptr, console);
  if (arguments.Given("compare")) Compare(*tokenizer, ids, expected, reference);
  return kOk;
}

}  // namespace

const Command& TokenizeCommand() {
  static const Command kCommand = {
      .name = "tokenize",
      .summary = "token ids of a text, or the text of ids",
      .usage = "[-m MODEL] [TEXT | --file FILE | --decode IDS]",
      .details =
          "Prints the ids on one line, separated by blanks, without begin token unless `--bos` asks for it. The text "
          "is the "
          "argument, a file or stdin, every byte of it. The model may be a GGUF file with or without weights, a "
          "tokenizer.json, or a folder with one. `--compare` also reads ids from a JSON file (an array, or an "
          "object with "
          "`ids`, `tokens` or `input_ids`) and exits with 6 at the first difference, naming it.\n\n"
          "`--json` `results`: `ids`, `pieces`, with `--decode` also `text`.",
      .example = "ekvi tokenize \"Once upon a time\" --pieces",
      .groups = {{"Text", kOptions}, ModelGroup(), OutputGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
