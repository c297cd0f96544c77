// Goal: products, scores and outputs are right for every shape and format, and bit-equal on every target.
// Method: odd shapes at odd addresses between NaN guards, against a float64 sum and against the scalar target with ==.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "kernels/kernels_testing.h"

namespace ekvi::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// B[k, n] in panels of 16 columns; what lies past n is NaN.
std::vector<double> Panels(int64_t k, int64_t n, base::Random& random) {
  const int64_t panels = (n + kLanes - 1) / kLanes;
  std::vector<double> values(static_cast<size_t>(panels * k * kLanes), kNan);
  for (int64_t kk = 0; kk < k; ++kk) {
    for (int64_t nn = 0; nn < n; ++nn) values[(nn / kLanes * k + kk) * kLanes + nn % kLanes] = random.Normal();
  }
  return values;
}

template <typename T>
struct Case {
  int64_t m, n, k;
  DType type;
  bool accumulate;
};

template <typename T>
void CheckProduct(const Case<T>& c, base::Random& random) {
  const Stored b(c.type, Panels(c.k, c.n, random));
  const int64_t a_stride = c.k + 3, c_stride = c.n + 2;
  Guarded<T> a(c.m * a_stride), start(c.m * c_stride);
  a.Fill(random);
  start.Fill(random);
  Guarded<T> reference(0);
  for (const Target target : TargetsHere()) {
    Guarded<T> out = start;
    TableFor<T>(target).product({a.data(), a_stride, b.data(), numeric::FormatOf(c.type),
                                 c.k * kLanes * static_cast<int64_t>(DTypeBytes(c.type, 1)), out.data(), c_stride, c.m,
                                 c.n, c.k, c.accumulate});
    ASSERT_TRUE(out.GuardsIntact());
    if (target == Target::kScalar) reference = out;
    ASSERT_TRUE(out.SameBits(reference)) << TargetName(target) << " m " << c.m << " n " << c.n << " k " << c.k;
  }
  for (int64_t m = 0; m < c.m; ++m) {
    for (int64_t n = 0; n < c_stride; ++n) {
      double want = n < c.n && !c.accumulate ? 0 : static_cast<double>(start[m * c_stride + n]);
      double size = std::fabs(want);
      for (int64_t k = 0; k < c.k && n < c.n; ++k) {
        const double term = a[m * a_stride + k] * b.at((n / kLanes * c.k + k) * kLanes + n % kLanes);
        want += term;
        size += std::fabs(term);
      }
      const double unit = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
      ASSERT_NEAR(reference[m * c_stride + n], want, unit * static_cast<double>(c.k + 1) * size) << m << " " << n;
    }
  }
}

TEST(Product, EveryShapeAndFormat_IsRightAndBitEqualOnEveryTarget) {
  base::Random random(1);
  for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17}) {
    for (const int64_t n : {1, 15, 16, 17, 48, 130, 161}) {
      for (const int64_t k : {1, 7, 32}) {
        const bool accumulate = (m + n + k) % 2 == 0;
        for (const DType type : {DType::kF32, DType::kF16, DType::kBF16})
          CheckProduct<float>({m, n, k, type, accumulate}, random);
        CheckProduct<double>({m, n, k, DType::kF64, accumulate}, random);
      }
    }
  }
}

TEST(Product, CutAnywhereInK_GivesTheSameBits) {
  base::Random random(2);
  constexpr int64_t kM = 5, kN = 40, kK = 100;
  const Stored b(DType::kF32, Panels(kK, kN, random));
  Guarded<float> a(kM * kK), whole(kM * kN), cut(kM * kN);
  a.Fill(random);
  constexpr int64_t kPanelBytes = kK * kLanes * 4;
  for (const Target target : TargetsHere()) {
    const Table<float>& table = TableFor<float>(target);
    table.product({a.data(), kK, b.data(), numeric::Format::kF32, kPanelBytes, whole.data(), kN, kM, kN, kK});
    for (const int64_t at : {1, 31, 64, 99}) {
      table.product({a.data(), kK, b.data(), numeric::Format::kF32, kPanelBytes, cut.data(), kN, kM, kN, at});
      table.product({a.data() + at, kK, b.data() + at * kLanes * 4, numeric::Format::kF32, kPanelBytes, cut.data(), kN,
                     kM, kN, kK - at, true});
      EXPECT_TRUE(cut.SameBits(whole)) << TargetName(target) << " cut at " << at;
    }
  }
}

