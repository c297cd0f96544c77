// Goal: buffers are zeroed, aligned, owned once, and refused when the machine cannot hold them; those of an arena too,
// side by side. Method: sizes around the page and the huge page, sizes no machine has, and limits that the test sets.
#include "base/aligned.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory_limits.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(AlignedBuffer, EverySize_IsZeroedWritableAndAligned) {
  for (const size_t bytes :
       {size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, 2 * kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 17 * kMiB + 5}) {
    AlignedBuffer buffer(bytes);
    ASSERT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (bytes >= 2 * kMiB ? 2 * kMiB : 4096), 0u) << bytes;
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(buffer.data(), bytes, std::byte{0xA5});
  }
}

TEST(AlignedBuffer, NoBytes_IsEmpty) {
  const AlignedBuffer none, zero(0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(zero.data(), nullptr);
  EXPECT_EQ(zero.size(), 0u);
}

TEST(AlignedBuffer, Moved_LeavesTheSourceEmpty) {
  AlignedBuffer first(3 * kMiB);
  first.as<int>()[5] = 7;
  AlignedBuffer second(100);
  second = std::move(first);
  EXPECT_EQ(second.size(), 3 * kMiB);
  EXPECT_EQ(second.as<int>()[5], 7);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): the promise under test
  EXPECT_EQ(first.data(), nullptr);
}

TEST(AlignedBuffer, AbsurdSize_IsRefusedWithTheBytes) {
  for (const size_t bytes : {size_t{1} << 45, size_t{1} << 62, std::numeric_limits<size_t>::max() - kMiB,
                             std::numeric_limits<size_t>::max()}) {
    try {
      const AlignedBuffer buffer(bytes);
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCapacity);
      EXPECT_NE(error.summary().find(std::to_string(bytes)), std::string::npos) << error.what();
      EXPECT_FALSE(error.numbers().empty());
    }
  }
}

TEST(AlignedBuffer, MoreThanIsAvailable_IsRefusedThoughTheKernelWouldPromiseIt) {
  const MemoryLimits limits = ReadMemoryLimits();
  ASSERT_TRUE(limits.available) << "/proc/meminfo has no MemAvailable: then no request is ever refused beforehand";
  EXPECT_THROW(AlignedBuffer(*limits.available + (size_t{4} << 30)), Error);
}

// What the system lets a test have.
std::optional<uint64_t> available;
MemoryLimits TestLimits() { return {.total = 0, .available = available, .limited_by = "the test"}; }
constexpr MemoryTerms kTestTerms = {.what = "a test's buffer", .hint = "another test", .limits = TestLimits};

void ExpectRefused(const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "memory that is not available was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCapacity);
    EXPECT_TRUE(error.summary().starts_with("not enough memory for a test's buffer of ")) << error.what();
    EXPECT_EQ(error.numbers(), fmt::format("available now: {} bytes (0.01 GiB), limited by the test", *available));
    EXPECT_EQ(error.hint(), "another test");
  }
}

TEST(AlignedBuffer, MemoryTheLimitsDoNotHave_IsRefusedInThreeParts) {
  available = 15 * kMiB;
  ExpectRefused([] { AlignedBuffer(15 * kMiB + 1, kTestTerms); });
  EXPECT_EQ(AlignedBuffer(15 * kMiB, kTestTerms).size(), 15 * kMiB);
  available.reset();  // nobody says
  EXPECT_EQ(AlignedBuffer(15 * kMiB + 1, kTestTerms).size(), 15 * kMiB + 1);
}

// A model's many matrices of any size would together be promised and then kill the process.
TEST(Arena, MemoryOfAnySize_IsAskedFor) {
  available = 10 * kMiB;
  for (const size_t bytes : {size_t{1}, kMiB, 10 * kMiB + 1, 14 * kMiB - 64, 14 * kMiB - 63, 14 * kMiB, 15 * kMiB,
                             16 * kMiB - 1, 16 * kMiB, 100 * kMiB}) {
    SCOPED_TRACE(bytes);
    ExpectRefused([&] { Arena(kTestTerms).Take(bytes); });
  }
}

