// Two patterns of public tokenizers that count digits from the end of a number. As regular expressions they look ahead
// over the whole rest of the number at each place, in quadratic time; here each number is counted once.
#pragma once

#include <memory>
#include <string_view>

#include "text/pipeline/pre_tokenizer.h"

namespace ekvi::text {

// The pattern that cuts as the regular expression does, or nullptr where it is none of the two.
std::unique_ptr<const CutPattern> MakeDigitGroups(std::string_view regex);

}  // namespace ekvi::text
