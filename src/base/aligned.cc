// mmap gives page alignment: for 2 MiB alignment map 2 MiB more than wanted, then give back what lies before and after.
#include "base/aligned.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/checked.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPieceAlignment = 64;  // a line of a cache, the widest vector
// Whole huge pages, of which a stretch leaves one unfinished at most.
constexpr size_t kStretch = 7 * kHugePage;
// Reading /proc takes some 50 µs: not for small buffers, which no limit is likely to refuse.
constexpr size_t kLimitsAskedFrom = kStretch;

std::string Gibibytes(size_t bytes) {
  return fmt::format("{} bytes ({:.2f} GiB)", bytes, static_cast<double>(bytes) * 0x1p-30);
}

[[noreturn]] void Refuse(size_t bytes, const MemoryTerms& terms, std::string numbers) {
  throw Error(ErrorCode::kCapacity, fmt::format("not enough memory for {} of {}", terms.what, Gibibytes(bytes)),
              std::move(numbers), std::string(terms.hint));
}

void CheckAvailable(size_t bytes, const MemoryTerms& terms) {
  const MemoryLimits limits = terms.limits();
  if (!limits.available || bytes <= *limits.available) return;
  Refuse(bytes, terms,
         fmt::format("available now: {}, limited by {}", Gibibytes(*limits.available), limits.limited_by));
}

size_t Rounded(size_t bytes, size_t alignment, const MemoryTerms& terms) {
  const auto rounded = CheckedRoundUp(bytes, alignment);
  if (!rounded) Refuse(bytes, terms, "more than the address space holds");
  return *rounded;
}

size_t PageBytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

std::byte* Map(size_t bytes, size_t mapped, const MemoryTerms& terms) {
  void* address = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) Refuse(bytes, terms, "the system says: " + std::generic_category().message(errno));
  return static_cast<std::byte*>(address);
}

// `rounded`: `bytes` up to a multiple of the page size.
std::byte* MapHuge(size_t bytes, size_t rounded, const MemoryTerms& terms) {
  const auto mapped = CheckedAdd(rounded, kHugePage);
  if (!mapped) Refuse(bytes, terms, "more than the address space holds");
  std::byte* const base = Map(bytes, *mapped, terms);
  const size_t head = (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
  if (head > 0) ::munmap(base, head);
  if (kHugePage - head > 0) ::munmap(base + head + rounded, kHugePage - head);
  ::madvise(base + head, rounded, MADV_HUGEPAGE);  // a wish: refused where the system has huge pages off
  return base + head;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes, const MemoryTerms& terms) {
  if (bytes == 0) return;
  const size_t rounded = Rounded(bytes, PageBytes(), terms);
  if (rounded >= kLimitsAskedFrom) CheckAvailable(bytes, terms);
  std::byte* const data = bytes < kHugePage ? Map(bytes, rounded, terms) : MapHuge(bytes, rounded, terms);
  data_ = {data, [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
  size_ = bytes;
}

Arena::~Arena() { LetTailGo(); }

AlignedBuffer Arena::Take(size_t bytes) {
  const size_t rounded = Rounded(bytes, kPieceAlignment, terms_);
  if (rounded >= kStretch) return AlignedBuffer(bytes, terms_);
  if (rounded > stretch_.size() - used_) {
    AlignedBuffer next(kStretch, terms_);
    LetTailGo();
    stretch_ = std::move(next);
    used_ = 0;
  }
  AlignedBuffer piece;
  piece.data_ = {stretch_.data_, stretch_.data() + used_};
  piece.size_ = bytes;
  used_ += rounded;
  return piece;
}

// The rest of the huge page that the last piece touched.
void Arena::LetTailGo() noexcept {
  const auto from = CheckedRoundUp(used_, PageBytes());
  if (stretch_.size() > *from) ::madvise(stretch_.data() + *from, stretch_.size() - *from, MADV_DONTNEED);
}

}  // namespace ekvi::base
