#include "text/unicode/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace ekvi::text {
namespace {

struct Range {
  uint32_t first, last;
};

template <size_t size>
bool IsIn(const Range (&ranges)[size], uint32_t code) {
  return std::ranges::any_of(ranges, [code](Range range) { return range.first <= code && code <= range.last; });
}

utf8proc_category_t Category(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

}  // namespace

bool IsWhiteSpace(uint32_t code) {
  static constexpr Range kRanges[] = {{9, 13},          {32, 32},         {0x85, 0x85},     {0xA0, 0xA0},
                                      {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                      {0x205F, 0x205F}, {0x3000, 0x3000}};
  return IsIn(kRanges, code);
}

bool IsNumeric(uint32_t code) {
  const utf8proc_category_t category = Category(code);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool IsPunctuation(uint32_t code) {
  static constexpr Range kAscii[] = {{0x21, 0x2F}, {0x3A, 0x40}, {0x5B, 0x60}, {0x7B, 0x7E}};
  if (code < 0x80) return IsIn(kAscii, code);
  const utf8proc_category_t category = Category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool IsWord(uint32_t code) {
  static constexpr Range kCircled[] = {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  const utf8proc_category_t category = Category(code);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
         code == 0x200C || code == 0x200D || IsIn(kCircled, code);
}

bool IsHan(uint32_t code) {
  static constexpr Range kRanges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                      {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return IsIn(kRanges, code);
}

}  // namespace ekvi::text
