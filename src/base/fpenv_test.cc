// Goal: inside the scope arithmetic is IEEE default, outside it is the caller's own. Method: results that depend on the
// control word, under a host that changed it.
#include "base/fpenv.h"

#include <gtest/gtest.h>

#include <cfenv>

#include "base/thread_pool.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ekvi::base {
namespace {

float Product(float a, float b) {
  volatile float x = a, y = b;
  volatile float z = x * y;
  return z;
}

constexpr float kTiny = 0x1p-100f;

TEST(ScopedFpEnv, RoundingMode_IsNearestInsideAndTheCallersAgainOutside) {
  std::fesetround(FE_UPWARD);
  {
    const ScopedFpEnv scope;
    EXPECT_EQ(Product(0x1.000002p0f, 0x1.000002p0f), 0x1.000004p0f);
  }
  EXPECT_EQ(Product(0x1.000002p0f, 0x1.000002p0f), 0x1.000006p0f);
  std::fesetround(FE_TONEAREST);
}

#if defined(__SSE2__)

constexpr unsigned kFlushAndDenormalsAreZero = 0x8040;

TEST(ScopedFpEnv, FlushToZero_IsOffInsideAndOnAgainOutside) {
  const unsigned host = _mm_getcsr();
  _mm_setcsr(host | kFlushAndDenormalsAreZero);
  EXPECT_EQ(Product(kTiny, 0x1p-40f), 0);
  {
    const ScopedFpEnv scope;
    EXPECT_EQ(Product(kTiny, 0x1p-40f), 0x1p-140f);
  }
  EXPECT_EQ(_mm_getcsr() & kFlushAndDenormalsAreZero, kFlushAndDenormalsAreZero);
  _mm_setcsr(host);
}

TEST(ScopedFpEnv, StickyFlags_OfTheCallerAreUntouched) {
  const unsigned host = _mm_getcsr();
  _mm_setcsr(host & ~0x3Fu);
  {
    const ScopedFpEnv scope;
    EXPECT_EQ(Product(kTiny, kTiny), 0);
  }
  EXPECT_EQ(_mm_getcsr() & 0x3F, 0u);
  _mm_setcsr(host);
}

TEST(ScopedFpEnv, EveryWorkerOfAPool_KeepsDenormalsWhateverTheHostDoes) {
  const unsigned host = _mm_getcsr();
  _mm_setcsr(host | kFlushAndDenormalsAreZero);  // threads inherit the word of the one that starts them
  ThreadPool pool(3);
  float results[3] = {};
  pool.Run([&](int worker) { results[worker] = Product(kTiny, 0x1p-40f); });
  EXPECT_EQ(_mm_getcsr() & kFlushAndDenormalsAreZero, kFlushAndDenormalsAreZero);
  _mm_setcsr(host);
  for (const float result : results) EXPECT_EQ(result, 0x1p-140f);
}

#endif

}  // namespace
}  // namespace ekvi::base
