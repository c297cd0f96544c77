// "Did you mean": the known word nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ekvi::cli {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (Damerau 1964, in the
// restricted form that edits no place twice).
int EditDistance(std::string_view a, std::string_view b);

// The nearest candidate, the first among equals; nothing where more than a third of the word (and at least one
// letter) would have to change. A word that begins like exactly one candidate means that one; else a word that goes on
// where a candidate ends (--temperature) means the longest such candidate that is at least a third of it.
std::optional<std::string> Closest(std::string_view word, std::span<const std::string> candidates);

}  // namespace ekvi::cli
