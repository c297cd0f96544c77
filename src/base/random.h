// Random numbers that are a function of (seed, index), the same on every machine: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>

namespace ekvi::base {

// The `index`-th of the stream of `seed`; uniform 64 bits.
constexpr uint64_t RandomBits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Uniform in [0, 1), 53 bits.
constexpr double RandomUnit(uint64_t seed, uint64_t index) {
  return static_cast<double>(RandomBits(seed, index) >> 11) * 0x1p-53;
}

// A stream with state, for tests and shuffles.
class Random {
 public:
  explicit constexpr Random(uint64_t seed) : seed_(seed) {}
  constexpr uint64_t Bits() { return RandomBits(seed_, next_++); }
  // 0 … bound - 1; bound > 0. The bias below 2^-32 for bounds below 2^32 is accepted.
  constexpr uint64_t Below(uint64_t bound) { return Bits() % bound; }
  constexpr double Unit() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }
  // Roughly normal: the sum of 12 uniforms, mean 0, variance 1.
  constexpr double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Unit();
    return sum;
  }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

}  // namespace ekvi::base
