#include <fmt/core.h>

#include "files/reader_error.h"
#include "text/hf/hf_parts.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

using Made = std::unique_ptr<const PreTokenizer>;

// Each step of a row calls the next on the stack; public tokenizers have five at most.
constexpr size_t kStepsMax = 64;

// Words, and signs in a row. What counts as a word here is Rust's notion, as IsWord has it.
#define EKVI_RUST_WORD                                               \
  R"(\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9})" \
  R"(\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})"
constexpr std::string_view kWordsAndSigns = "[" EKVI_RUST_WORD "]+|[^" EKVI_RUST_WORD R"(\s]+)";

Made CutCharacters(bool (*contains)(uint32_t), CutBehavior behavior) {
  return std::make_unique<Splitter>(std::make_unique<CharacterCut>(contains), behavior);
}

CutBehavior ReadBehavior(const JsonValue& behavior) {
  const std::string_view name = behavior.String();
  if (name == "Removed") return CutBehavior::kRemoved;
  if (name == "Isolated") return CutBehavior::kIsolated;
  if (name == "MergedWithPrevious") return CutBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return CutBehavior::kMergedWithNext;
  if (name == "Contiguous") return CutBehavior::kContiguous;
  throw behavior.Fault(ErrorCode::kUnsupported, fmt::format("behavior {}", files::Quote(name)));
}

Metaspace::Prepend ReadPrepend(const JsonValue& metaspace) {
  const auto scheme = metaspace.Get("prepend_scheme");
  const auto old = metaspace.Get("add_prefix_space");
  if (!scheme) return !old || old->Bool() ? Metaspace::Prepend::kAlways : Metaspace::Prepend::kNever;
  const std::string_view name = scheme->String();
  if (name == "always") return Metaspace::Prepend::kAlways;
  if (name == "first") return Metaspace::Prepend::kFirst;
  if (name == "never") return Metaspace::Prepend::kNever;
  throw scheme->Fault(ErrorCode::kUnsupported, fmt::format("prepend_scheme {}", files::Quote(name)));
}

Made ReadMetaspace(const JsonValue& metaspace) {
  const auto cut = metaspace.Bool("split", true) ? Metaspace::Cut::kBeforeMarks : Metaspace::Cut::kNowhere;
  return std::make_unique<Metaspace>(ReadHfCharacter(metaspace.Require("replacement")), ReadPrepend(metaspace), cut);
}

Made ReadSplit(const JsonValue& split) {
  const CutAt at = split.Bool("invert", false) ? CutAt::kGaps : CutAt::kMatches;
  return std::make_unique<Splitter>(ReadHfPattern(split.Require("pattern")), ReadBehavior(split.Require("behavior")),
                                    at);
}

class Reader {
 public:
  void Read(const JsonValue& value) {
    const std::string_view type = value.Require("type").String();
    if (type == "Sequence") {
      const JsonValue parts = value.Require("pretokenizers");
      size_t index = 0;
      for (const auto part : parts.Array()) Read(parts.Item(part, index++));
    } else if (type == "ByteLevel") {
      ReadByteLevel(value);
    } else {
      Add(ReadSingle(type, value));
    }
  }

  HfPreTokenizers Finish() { return std::move(made_); }

 private:
  void Add(Made step) {
    if (made_.bytes_last) {
      made_.row.push_back(std::make_unique<ByteSpeller>());
      made_.spells_bytes = true;
      made_.bytes_last = false;
    }
    made_.row.push_back(std::move(step));
  }

  void ReadByteLevel(const JsonValue& value) {
    if (value.Bool("add_prefix_space", true)) Add(std::make_unique<SpacePrefixer>());
    if (value.Bool("use_regex", true)) {
      Add(std::make_unique<Splitter>(std::make_unique<RegexCut>(kGpt2Words), CutBehavior::kIsolated));
    }
    if (made_.bytes_last) Add(std::make_unique<ByteSpeller>());
    made_.bytes_last = true;
  }

  static Made ReadSingle(std::string_view type, const JsonValue& value) {
    if (type == "Split") return ReadSplit(value);
    if (type == "Metaspace") return ReadMetaspace(value);
    if (type == "WhitespaceSplit") return CutCharacters(IsWhiteSpace, CutBehavior::kRemoved);
    if (type == "Digits") {
      return CutCharacters(IsNumeric,
                           value.Bool("individual_digits", false) ? CutBehavior::kIsolated : CutBehavior::kContiguous);
    }
    if (type == "Punctuation") {
      const auto behavior = value.Get("behavior");
      return CutCharacters(IsPunctuation, behavior ? ReadBehavior(*behavior) : CutBehavior::kIsolated);
    }
    if (type == "Whitespace") {
      return std::make_unique<Splitter>(std::make_unique<RegexCut>(kWordsAndSigns), CutBehavior::kRemoved,
                                        CutAt::kGaps);
    }
    if (type == "BertPreTokenizer") {
      PreTokenizers row;
      row.push_back(CutCharacters(IsWhiteSpace, CutBehavior::kRemoved));
      row.push_back(CutCharacters(IsPunctuation, CutBehavior::kIsolated));
      return std::make_unique<PreTokenizerRow>(std::move(row));
    }
    if (type == "CharDelimiterSplit") {
      return std::make_unique<Splitter>(std::make_unique<LiteralCut>(ReadHfCharacter(value.Require("delimiter"))),
                                        CutBehavior::kRemoved);
    }
    if (type == "FixedLength") {
      const uint64_t length = value.Require("length").Uint(UINT32_MAX);
      if (length > 0) return std::make_unique<FixedLength>(length);
      throw value.Fault(ErrorCode::kCorrupt, "a length of 0");
    }
    throw value.Fault(ErrorCode::kUnsupported, fmt::format("pre-tokenizer {}", files::Quote(type)));
  }

  HfPreTokenizers made_;
};

}  // namespace

HfPreTokenizers ReadHfPreTokenizers(const JsonValue& pre_tokenizer) {
  Reader reader;
  reader.Read(pre_tokenizer);
  HfPreTokenizers made = reader.Finish();
  if (made.row.size() <= kStepsMax) return made;
  throw pre_tokenizer.Fault(ErrorCode::kUnsupported, "too many steps",
                            fmt::format("{}, at most {}", made.row.size(), kStepsMax));
}

}  // namespace ekvi::text
