#include "cli/suggest.h"

#include <algorithm>
#include <vector>

namespace ekvi::cli {

int EditDistance(std::string_view a, std::string_view b) {
  const size_t columns = b.size() + 1;
  std::vector<int> cost((a.size() + 1) * columns);
  const auto at = [&](size_t i, size_t j) -> int& { return cost[i * columns + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = at(i - 1, j - 1) + (a[i - 1] != b[j - 1]);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

namespace {

std::optional<std::string> OnlyOneThatBeginsWith(std::string_view word, std::span<const std::string> candidates) {
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  const auto first = std::find_if(candidates.begin(), candidates.end(), begins);
  if (first == candidates.end() || std::find_if(first + 1, candidates.end(), begins) != candidates.end())
    return std::nullopt;
  return *first;
}

std::optional<std::string> LongestBeginningOf(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    const bool enough = 3 * candidate.size() >= std::max<size_t>(word.size(), 9);  // two letters say too little
    const bool longer = best == nullptr || candidate.size() > best->size();
    if (enough && longer && word.starts_with(candidate)) best = &candidate;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace

std::optional<std::string> Closest(std::string_view word, std::span<const std::string> candidates) {
  static constexpr size_t kLongest = 40;  // nobody misspells more; the distance costs the product of the lengths
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  const std::string* best = nullptr;
  int least = std::max(1, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& candidate : candidates) {
    const int distance = EditDistance(word, candidate);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  if (best != nullptr) return *best;
  if (auto only = OnlyOneThatBeginsWith(word, candidates)) return only;
  return LongestBeginningOf(word, candidates);
}

}  // namespace ekvi::cli
