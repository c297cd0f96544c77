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
#include "base/memory_limits.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPieceAlignment = 64;  // a line of a cache, the widest vector
// Whole huge pages, of which a stretch leaves one unfinished at most.
constexpr size_t kStretch = 7 * kHugePage;
// Reading /proc takes some 50 µs: not for small buffers, which no limit is likely to refuse.
constexpr size_t kLimitsAskedFrom = size_t{16} << 20;

[[noreturn]] void RefuseCapacity(size_t bytes, std::string numbers) {
  throw Error(ErrorCode::kCapacity,
              fmt::format("not enough memory for a buffer of {} bytes ({:.2f} GiB)", bytes,
                          static_cast<double>(bytes) * 0x1p-30),
              std::move(numbers), "a smaller context, fewer rows, a smaller cache type, or a machine with more memory");
}

void CheckAvailable(size_t bytes) {
  const MemoryLimits limits = ReadMemoryLimits();
  if (!limits.available || bytes <= *limits.available) return;
  RefuseCapacity(bytes, fmt::format("available now: {} bytes ({:.2f} GiB), limited by {}", *limits.available,
                                    static_cast<double>(*limits.available) * 0x1p-30, limits.limited_by));
}

std::byte* Map(size_t wanted, size_t mapped) {
  void* address = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) RefuseCapacity(wanted, "the system says: " + std::generic_category().message(errno));
  return static_cast<std::byte*>(address);
}

// `rounded`: a multiple of the page size.
std::byte* MapHuge(size_t wanted, size_t rounded) {
  const auto mapped = CheckedAdd(rounded, kHugePage);
  if (!mapped) RefuseCapacity(wanted, "more than the address space holds");
  std::byte* const base = Map(wanted, *mapped);
  const size_t head = (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
  if (head > 0) ::munmap(base, head);
  if (kHugePage - head > 0) ::munmap(base + head + rounded, kHugePage - head);
  ::madvise(base + head, rounded, MADV_HUGEPAGE);  // a wish: refused where the system has huge pages off
  return base + head;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes) {
  if (bytes == 0) return;
  const auto rounded = CheckedRoundUp(bytes, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  if (!rounded) RefuseCapacity(bytes, "more than the address space holds");
  if (bytes >= kLimitsAskedFrom) CheckAvailable(bytes);
  std::byte* const data = bytes < kHugePage ? Map(bytes, *rounded) : MapHuge(bytes, *rounded);
  data_ = {data, [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
  size_ = bytes;
}

Arena::~Arena() { LetTailGo(); }

AlignedBuffer Arena::Take(size_t bytes) {
  const auto rounded = CheckedRoundUp(bytes, kPieceAlignment);
  if (!rounded) RefuseCapacity(bytes, "more than the address space holds");
  if (*rounded >= kStretch) return AlignedBuffer(bytes);
  if (*rounded > stretch_.size() - used_) {
    CheckAvailable(kStretch);
    AlignedBuffer next(kStretch);
    LetTailGo();
    stretch_ = std::move(next);
    used_ = 0;
  }
  AlignedBuffer piece;
  piece.data_ = {stretch_.data_, stretch_.data() + used_};
  piece.size_ = bytes;
  used_ += *rounded;
  return piece;
}

// The rest of the huge page that the last piece touched.
void Arena::LetTailGo() noexcept {
  const auto from = CheckedRoundUp(used_, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  if (stretch_.size() > *from) ::madvise(stretch_.data() + *from, stretch_.size() - *from, MADV_DONTNEED);
}

}  // namespace ekvi::base
