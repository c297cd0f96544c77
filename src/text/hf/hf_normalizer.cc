#include <fmt/core.h>

#include "files/reader_error.h"
#include "text/hf/hf_parts.h"
#include "text/pipeline/charsmap.h"
#include "text/pipeline/digit_groups.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

using Made = std::unique_ptr<const Normalizer>;

Made MakeForm(UnicodeForm::Form form) { return std::make_unique<UnicodeForm>(form); }
Made MakeMap(CharacterMap::Append append) { return std::make_unique<CharacterMap>(append); }

// RFC 4648, section 4, with or without padding.
std::string DecodeBase64(const JsonValue& value) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string_view text = value.String();
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t letter = kLetters.find(text[i]);
    if (letter == std::string_view::npos) {
      throw value.Fault(ErrorCode::kCorrupt, "not base64", fmt::format("character {} of {}", i, text.size()));
    }
    bits = bits << 6 | static_cast<uint32_t>(letter);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

Made ReadPrecompiled(const JsonValue& normalizer) {
  const auto map = normalizer.Get("precompiled_charsmap");
  if (!map || map->String().empty()) return std::make_unique<NormalizerRow>(std::vector<Made>());
  const std::string blob = DecodeBase64(*map);
  try {
    return std::make_unique<Precompiled>(Charsmap(blob));
  } catch (const Error& error) {
    throw map->Fault(error.code(), error.summary(), error.numbers());
  }
}

Made ReadBert(const JsonValue& normalizer) {
  std::vector<Made> row;
  const bool lowercase = normalizer.Bool("lowercase", true);
  if (normalizer.Bool("clean_text", true)) row.push_back(MakeMap(AppendBertClean));
  if (normalizer.Bool("handle_chinese_chars", true)) row.push_back(MakeMap(AppendHanApart));
  if (normalizer.Bool("strip_accents", lowercase)) {
    row.push_back(MakeForm(UnicodeForm::Form::kNfd));
    row.push_back(MakeMap(AppendUnlessNonspacingMark));
  }
  if (lowercase) row.push_back(MakeMap(AppendLowercase));
  return std::make_unique<NormalizerRow>(std::move(row));
}

Made ReadSequence(const JsonValue& normalizer) {
  const JsonValue parts = normalizer.Require("normalizers");
  std::vector<Made> row;
  for (const auto part : parts.Array()) row.push_back(ReadHfNormalizer(parts.Item(part, row.size())));
  return std::make_unique<NormalizerRow>(std::move(row));
}

Made ReadStrip(const JsonValue& normalizer) {
  const bool left = normalizer.Bool("strip_left", true), right = normalizer.Bool("strip_right", true);
  return std::make_unique<Strip>(left ? (right ? Strip::Sides::kBoth : Strip::Sides::kLeft)
                                      : (right ? Strip::Sides::kRight : Strip::Sides::kNone));
}

}  // namespace

std::unique_ptr<const CutPattern> ReadHfPattern(const JsonValue& pattern) {
  if (const auto text = pattern.Get("String")) {
    if (!text->String().empty()) return std::make_unique<LiteralCut>(std::string(text->String()));
    throw text->Fault(ErrorCode::kUnsupported, "an empty pattern");
  }
  const JsonValue regex = pattern.Require("Regex");
  if (auto groups = MakeDigitGroups(regex.String())) return groups;
  try {
    return std::make_unique<RegexCut>(regex.String());
  } catch (const Error& error) {
    throw regex.Fault(error.code(), error.summary(), error.numbers());
  }
}

std::string ReadHfCharacter(const JsonValue& value) {
  const std::string_view text = value.String();
  if (!text.empty() && FirstCharacter(text).bytes == text.size()) return std::string(text);
  throw value.Fault(ErrorCode::kCorrupt, "one character is wanted", fmt::format("{} bytes", text.size()));
}

std::unique_ptr<const Normalizer> ReadHfNormalizer(const JsonValue& normalizer) {
  const std::string_view type = normalizer.Require("type").String();
  if (type == "Sequence") return ReadSequence(normalizer);
  if (type == "NFC") return MakeForm(UnicodeForm::Form::kNfc);
  if (type == "NFD") return MakeForm(UnicodeForm::Form::kNfd);
  if (type == "NFKC") return MakeForm(UnicodeForm::Form::kNfkc);
  if (type == "NFKD") return MakeForm(UnicodeForm::Form::kNfkd);
  if (type == "Lowercase") return MakeMap(AppendLowercase);
  if (type == "StripAccents") return MakeMap(AppendUnlessMark);
  if (type == "Nmt") return MakeMap(AppendNmt);
  if (type == "BertNormalizer") return ReadBert(normalizer);
  if (type == "Strip") return ReadStrip(normalizer);
  if (type == "Precompiled") return ReadPrecompiled(normalizer);
  if (type == "Prepend") return std::make_unique<Prepend>(std::string(normalizer.Require("prepend").String()));
  if (type == "ByteLevel") return std::make_unique<SpellBytes>();
  if (type == "Replace") {
    return std::make_unique<Replace>(ReadHfPattern(normalizer.Require("pattern")),
                                     std::string(normalizer.Require("content").String()));
  }
  throw normalizer.Fault(ErrorCode::kUnsupported, fmt::format("normalizer {}", files::Quote(type)));
}

}  // namespace ekvi::text
