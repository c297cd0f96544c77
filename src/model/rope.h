// Rotary positions: cosines and sines of a step, and the ways to stretch a model's range as tables of divisors.
//
// Angles and their sines are computed in float64 and rounded to T once, so that no position is too far for float32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/config.h"

namespace ekvi::model {

// Position interpolation (Chen et al., 2023): every frequency divided by `factor`. [dims / 2]
std::vector<double> LinearDivisors(int dims, double factor);

// Llama 3.1: wavelengths above original / low_freq are divided by `factor`, those below original / high_freq stay,
// between them the frequency is blended.
struct Llama3Scaling {
  double factor = 1, low_freq = 1, high_freq = 4;
  double original_context = 8192;
};
std::vector<double> Llama3Divisors(int dims, double base, const Llama3Scaling& scaling);

// YaRN (Peng et al., 2023): pairs that turn more than beta_fast times in the original context stay, those that turn
// less than beta_slow times are divided by `factor`, with a ramp between. kWhole rounds the ramp's ends outward to
// whole pairs, as most models want; kExact leaves them.
enum class YarnRamp { kWhole, kExact };
struct YarnScaling {
  double factor = 1, beta_fast = 32, beta_slow = 1;
  double original_context = 4096;
  YarnRamp ramp = YarnRamp::kWhole;
};
std::vector<double> YarnDivisors(int dims, double base, const YarnScaling& scaling);
// The factor of cosine and sine that goes with it: 0.1 mscale ln(factor) + 1, or 1 where factor ≤ 1.
double YarnAttentionFactor(double factor, double mscale = 1);

// LongRoPE (Ding et al., 2024): the tables of divisors come from the file; the factor of cosine and sine is
// sqrt(1 + ln(stretch) / ln(original_context)), or 1 where stretch, the context over the original one, is ≤ 1.
double LongRopeAttentionFactor(double stretch, double original_context);
// `rope` with the one table that a sequence of up to `context` tokens takes.
RopeConfig RopeForContext(const RopeConfig& rope, int64_t context);

// base^(-2i / period) / divisors[i]: radians a position. [dims / 2]
std::vector<double> RopeFrequencies(const RopeConfig& rope);

// cos[i] = attention_factor × cos(position × frequencies[i]), sin likewise; cos, sin [frequencies.size()]. T is float
// or double. Allocates nothing.
template <typename T>
void RopeAngles(std::span<const double> frequencies, double attention_factor, int64_t position, T* cos, T* sin);

}  // namespace ekvi::model
