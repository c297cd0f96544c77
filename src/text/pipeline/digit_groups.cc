#include "text/pipeline/digit_groups.h"

#include <utf8proc.h>

#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

bool IsDigit(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)) == UTF8PROC_CATEGORY_ND; }

// \w as Oniguruma has it.
bool IsWordCharacter(uint32_t code) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_PC;
}

// Walks over the numbers of a text; `walk` keeps the end of the number that it stands in and the digits left there.
class DigitGroups : public CutPattern {
 public:
  enum class Kind { kGroups, kPlaces };
  explicit DigitGroups(Kind kind) : kind_(kind) {}

  std::optional<Regex::Match> Next(std::string_view text, Regex::Walk& walk) const override {
    while (walk.from < text.size()) {
      if (walk.digits_left == 0 && !FindNumber(text, walk)) break;
      const bool whole = kind_ == Kind::kPlaces || EndsAtBoundary(text, walk.number_end);
      if (!whole) {
        walk.from = walk.number_end;
        walk.digits_left = 0;
        continue;
      }
      const size_t count = walk.digits_left % 3 == 0 ? 3 : walk.digits_left % 3;
      const size_t begin = walk.from;
      const bool place = kind_ == Kind::kPlaces && count == 3;
      for (size_t i = 0; i < count; ++i) walk.from += FirstCharacter(text.substr(walk.from)).bytes;
      walk.digits_left -= count;
      if (kind_ == Kind::kGroups) return Regex::Match{begin, walk.from};
      if (place) return Regex::Match{begin, begin};
    }
    walk.from = text.size();
    return std::nullopt;
  }

 private:
  // Moves on to the next number; false where there is none.
  static bool FindNumber(std::string_view text, Regex::Walk& walk) {
    while (walk.from < text.size() && !IsDigit(FirstCharacter(text.substr(walk.from)).code)) {
      walk.from += FirstCharacter(text.substr(walk.from)).bytes;
    }
    walk.number_end = walk.from;
    while (walk.number_end < text.size()) {
      const Character character = FirstCharacter(text.substr(walk.number_end));
      if (!IsDigit(character.code)) break;
      walk.number_end += character.bytes;
      ++walk.digits_left;
    }
    return walk.digits_left > 0;
  }

  static bool EndsAtBoundary(std::string_view text, size_t end) {
    return end == text.size() || !IsWordCharacter(FirstCharacter(text.substr(end)).code);
  }

  Kind kind_;
};

}  // namespace

std::unique_ptr<const CutPattern> MakeDigitGroups(std::string_view regex) {
  if (regex == R"(\d{1,3}(?=(?:\d{3})*\b))") return std::make_unique<DigitGroups>(DigitGroups::Kind::kGroups);
  if (regex == R"((?=(\d{3})+(?!\d)))") return std::make_unique<DigitGroups>(DigitGroups::Kind::kPlaces);
  return nullptr;
}

}  // namespace ekvi::text
