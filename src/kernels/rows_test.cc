// Goal: softmax, norms, rotation and activations are right, and bit-equal on every target for every width.
// Method: widths around the vector, NaN guards and NaN in what must not be read, libm in float64, and the scalar target
// with ==.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iterator>

#include "kernels/kernels_testing.h"

namespace ekvi::kernels {
namespace {

constexpr int64_t kWidths[] = {1, 2, 15, 16, 17, 31, 33, 64, 100};

// Runs `act` on each target with a copy of `start`; all must give the bits of the scalar one, which is returned.
template <typename T>
Guarded<T> OnEveryTarget(const Guarded<T>& start, const std::function<void(const Table<T>&, T*)>& act) {
  Guarded<T> reference(0);
  for (const Target target : TargetsHere()) {
    Guarded<T> out = start;
    act(TableFor<T>(target), out.data());
    EXPECT_TRUE(out.GuardsIntact());
    if (target == Target::kScalar) reference = out;
    EXPECT_TRUE(out.SameBits(reference)) << TargetName(target) << ", width " << start.size();
  }
  return reference;
}

template <typename T>
void CheckSoftmax(KeyRange a, KeyRange b, int count, T soft_cap, T slope, base::Random& random) {
  Guarded<T> raw(kChunkKeys);
  const int end = count > 1 ? b.end : a.end;
  const auto sees = [&](int key) {
    return (a.begin <= key && key < a.end) || (count > 1 && b.begin <= key && key < b.end);
  };
  for (int key = 0; key < kChunkKeys; ++key) raw[key] = sees(key) ? static_cast<T>(3 * random.Normal()) : raw[-1];
  T max[std::size(kTargets)] = {}, sum[std::size(kTargets)] = {};
  int run = 0;
  const Guarded<T> p = OnEveryTarget<T>(raw, [&](const Table<T>& table, T* scores) {
    const SoftmaxRow<T> row{scores, T(0.5), soft_cap, slope, -100, {a, b}, count, &max[run], &sum[run]};
    table.softmax(&row, 1);
    for (int key = 0; key < kChunkKeys; ++key) {
      if (!sees(key)) scores[key] = 0;  // anything may be there
    }
    EXPECT_EQ(max[run], max[0]);
    EXPECT_EQ(sum[run++], sum[0]);
  });
  double want_max = -INFINITY, want_sum = 0;
  std::vector<double> scores(kChunkKeys);
  for (int key = 0; key < end; ++key) {
    if (!sees(key)) continue;
    double s = raw[key] * 0.5;
    if (soft_cap != 0) s = soft_cap * std::tanh(s / soft_cap);
    scores[key] = s + slope * (key - 100);
    want_max = std::max(want_max, scores[key]);
  }
  for (int key = 0; key < end; ++key) {
    if (!sees(key)) continue;
    want_sum += std::exp(scores[key] - want_max);
    EXPECT_NEAR(p[key], std::exp(scores[key] - want_max), 3e-6) << key;
  }
  EXPECT_NEAR(max[0], want_max, 1e-5);
  EXPECT_NEAR(sum[0], want_sum, 1e-5 * want_sum);
}

// Rows that are computed together have the bits of each alone.
TEST(Softmax, SeveralRows_AreEachWhatTheyAreAlone) {
  base::Random random(7);
  for (const Target target : TargetsHere()) {
    for (int64_t count = 1; count <= 9; ++count) {
      std::vector<float> together(static_cast<size_t>(count) * kChunkKeys);
      for (float& score : together) score = static_cast<float>(random.Normal());
      std::vector<float> alone = together;
      std::vector<float> max(2 * static_cast<size_t>(count)), sum(max.size());
      std::vector<SoftmaxRow<float>> rows;
      for (int64_t r = 0; r < count; ++r) {
        const int begin = static_cast<int>(random.Below(200)), end = begin + 1 + static_cast<int>(random.Below(56));
        rows.push_back({&together[static_cast<size_t>(r) * kChunkKeys],
                        0.5f,
                        0,
                        r % 2 == 0 ? 0 : 0.01f,
                        -r,
                        {{begin, end}, {}},
                        1,
                        &max[static_cast<size_t>(r)],
                        &sum[static_cast<size_t>(r)]});
      }
      TableFor<float>(target).softmax(rows.data(), count);
      for (int64_t r = 0; r < count; ++r) {
        SoftmaxRow<float> row = rows[static_cast<size_t>(r)];
        row.scores = &alone[static_cast<size_t>(r) * kChunkKeys];
        row.max = &max[static_cast<size_t>(count + r)];
        row.sum = &sum[static_cast<size_t>(count + r)];
        TableFor<float>(target).softmax(&row, 1);
        EXPECT_EQ(*row.max, *rows[static_cast<size_t>(r)].max);
        EXPECT_EQ(*row.sum, *rows[static_cast<size_t>(r)].sum);
        const KeyRange seen = row.ranges[0];
        for (int key = seen.begin; key < seen.end; ++key)
          EXPECT_EQ(row.scores[key], rows[static_cast<size_t>(r)].scores[key]) << TargetName(target) << ", row " << r;
      }
    }
  }
}

TEST(Softmax, OneAndTwoRangesWithAndWithoutOptions_AreRightOnEveryTarget) {
  base::Random random(1);
  for (const KeyRange range : {KeyRange{0, 1}, {0, 16}, {0, 256}, {3, 9}, {15, 17}, {100, 255}, {255, 256}}) {
    CheckSoftmax<float>(range, {}, 1, 0, 0, random);
    CheckSoftmax<float>(range, {}, 1, 4, 0.01f, random);
    CheckSoftmax<double>(range, {}, 1, 4, 0.01, random);
  }
  for (const auto& [a, b] : {std::pair(KeyRange{0, 4}, KeyRange{5, 9}),
                             {KeyRange{0, 2}, KeyRange{200, 256}},
                             {KeyRange{0, 16}, KeyRange{32, 33}}}) {
    CheckSoftmax<float>(a, b, 2, 0, 0, random);
    CheckSoftmax<double>(a, b, 2, 2, -0.02, random);
  }
}

template <typename T>
void CheckStates(int64_t d, base::Random& random) {
  Guarded<T> a(d + 2), b(d + 2);  // max, sum, out[d]
  a.Fill(random);
  b.Fill(random);
  a[1] = 2, b[1] = 3;
  const Guarded<T> merged = OnEveryTarget<T>(a, [&](const Table<T>& table, T* s) {
    table.merge({s, s + 1, s + 2}, {b.data(), b.data() + 1, b.data() + 2}, d);
  });
  const double max = std::max(a[0], b[0]), wa = std::exp(a[0] - max), wb = std::exp(b[0] - max);
  EXPECT_EQ(merged[0], max);
  for (int64_t i = 1; i < d + 2; ++i) EXPECT_NEAR(merged[i], a[i] * wa + b[i] * wb, 1e-5);
  const Guarded<T> out = OnEveryTarget<T>(Guarded<T>(d), [&](const Table<T>& table, T* to) {
    table.finish({merged.data(), merged.data() + 1, merged.data() + 2}, to, d);
  });
  for (int64_t i = 0; i < d; ++i) EXPECT_NEAR(out[i], merged[i + 2] / merged[1], 1e-6);
}

TEST(States, MergeAndFinish_AreRightOnEveryTarget) {
  base::Random random(2);
  for (const int64_t d : kWidths) {
    CheckStates<float>(d, random);
    CheckStates<double>(d, random);
  }
}

template <typename T>
void CheckNorm(NormKind kind, int64_t width, bool with_weight, bool with_bias, base::Random& random) {
  Guarded<T> x(2 * width), weight(width), bias(width);
  x.Fill(random, 3);
  weight.Fill(random);
  bias.Fill(random);
  const Norm<T> norm{kind,
                     x.data(),
                     width,
                     nullptr,
                     width,
                     2,
                     width,
                     with_weight ? weight.data() : nullptr,
                     with_bias ? bias.data() : nullptr,
                     T(1e-5)};
  const Guarded<T> out = OnEveryTarget<T>(Guarded<T>(2 * width), [&](const Table<T>& table, T* to) {
    Norm<T> args = norm;
    args.out = to;
    table.norm(args);
  });
  for (int64_t row = 0; row < 2; ++row) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < width && kind == NormKind::kLayer; ++i)
      mean += x[row * width + i] / static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i) square += std::pow(x[row * width + i] - mean, 2) / static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i) {
      double want = (x[row * width + i] - mean) / std::sqrt(square + 1e-5);
      if (with_weight) want *= weight[i];
      if (with_bias) want += bias[i];
      EXPECT_NEAR(out[row * width + i], want, width == 1 ? 0.3 : 2e-4) << width << " " << i;
    }
  }
}