template <typename T>
void CheckScores(DType type, int64_t m, int64_t d, int64_t tiles, base::Random& random) {
  std::vector<double> values(static_cast<size_t>(tiles * d * kLanes));
  for (double& x : values) x = random.Normal();
  const Stored k(type, values);
  std::vector<const std::byte*> addresses;
  for (int64_t t = tiles - 1; t >= 0; --t)
    addresses.push_back(k.data() + t * d * kLanes * static_cast<int64_t>(DTypeBytes(type, 1)));
  Guarded<T> q(m * d), reference(0);
  q.Fill(random);
  for (const Target target : TargetsHere()) {
    Guarded<T> scores(m * tiles * kLanes);
    TableFor<T>(target).scores({q.data(), d, addresses.data(), type, scores.data(), tiles * kLanes, m, d, tiles});
    ASSERT_TRUE(scores.GuardsIntact());
    if (target == Target::kScalar) reference = scores;
    ASSERT_TRUE(scores.SameBits(reference)) << TargetName(target) << " m " << m << " d " << d << " tiles " << tiles;
  }
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t key = 0; key < tiles * kLanes; ++key) {
      double want = 0;
      for (int64_t i = 0; i < d; ++i)
        want += q[row * d + i] * k.at(((tiles - 1 - key / kLanes) * d + i) * kLanes + key % kLanes);
      ASSERT_NEAR(reference[row * tiles * kLanes + key], want, 1e-5 * static_cast<double>(d));
    }
  }
}

TEST(Scores, TilesAnywhere_AreRightAndBitEqualOnEveryTarget) {
  base::Random random(4);
  for (const int64_t m : {1, 2, 4, 7, 8, 9, 12}) {
    for (const int64_t d : {1, 2, 20, 33}) {
      for (const int64_t tiles : {1, 2, 3, 16}) {
        for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) CheckScores<float>(type, m, d, tiles, random);
        CheckScores<double>(DType::kF64, m, d, tiles, random);
      }
    }
  }
}

template <typename T>
void CheckOutputs(DType type, int64_t m, int64_t d, int64_t begin, int64_t end, base::Random& random) {
  const int64_t tiles = (end + kLanes - 1) / kLanes;
  std::vector<double> values(static_cast<size_t>(tiles * d * kLanes), kNan);
  for (int64_t key = begin; key < end; ++key) {
    for (int64_t i = 0; i < d; ++i) values[key * d + i] = random.Normal();
  }
  const Stored v(type, values);
  std::vector<const std::byte*> addresses;
  for (int64_t t = 0; t < tiles; ++t)
    addresses.push_back(v.data() + t * d * kLanes * static_cast<int64_t>(DTypeBytes(type, 1)));
  Guarded<T> p(m * tiles * kLanes), start(m * d), reference(0);
  p.Fill(random);
  start.Fill(random);
  const bool fresh = (m + d) % 2 == 0;
  for (const Target target : TargetsHere()) {
    Guarded<T> out = start;
    TableFor<T>(target).outputs(
        {p.data(), tiles * kLanes, addresses.data(), type, out.data(), d, m, d, begin, end, fresh});
    ASSERT_TRUE(out.GuardsIntact());
    if (target == Target::kScalar) reference = out;
    ASSERT_TRUE(out.SameBits(reference)) << TargetName(target) << " m " << m << " d " << d << " keys " << begin << ".."
                                         << end;
  }
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t i = 0; i < d; ++i) {
      double want = fresh ? 0 : static_cast<double>(start[row * d + i]);
      for (int64_t key = begin; key < end; ++key) want += p[row * tiles * kLanes + key] * v.at(key * d + i);
      ASSERT_NEAR(reference[row * d + i], want, 1e-4);
    }
  }
}

TEST(Outputs, AnyStretchOfKeys_IsRightAndBitEqualOnEveryTarget) {
  constexpr std::pair<int64_t, int64_t> kStretches[] = {{0, 1}, {0, 16}, {3, 16}, {5, 40}, {16, 17}, {31, 64}};
  base::Random random(5);
  for (const int64_t m : {1, 2, 3, 8, 9}) {
    for (const int64_t d : {1, 15, 16, 17, 33, 64}) {
      for (const auto& [begin, end] : kStretches) {
        CheckOutputs<float>(DType::kF32, m, d, begin, end, random);
        CheckOutputs<float>(DType::kF16, m, d, begin, end, random);
        CheckOutputs<float>(DType::kBF16, m, d, begin, end, random);
        CheckOutputs<double>(DType::kF64, m, d, begin, end, random);
      }
    }
  }
}

void CheckPackKeys(DType type, int64_t d, int64_t tokens, base::Random& random) {
  std::vector<double> values(static_cast<size_t>(tokens * d));
  for (double& x : values) x = random.Normal();
  const Stored k(type, values);
  for (const Target target : TargetsHere()) {
    Guarded<float> out(d * kLanes);
    TableFor<float>(target).pack_keys({k.data(), type, d, tokens, out.data()});
    ASSERT_TRUE(out.GuardsIntact());
    for (int64_t i = 0; i < d * kLanes; ++i) {
      const int64_t t = i % kLanes;
      ASSERT_EQ(out[i], t < tokens ? k.at(t * d + i / kLanes) : 0.0);
    }
  }
}

TEST(PackKeys, TokenMajorKeys_BecomeTilesAndMissingTokensZero) {
  base::Random random(6);
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const int64_t d : {1, 15, 16, 17, 40}) {
      for (const int64_t tokens : {1, 7, 16}) CheckPackKeys(type, d, tokens, random);
    }
  }
}

}  // namespace
}  // namespace ekvi::kernels
