// Names that begin alike are neighbours in the sorted list, and a name stands before those that continue it. So walking
// down a text narrows a range of the list byte by byte, and each name met on the way is the range's first.
//
// For every place of the text the longest name there is a candidate; candidates are taken longest first. One that a
// taken neighbour cuts off is replaced by the longest shorter name that still fits in front of the neighbour.
#include "text/vocabulary/special_names.h"

#include <algorithm>
#include <map>
#include <queue>

namespace ekvi::text {
namespace {

struct Candidate {
  size_t begin, bytes;
  int32_t id;

  // The queue gives the greatest first.
  bool operator<(const Candidate& other) const {
    if (bytes != other.bytes) return bytes < other.bytes;
    if (id != other.id) return id > other.id;
    return begin > other.begin;
  }
};

// Taken names, none overlapping: where each begins.
using Taken = std::map<size_t, Candidate>;

std::vector<TextPart> Parts(std::string_view text, const Taken& taken) {
  std::vector<TextPart> parts;
  size_t at = 0;
  for (const auto& [begin, name] : taken) {
    if (begin > at) parts.push_back({text.substr(at, begin - at), {}});
    parts.push_back({text.substr(begin, name.bytes), name.id});
    at = begin + name.bytes;
  }
  if (at < text.size()) parts.push_back({text.substr(at), {}});
  return parts;
}

std::span<const std::string_view>::iterator FirstEndingBehind(std::span<const std::string_view> parts,
                                                              const char* place) {
  return std::ranges::partition_point(parts, [&](std::string_view part) { return part.data() + part.size() <= place; });
}

}  // namespace

bool ReachesInto(std::span<const std::string_view> parts, std::string_view name) {
  const auto part = FirstEndingBehind(parts, name.data());
  return part != parts.end() && part->data() < name.data() + name.size();
}

SpecialNames::SpecialNames(const Vocabulary& vocabulary, std::initializer_list<PieceKind> kinds) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view text = vocabulary.Piece(id);
    if (text.empty() || std::ranges::find(kinds, vocabulary.Kind(id)) == kinds.end()) continue;
    names_.push_back({text, id});
    begins_[static_cast<unsigned char>(text[0])] = true;
    bytes_max_ = std::max(bytes_max_, text.size());
  }
  std::ranges::stable_sort(names_, {}, &Name::text);
  const auto rest = std::ranges::unique(names_, {}, &Name::text);
  names_.erase(rest.begin(), rest.end());
}

const SpecialNames::Name* SpecialNames::LongestAt(std::string_view text, size_t bytes_max) const {
  const Name* longest = nullptr;
  auto first = names_.begin(), last = names_.end();
  for (size_t depth = 0; depth < std::min(bytes_max, text.size()) && first != last; ++depth) {
    const auto byte_at = [depth](const Name& name) { return static_cast<unsigned char>(name.text[depth]); };
    // All names of the range agree in `depth` bytes; one that ends there has been noted and is left behind.
    if (first->text.size() == depth) ++first;
    const auto range = std::ranges::equal_range(first, last, static_cast<unsigned char>(text[depth]), {}, byte_at);
    first = range.begin();
    last = range.end();
    if (first != last && first->text.size() == depth + 1) longest = &*first;
  }
  return longest;
}

const SpecialNames::Name* SpecialNames::LongestAt(std::string_view text, size_t bytes_max,
                                                  const Foreign& foreign) const {
  const Name* longest = LongestAt(text, bytes_max);
  if (longest == nullptr || !ReachesInto(foreign.parts, text.substr(0, longest->text.size()))) return longest;
  const auto part = FirstEndingBehind(foreign.parts, text.data());
  const size_t before = part->data() > text.data() ? static_cast<size_t>(part->data() - text.data()) : 0;
  const Name* short_of_it = LongestAt(text, std::min(bytes_max, before));
  const Name* anywhere = foreign.anywhere->LongestAt(text, bytes_max);
  if (short_of_it == nullptr || anywhere == nullptr) return short_of_it == nullptr ? anywhere : short_of_it;
  return short_of_it->text.size() > anywhere->text.size() ? short_of_it : anywhere;
}

std::vector<TextPart> SpecialNames::Split(std::string_view text, const Foreign& foreign) const {
  std::priority_queue<Candidate> candidates;
  const auto propose = [&](size_t begin, size_t bytes_max) {
    const Name* name = LongestAt(text.substr(begin), bytes_max, foreign);
    if (name != nullptr) candidates.push({begin, name->text.size(), name->id});
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (begins_[static_cast<unsigned char>(text[at])]) propose(at, bytes_max_);
  }
  Taken taken;
  while (!candidates.empty()) {
    const Candidate name = candidates.top();
    candidates.pop();
    const auto next = taken.lower_bound(name.begin);
    const bool covered = (next != taken.end() && next->first == name.begin) ||
                         (next != taken.begin() && std::prev(next)->first + std::prev(next)->second.bytes > name.begin);
    if (covered) continue;
    if (next != taken.end() && next->first < name.begin + name.bytes) {
      propose(name.begin, next->first - name.begin);
    } else {
      taken.emplace(name.begin, name);
    }
  }
  return Parts(text, taken);
}

}  // namespace ekvi::text