TEST(Norm, BothKindsAtEveryWidth_AreRightOnEveryTarget) {
  base::Random random(3);
  for (const int64_t width : kWidths) {
    for (const NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
      CheckNorm<float>(kind, width, true, false, random);
      CheckNorm<float>(kind, width, true, true, random);
      CheckNorm<double>(kind, width, false, false, random);
    }
  }
}

TEST(Rotate, HalfSplitPairs_TurnByTheirAnglesOnEveryTarget) {
  base::Random random(4);
  for (const int64_t dims : {2, 4, 30, 32, 34, 128}) {
    Guarded<float> x(2 * (dims + 3)), cos(dims / 2), sin(dims / 2);
    x.Fill(random);
    for (int64_t i = 0; i < dims / 2; ++i)
      cos[i] = static_cast<float>(std::cos(i)), sin[i] = static_cast<float>(std::sin(i));
    const Guarded<float> out = OnEveryTarget<float>(x, [&](const Table<float>& table, float* to) {
      table.rotate({to, dims + 3, 2, dims, cos.data(), sin.data()});
    });
    for (int64_t head = 0; head < 2; ++head) {
      for (int64_t i = 0; i < dims + 3; ++i) {
        const int64_t at = head * (dims + 3) + i, half = dims / 2;
        double want = x[at];
        if (i < half)
          want = x[at] * cos[i] - x[at + half] * sin[i];
        else if (i < dims)
          want = x[at] * cos[i - half] + x[at - half] * sin[i - half];
        EXPECT_NEAR(out[at], want, 1e-6);
      }
    }
  }
}

