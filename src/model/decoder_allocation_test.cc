// Goal: a decode step allocates nothing after the first. Method: operator new of the whole test program counts while
// asked to.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "model/decoder.h"
#include "model/decoder_testing.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};

// Not inlined: GCC would take the library's operator new for the one that gave what `delete` frees.
[[gnu::noinline]] void* Allocate(std::size_t size) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void* Checked(void* memory) {
  if (memory != nullptr) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void Free(void* memory) { std::free(memory); }
}  // namespace

void* operator new(std::size_t size) { return Checked(Allocate(size)); }
void* operator new[](std::size_t size) { return Checked(Allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { Free(memory); }

namespace ekvi::model::testing {
namespace {

void ExpectNoAllocation(Decoder<float>& decoder, KvCache& cache) {
  std::vector<float> f32(2 * decoder.config().vocabulary);
  std::vector<double> f64(2 * decoder.config().vocabulary);
  const std::vector<int32_t> token = {3};
  const StepRow rows[] = {{0, token, 1}, {1, token, 1}};
  FeedRow<float>(decoder, cache, 0, RandomTokens(20, 37, 1));
  decoder.Step(cache, rows, {.f32 = f32.data()});
  decoder.Step(cache, rows, {.f64 = f64.data()});
  allocations = 0;
  counting = true;
  for (int i = 0; i < 300; ++i) {
    decoder.Step(cache, rows, i % 2 == 0 ? LogitsOut{.f32 = f32.data()} : LogitsOut{.f64 = f64.data()});
  }
  counting = false;
  EXPECT_EQ(allocations.load(), 0);
}

TEST(DecoderAllocation, DecodeSteps_AllocateNothingAfterTheFirst) {
  for (const int threads : {1, 2}) {
    Decoder<float> decoder(RandomModel(LlamaLike(4, 2), 31).Weights<float>(), OwnSettings<float>(threads));
    ContiguousCache contiguous(decoder.layout(), {.rows = 2, .max_len = 400});
    ExpectNoAllocation(decoder, contiguous);
    PagedCache paged(decoder.layout(), {.rows = 2, .max_len = 400, .block_tokens = 16, .block_count = 60});
    ExpectNoAllocation(decoder, paged);
  }
}

TEST(DecoderAllocation, DecodeStepsOfAMixture_AllocateNothingAfterTheFirst) {
  DecoderConfig config = LlamaLike(4, 2);
  for (LayerConfig& layer : config.layers) MakeMixture(layer, 6, 2);
  Decoder<float> decoder(RandomModel(config, 31).Weights<float>(), OwnSettings<float>(2));
  ContiguousCache cache(decoder.layout(), {.rows = 2, .max_len = 400});
  ExpectNoAllocation(decoder, cache);
}

TEST(DecoderAllocation, DecodeStep_WritesOneRowAndCopiesNone) {
  Decoder<float> decoder(RandomModel(LlamaLike(4, 2), 31).Weights<float>(), OwnSettings<float>());
  PagedCache cache(decoder.layout(), {.rows = 1, .max_len = 400, .block_tokens = 16, .block_count = 60});
  FeedRow<float>(decoder, cache, 0, RandomTokens(200, 37, 1));
  const uint64_t before = cache.bytes_written();
  FeedRow<float>(decoder, cache, 0, RandomTokens(10, 37, 2), std::vector<int64_t>(10, 1));
  EXPECT_EQ(cache.bytes_written() - before, 10 * BytesPerToken(decoder.layout()));
  EXPECT_EQ(cache.bytes_copied(), 0u);
}

}  // namespace
}  // namespace ekvi::model::testing
