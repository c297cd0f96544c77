#include <fmt/core.h>

#include "files/reader_error.h"
#include "text/hf/hf_parts.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

constexpr uint64_t kStripMax = 1 << 20;

class Reader {
 public:
  void Read(const JsonValue& value) {
    const std::string_view type = value.Require("type").String();
    if (type == "Sequence") {
      const JsonValue parts = value.Require("decoders");
      size_t index = 0;
      for (const auto part : parts.Array()) Read(parts.Item(part, index++));
    } else if (type == "Fuse") {
      fused_ = true;
    } else if (type == "Strip") {
      ReadStrip(value);
    } else if (type == "Replace") {
      ReadReplace(value);
    } else if (type == "ByteFallback") {
      if (!fused_) Add<ByteFallbackStep>();
    } else {
      if (fused_) Refuse(value, type);
      ReadBeforeFuse(type, value);
    }
  }

  DecodeSteps Finish() { return std::move(steps_); }

 private:
  template <typename Step, typename... Args>
  void Add(Args&&... args) {
    steps_.push_back(std::make_unique<Step>(std::forward<Args>(args)...));
  }

  [[noreturn]] void Refuse(const JsonValue& value, std::string_view type) const {
    throw value.Fault(ErrorCode::kUnsupported,
                      fmt::format("decoder {}{}", files::Quote(type), fused_ ? " on the text as a whole" : ""));
  }

  void ReadBeforeFuse(std::string_view type, const JsonValue& value) {
    if (type == "ByteLevel") {
      Add<ByteLevelStep>();
      fused_ = true;
    } else if (type == "Metaspace") {
      const bool keeps = value.Get("prepend_scheme") ? value.Require("prepend_scheme").String() == "never"
                                                     : !value.Bool("add_prefix_space", true);
      Add<MetaspaceStep>(ReadHfCharacter(value.Require("replacement")),
                         keeps ? MetaspaceStep::First::kKeepsMarks : MetaspaceStep::First::kDropsMarks);
    } else if (type == "WordPiece") {
      const auto prefix = value.Get("prefix");
      Add<WordPieceStep>(std::string(prefix ? prefix->String() : "##"),
                         value.Bool("cleanup", true) ? WordPieceStep::Tidy::kYes : WordPieceStep::Tidy::kNo);
    } else if (type == "BPEDecoder") {
      const auto suffix = value.Get("suffix");
      if (suffix && suffix->String().empty()) throw suffix->Fault(ErrorCode::kUnsupported, "an empty suffix");
      Add<WordEndStep>(std::string(suffix ? suffix->String() : "</w>"));
    } else {
      Refuse(value, type);
    }
  }

  void ReadStrip(const JsonValue& value) {
    std::string content = ReadHfCharacter(value.Require("content"));
    const auto start = static_cast<uint32_t>(value.Require("start").Uint(kStripMax));
    const auto stop = static_cast<uint32_t>(value.Require("stop").Uint(kStripMax));
    if (!fused_) {
      Add<StripStep>(std::move(content), start, stop);
    } else if (stop > 0 || stripped_) {
      throw value.Fault(ErrorCode::kUnsupported, "decoder 'Strip' at the end of the text as a whole",
                        fmt::format("stop {}", stop));
    } else {
      Add<StripTextStep>(std::move(content), start);
      stripped_ = true;
    }
  }

  // On the text as a whole, a pattern of one character still sees no more than one token.
  void ReadReplace(const JsonValue& value) {
    const JsonValue pattern = value.Require("pattern");
    const auto literal = pattern.Get("String");
    const bool single =
        literal && !literal->String().empty() && FirstCharacter(literal->String()).bytes == literal->String().size();
    if (fused_ && (!single || stripped_)) Refuse(value, "Replace");
    Add<ReplaceStep>(ReadHfPattern(pattern), std::string(value.Require("content").String()));
  }

  DecodeSteps steps_;
  bool fused_ = false;     // what comes now sees the text as a whole
  bool stripped_ = false;  // its front has been taken away
};

}  // namespace

DecodeSteps ReadHfDecoder(const JsonValue& decoder) {
  Reader reader;
  reader.Read(decoder);
  return reader.Finish();
}

}  // namespace ekvi::text