double ActivationRef(Activation kind, double x) {
  switch (kind) {
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kClampedSwiglu:
      break;
  }
  return NAN;
}

template <typename T>
void CheckActivation(Activation kind, int64_t width, double tolerance, base::Random& random) {
  Guarded<T> x(width), up(width);
  x.Fill(random, 3);
  up.Fill(random);
  for (const bool gated : {false, true}) {
    const Guarded<T> out = OnEveryTarget<T>(Guarded<T>(width), [&](const Table<T>& table, T* to) {
      table.activate({kind, x.data(), gated ? up.data() : nullptr, to, width});
    });
    for (int64_t i = 0; i < width; ++i) {
      EXPECT_NEAR(out[i], ActivationRef(kind, x[i]) * (gated ? static_cast<double>(up[i]) : 1.0), tolerance);
    }
  }
}

TEST(Activate, EveryKindWithAndWithoutGate_IsRightOnEveryTarget) {
  base::Random random(5);
  for (const Activation kind : {Activation::kSilu, Activation::kGeluTanh, Activation::kGeluErf, Activation::kRelu}) {
    for (const int64_t width : kWidths) {
      CheckActivation<float>(kind, width, 1e-5, random);
      CheckActivation<double>(kind, width, 1e-13, random);
    }
  }
}

template <typename T>
void CheckClampedSwiglu(int64_t width, double tolerance, base::Random& random) {
  Guarded<T> x(width), up(width);
  x.Fill(random, 9);
  up.Fill(random, 9);
  const T limit = 7, alpha = static_cast<T>(1.702);
  const Guarded<T> out = OnEveryTarget<T>(Guarded<T>(width), [&](const Table<T>& table, T* to) {
    table.activate({Activation::kClampedSwiglu, x.data(), up.data(), to, width, limit, alpha});
  });
  for (int64_t i = 0; i < width; ++i) {
    const double gate = std::min<double>(x[i], limit), u = std::clamp<double>(up[i], -limit, limit);
    const double want = gate / (1 + std::exp(-static_cast<double>(alpha) * gate)) * (u + 1);
    EXPECT_NEAR(out[i], want, tolerance * (1 + std::fabs(want)));
  }
}

TEST(Rows, ClampedSwiglu_IsRightAndTheSameOnEveryTarget) {
  base::Random random(7);
  for (const int64_t width : kWidths) {
    CheckClampedSwiglu<float>(width, 1e-6, random);
    CheckClampedSwiglu<double>(width, 1e-14, random);
  }
}

TEST(Rows, ClampedSwiglu_KeepsNaN) {
  const float x[] = {NAN, 1, NAN, 2}, up[] = {1, NAN, NAN, 3};
  float out[4];
  TableFor<float>(Target::kScalar).activate({Activation::kClampedSwiglu, x, up, out, 4, 7, 1.702f});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(out[i])) << i;
  EXPECT_FALSE(std::isnan(out[3]));
}

TEST(Rows, AddScaleAndSoftCap_AreRightOnEveryTarget) {
  base::Random random(6);
  for (const int64_t width : kWidths) {
    Guarded<float> x(width), y(width);
    x.Fill(random);
    y.Fill(random);
    const auto sum =
        OnEveryTarget<float>(x, [&](const Table<float>& t, float* to) { t.add_scaled(to, y.data(), 0.5f, width); });
    const auto scaled = OnEveryTarget<float>(x, [&](const Table<float>& t, float* to) { t.scale(to, 3, width); });
    const auto capped = OnEveryTarget<float>(x, [&](const Table<float>& t, float* to) { t.soft_cap(to, 2, width); });
    for (int64_t i = 0; i < width; ++i) {
      EXPECT_EQ(sum[i], std::fma(y[i], 0.5f, x[i]));
      EXPECT_EQ(scaled[i], x[i] * 3);
      EXPECT_NEAR(capped[i], 2 * std::tanh(x[i] / 2.0), 1e-6);
    }
  }
}

}  // namespace
}  // namespace ekvi::kernels