TEST(Arena, MemoryTheLimitsDoNotHave_IsRefusedAndNothingChanges) {
  Arena arena(kTestTerms);
  available = 100 * kMiB;
  AlignedBuffer first = arena.Take(3 * kMiB);
  std::fill_n(first.data(), first.size(), std::byte{5});
  available = 10 * kMiB;
  for (const size_t bytes : {11 * kMiB + 1, 20 * kMiB}) ExpectRefused([&] { arena.Take(bytes); });
  const AlignedBuffer next = arena.Take(11 * kMiB);  // the rest of what it has
  EXPECT_EQ(next.data(), first.data() + first.size());
  ExpectRefused([&] { arena.Take(1); });
  EXPECT_TRUE(std::all_of(first.data(), first.data() + first.size(), [](std::byte b) { return b == std::byte{5}; }));
  EXPECT_TRUE(std::all_of(next.data(), next.data() + next.size(), [](std::byte b) { return b == std::byte{0}; }));
  available = 100 * kMiB;
  EXPECT_EQ(arena.Take(kMiB).size(), kMiB);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // has terabytes of addresses
#else
constexpr bool kSanitized = false;
#endif

// Addresses beyond those that the process has and one MiB for the error's text are not to be had.
void LimitAddresses() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t limit = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMiB;
  const rlimit bytes{limit, limit};
  ::setrlimit(RLIMIT_AS, &bytes);
}

bool SystemRefuses(const std::function<void()>& call) {
  try {
    call();
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kCapacity && error.numbers() == "the system says: Cannot allocate memory" &&
           !error.hint().empty();
  }
}

TEST(Arena, AddressesThatTheSystemDoesNotGive_AreRefusedAndNothingChanges) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer maps terabytes, more than any limit of addresses that is tried here";
  const auto in_another_process = [] {
    Arena arena;
    AlignedBuffer first = arena.Take(3 * kMiB);
    first.data()[0] = std::byte{5};
    LimitAddresses();
    bool right = SystemRefuses([&] { arena.Take(11 * kMiB + 1); }) && SystemRefuses([&] { arena.Take(20 * kMiB); });
    right = right && SystemRefuses([] { AlignedBuffer(2 * kMiB); }) && SystemRefuses([] { AlignedBuffer(30 * kMiB); });
    right = right && first.data()[0] == std::byte{5} && arena.Take(kMiB).data() == first.data() + first.size();
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(in_another_process(), ::testing::ExitedWithCode(0), "");
}

TEST(Arena, Buffers_AreZeroedAlignedApartAndShareHugePages) {
  Arena arena;
  std::vector<AlignedBuffer> pieces;
  for (const size_t bytes :
       {size_t{1}, size_t{63}, size_t{65}, 100 * size_t{1024}, kMiB, 3 * kMiB, 40 * kMiB, 5 * kMiB}) {
    AlignedBuffer& piece = pieces.emplace_back(arena.Take(bytes));
    ASSERT_EQ(piece.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.data()) % 64, 0u) << bytes;
    EXPECT_TRUE(std::all_of(piece.data(), piece.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(piece.data(), bytes, static_cast<std::byte>(pieces.size()));
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].data()[0], static_cast<std::byte>(i + 1));
    EXPECT_EQ(pieces[i].data()[pieces[i].size() - 1], static_cast<std::byte>(i + 1));
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces[0].data()) % (2 * kMiB), 0u);
  EXPECT_EQ(pieces[1].data() - pieces[0].data(), 64);
}

TEST(Arena, Buffer_OutlivesTheArenaAndItsNeighbours) {
  AlignedBuffer kept;
  {
    Arena arena;
    const AlignedBuffer neighbour = arena.Take(1000);
    kept = arena.Take(1000);
  }
  std::fill_n(kept.data(), 1000, std::byte{7});
  EXPECT_EQ(kept.data()[999], std::byte{7});
}

TEST(Arena, AbsurdSize_IsRefused) {
  Arena arena;
  for (const size_t bytes : {size_t{1} << 62, std::numeric_limits<size_t>::max()}) {
    EXPECT_THROW(arena.Take(bytes), Error) << bytes;
  }
  EXPECT_EQ(arena.Take(10).size(), 10u);
}

}  // namespace
}  // namespace ekvi::base
