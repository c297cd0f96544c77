// Goal: other tests can count allocations. Method: operator new of this program is replaced by one that counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "engine/test_support.h"

namespace ekvi::engine {

std::atomic<int64_t> allocation_count = 0;

namespace {

void* AllocateOrNull(std::size_t bytes, std::size_t alignment) noexcept {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* Allocate(std::size_t bytes, std::size_t alignment) {
  void* const memory = AllocateOrNull(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace ekvi::engine

void* operator new(std::size_t bytes) { return ekvi::engine::Allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return ekvi::engine::Allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return ekvi::engine::AllocateOrNull(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
// gcc takes the library's operator new for the one that gave this memory.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ekvi::engine {
namespace {

TEST(AllocationCounter, EveryContainer_IsCounted) {
  const int64_t before = allocation_count;
  const auto one = std::make_unique<int>(1);
  const std::vector<double> two(100);
  EXPECT_EQ(allocation_count - before, 2);
}

}  // namespace
}  // namespace ekvi::engine
