// Goal: buffers are zeroed, aligned, owned once, and refused when the machine cannot hold them; those of an arena too,
// side by side. Method: sizes around the page and the huge page, and sizes no machine has.
#include "base/aligned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
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
  if (!limits.available) GTEST_SKIP() << "the system does not say what is available";
  EXPECT_THROW(AlignedBuffer(*limits.available + (size_t{4} << 30)), Error);
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
