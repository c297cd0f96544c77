#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/scalar_ops.h"
#include "numeric/trig.h"

namespace ekvi::model {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double PlainFrequency(int dims, double base, int pair) { return numeric::Pow(base, -2.0 * pair / dims); }

// A frequency that keeps `share` of itself and takes the rest from itself / factor.
double BlendedDivisor(double factor, double share) { return 1 / ((1 - share) / factor + share); }

// The pair, as a real number, that turns `turns` times within the context.
double PairThatTurns(double turns, int dims, double base, double context) {
  return dims * numeric::Log(context / (turns * kTurn)) / (2 * numeric::Log(base));
}

}  // namespace

std::vector<double> LinearDivisors(int dims, double factor) { return std::vector<double>(dims / 2, factor); }

std::vector<double> Llama3Divisors(int dims, double base, const Llama3Scaling& scaling) {
  std::vector<double> divisors(dims / 2);
  for (int pair = 0; pair < dims / 2; ++pair) {
    const double turns = scaling.original_context * PlainFrequency(dims, base, pair) / kTurn;
    const double share = (turns - scaling.low_freq) / (scaling.high_freq - scaling.low_freq);
    divisors[pair] = turns < scaling.low_freq    ? scaling.factor
                     : turns > scaling.high_freq ? 1
                                                 : BlendedDivisor(scaling.factor, share);
  }
  return divisors;
}

std::vector<double> YarnDivisors(int dims, double base, const YarnScaling& scaling) {
  double low = PairThatTurns(scaling.beta_fast, dims, base, scaling.original_context);
  double high = PairThatTurns(scaling.beta_slow, dims, base, scaling.original_context);
  if (scaling.ramp == YarnRamp::kWhole) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dims - 1.0);
  if (low == high) high += 0.001;  // a step instead of a ramp, as the paper's code has it
  std::vector<double> divisors(dims / 2);
  for (int pair = 0; pair < dims / 2; ++pair) {
    const double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
    divisors[pair] = BlendedDivisor(scaling.factor, 1 - ramp);
  }
  return divisors;
}

double YarnAttentionFactor(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * numeric::Log(factor) + 1;
}

double LongRopeAttentionFactor(double stretch, double original_context) {
  return stretch <= 1 ? 1 : numeric::Sqrt(1 + numeric::Log(stretch) / numeric::Log(original_context));
}

RopeConfig RopeForContext(const RopeConfig& rope, int64_t context) {
  RopeConfig chosen = rope;
  if (!rope.long_divisors.empty() && context > rope.short_context) chosen.divisors = rope.long_divisors;
  chosen.long_divisors.clear();
  chosen.short_context = 0;
  return chosen;
}

std::vector<double> RopeFrequencies(const RopeConfig& rope) {
  std::vector<double> frequencies(rope.dims / 2);
  for (int pair = 0; pair < rope.dims / 2; ++pair) {
    const double divisor = rope.divisors.empty() ? 1 : rope.divisors[pair];
    frequencies[pair] = PlainFrequency(rope.period > 0 ? rope.period : rope.dims, rope.base, pair) / divisor;
  }
  return frequencies;
}

template <typename T>
void RopeAngles(std::span<const double> frequencies, double attention_factor, int64_t position, T* cos, T* sin) {
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const numeric::SineCosine angle = numeric::SinCos(static_cast<double>(position) * frequencies[pair]);
    cos[pair] = static_cast<T>(attention_factor * angle.cosine);
    sin[pair] = static_cast<T>(attention_factor * angle.sine);
  }
}

template void RopeAngles<float>(std::span<const double>, double, int64_t, float*, float*);
template void RopeAngles<double>(std::span<const double>, double, int64_t, double*, double*);

}  // namespace ekvi::model
