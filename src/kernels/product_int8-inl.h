// The int8 product of weights in blocks (blocks.h says what it computes): a tile of kRows × kPanels keeps its dot
// products and sums in registers through all of k; codes are taken from their panels once per tile and step, or where
// there are many rows, once for all of them.
//
// Included inside the namespace of a target, after block-inl.h. Before it, the target defines Dot<kBits>(sum,
// codes, quad): sum[n] += Σ codes[n][j] × quad[j] over four bytes j, codes below 2^kBits.

// Dot products of quads kQuad … kEnd - 1 of a step, all rows and panels of a tile.
template <typename R, int kRows, int kPanels, int kQuad, int kEnd>
EKVI_INLINE void DotQuads(I32 (&dots)[kRows][kPanels], const std::byte* const (&step)[kPanels],
                          const Int8Block* const (&x)[kRows]) {
  Codes codes[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) codes[p] = R::template Quad<kQuad>(step[p]);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[r][p] = Dot<R::kBits>(dots[r][p], codes[p], x[r]->q + 4 * kQuad);
  }
  if constexpr (kQuad + 1 < kEnd) DotQuads<R, kRows, kPanels, kQuad + 1, kEnd>(dots, step, x);
}

// What scale kSub of a step gives: t = float(dots) × scale, or t + float(dots) × scale.
template <typename R, int kRows, int kPanels, int kSub>
EKVI_INLINE void DotSub(F32 (&t)[kRows][kPanels], const typename R::Scales (&scales)[kPanels],
                        const std::byte* const (&step)[kPanels], const Int8Block* const (&x)[kRows]) {
  I32 dots[kRows][kPanels];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const int32_t sum = R::kSubs == 1 ? x[r]->minus_sum : x[r]->minus_half_sums[kSub];
    const I32 start = R::kOffset == 0 ? I32(0) : Times<R::kOffset>(sum);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[r][p] = start;
  }
  DotQuads<R, kRows, kPanels, kSub * 8 / R::kSubs, (kSub + 1) * 8 / R::kSubs>(dots, step, x);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const F32 whole = ToF32(dots[r][p]);
      t[r][p] = kSub == 0 ? whole * scales[p].scale[kSub] : Fma(whole, scales[p].scale[kSub], t[r][p]);
    }
  }
}

template <typename R, int kRows, int kPanels>
EKVI_INLINE void DotStep(F32 (&sum)[kRows][kPanels], const typename R::Head (&head)[kPanels],
                         const std::byte* const (&step)[kPanels], const Int8Block* const (&x)[kRows]) {
  typename R::Scales scales[kPanels];
  F32 t[kRows][kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) scales[p] = R::ReadScales(head[p], step[p]);
  DotSub<R, kRows, kPanels, 0>(t, scales, step, x);
  if constexpr (R::kSubs == 2) DotSub<R, kRows, kPanels, 1>(t, scales, step, x);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      if constexpr (R::kHasMin) {
        for (int sub = 0; sub < R::kSubs; ++sub) {
          t[r][p] = Fma(scales[p].term[sub], F32(R::kSubs == 1 ? x[r]->sum : x[r]->half_sums[sub]), t[r][p]);
        }
      }
      sum[r][p] = Fma(t[r][p], F32(x[r]->scale), sum[r][p]);
    }
  }
}

// Weights that will be read later: into the second cache while memory answers, and into the first shortly before, since
// the hardware's own fetching stays behind (docs/decisions/0013-memory-in-one-piece.md). A panel's end is followed by
// the next panel's beginning.
template <int kStepBytes, int kPanels>
EKVI_INLINE void FetchAhead(const std::byte* const (&step)[kPanels]) {
  constexpr int kFar = 8192, kNear = 1024;
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 16
    for (int line = 0; line < kStepBytes; line += 64) {
      __builtin_prefetch(step[p] + kFar + line, 0, 2);
      __builtin_prefetch(step[p] + kNear + line, 0, 3);
    }
  }
}

// kRows rows by kPanels panels, `apart` from one to the next, through all of k; `tail` columns of the last panel exist.
template <typename R, int kRows, int kPanels>
void Int8Tile(const BlockProduct<Int8Block>& product, int64_t row, int64_t panel, int tail, int64_t apart = 1) {
  F32 sum[kRows][kPanels];
  float* const c = product.c + row * product.c_stride + panel * kLanes;
  const Int8Block* x[kRows];
  const std::byte *block[kPanels], *step[kPanels];
  const bool fetch = kRows > 1 && row == 0;  // later rows find them in a cache, a single one leaves it to the hardware
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    x[r] = product.a + (row + r) * product.a_stride;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const float* from = c + r * product.c_stride + p * apart * kLanes;
      const bool whole = p < kPanels - 1 || tail == kLanes;
      sum[r][p] = !product.accumulate ? F32(0.0f) : whole ? Load<F32>(from) : LoadPartial<F32>(from, tail);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) block[p] = product.b + (panel + p * apart) * product.panel_bytes;
  for (int64_t blocks = product.k / R::kBlockInputs; blocks > 0; --blocks) {
    typename R::Head head[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      head[p] = R::ReadHead(block[p]);
      step[p] = block[p] + R::kHeadBytes;
      block[p] += R::kBlockBytes;
    }
#pragma GCC unroll 1
    for (int s = 0; s < R::kSteps; ++s) {
      if (fetch) FetchAhead<R::kStepBytes, kPanels>(step);
      DotStep<R, kRows, kPanels>(sum, head, step, x);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) step[p] += R::kStepBytes;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) ++x[r];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      float* to = c + r * product.c_stride + p * apart * kLanes;
      if (p == kPanels - 1 && tail != kLanes)
        StorePartial(sum[r][p], to, tail);
      else
        Store(sum[r][p], to);
    }
  }
}

// All rows of a strip: tiles of kRows, then of 4, 2, 1. Two tiles of 4 rather than one of 6 and one of 2, which would
// take as many codes apart for half as many products.
template <typename R, int kRows, int kPanels>
void Int8Rows(const BlockProduct<Int8Block>& product, int64_t row, int64_t panel, int tail) {
  const auto fits = [&](int64_t left) { return left >= kRows && !(kRows == 6 && left == 8); };
  for (; fits(product.m - row); row += kRows) Int8Tile<R, kRows, kPanels>(product, row, panel, tail);
  if constexpr (kRows > 1) {
    if (row < product.m) Int8Rows<R, (kRows > 4 ? 4 : kRows / 2), kPanels>(product, row, panel, tail);
  }
}

template <typename R, int kRows, int kPanels>
void Int8Strips(const BlockProduct<Int8Block>& product, int64_t panel) {
  const int64_t panels = (product.n + kLanes - 1) / kLanes;
  const int last = static_cast<int>(product.n - (panels - 1) * kLanes);
  for (; panels - panel >= kPanels; panel += kPanels) {
    Int8Rows<R, kRows, kPanels>(product, 0, panel, panel + kPanels == panels ? last : kLanes);
  }
  if constexpr (kPanels > 1) {
    if (panel < panels) Int8Strips<R, kRows, kPanels / 2>(product, panel);
  }
}

// One row: as many streams of memory as panels at a time, each through its part of the matrix.
template <typename R, int kPanels>
void Int8OneRow(const BlockProduct<Int8Block>& product) {
  const int64_t part = product.n / kLanes / kPanels;
  for (int64_t panel = 0; panel < part; ++panel) Int8Tile<R, 1, kPanels>(product, 0, panel, kLanes, part);
  Int8Strips<R, 1, kPanels>(product, part * kPanels);
}

// Steps taken out of their panels, for many rows: codes as they are multiplied, scales and terms in float32, read like
// a panel. Formats that differ in nothing else share it.
template <bool kMin, int kZero>
struct ExpandedReader {
  static constexpr int kBits = 7, kSubs = 2, kOffset = kZero;
  static constexpr bool kHasMin = kMin;
  static constexpr int kVectorBytes = 64;
  static constexpr int kSteps = 1, kBlockInputs = kStepInputs, kHeadBytes = 0;
  static constexpr int kStepBytes = kVectorBytes * (8 + kSubs * (kHasMin ? 2 : 1));
  static constexpr int64_t kBlockBytes = kStepBytes;

  struct Head {};
  struct Scales {
    F32 scale[kSubs], term[kSubs];
  };

  EKVI_INLINE static Head ReadHead(const std::byte*) { return {}; }
  EKVI_INLINE static F32 FloatsAt(const std::byte* step, int vector) {
    return Load<F32>(reinterpret_cast<const float*>(step + kVectorBytes * vector));
  }
  EKVI_INLINE static Scales ReadScales(const Head&, const std::byte* step) {
    Scales scales;
    for (int sub = 0; sub < kSubs; ++sub) {
      scales.scale[sub] = FloatsAt(step, 8 + sub);
      if constexpr (kHasMin) scales.term[sub] = FloatsAt(step, 8 + kSubs + sub);
    }
    return scales;
  }
  template <int kQuad>
  EKVI_INLINE static Codes Quad(const std::byte* step) {
    return LoadCodes(step + kVectorBytes * kQuad);
  }
};
template <typename R>
using ExpandedOf = ExpandedReader<R::kHasMin, R::kOffset>;

template <typename R, int kQuad = 0>
EKVI_INLINE void ExpandQuads(const std::byte* step, std::byte* out) {
  StoreCodes(R::template Quad<kQuad>(step), out + 64 * kQuad);
  if constexpr (kQuad < 7) ExpandQuads<R, kQuad + 1>(step, out);
}

template <typename R>
void ExpandSteps(const std::byte* panel, int64_t first_step, int64_t steps, std::byte* out) {
  using E = ExpandedOf<R>;
  for (int64_t s = first_step; s < first_step + steps; ++s, out += E::kStepBytes) {
    const std::byte* const block = panel + s / R::kSteps * R::kBlockBytes;
    const std::byte* const step = block + R::kHeadBytes + s % R::kSteps * R::kStepBytes;
    const typename R::Scales scales = R::ReadScales(R::ReadHead(block), step);
    ExpandQuads<R>(step, out);
    auto* const floats = reinterpret_cast<float*>(out + 64 * 8);
    for (int sub = 0; sub < R::kSubs; ++sub) {
      Store(scales.scale[sub], floats + kLanes * sub);
      if constexpr (R::kHasMin) Store(scales.term[sub], floats + kLanes * (R::kSubs + sub));
    }
  }
}

// A strip of panels and a stretch of k at a time, in a buffer of the nearest cache (at most 24 KiB). For formats with
// two scales a step: their tiles hold fewer rows, since the scales' common sum takes registers too, so that taking
// codes apart in each tile would cost as much as multiplying them (Q6_K: 2.05 times the peak of multiply-adds then, 2.4
// so).
template <typename R>
void Int8ManyRows(const BlockProduct<Int8Block>& product) {
  using E = ExpandedOf<R>;
  constexpr int64_t kStretch = 16;  // steps
  alignas(64) std::byte expanded[kInt8Panels * kStretch * E::kStepBytes];
  const int64_t steps = product.k / kStepInputs;
  for (int64_t column = 0; column < product.n; column += kInt8Panels * kLanes) {
    const int64_t left = product.n - column;
    BlockProduct<Int8Block> part = product;
    part.b = expanded;
    part.c += column;
    part.n = left < kInt8Panels * kLanes ? left : kInt8Panels * kLanes;
    for (int64_t step = 0; step < steps; step += kStretch) {
      const int64_t count = steps - step < kStretch ? steps - step : kStretch;
      part.panel_bytes = count * E::kStepBytes;
      for (int64_t p = 0; p * kLanes < part.n; ++p) {
        ExpandSteps<R>(product.b + (column / kLanes + p) * product.panel_bytes, step, count,
                       expanded + p * part.panel_bytes);
      }
      part.a = product.a + step;
      part.k = count * kStepInputs;
      part.accumulate = product.accumulate || step > 0;
      Int8Strips<E, kInt8RowsOfHalves, kInt8Panels>(part, 0);
    }
  }
}

template <Format kFormat>
void Int8ProductAs(const BlockProduct<Int8Block>& product) {
  using R = BlockReader<kFormat>;
  if (product.m <= 0 || product.n <= 0) return;
  // Two scales a step make longer chains, of which more must be under way.
  if (product.m == 1) return Int8OneRow<R, (R::kSubs == 2 ? kInt8PanelsOfOne : 1)>(product);
  constexpr int kFew = R::kSubs == 1 && !R::kInPlanes ? kInt8FewRows : kInt8FewRowsOfParts;
  if (product.m >= kFew && product.m < kInt8ManyRows) return Int8Strips<R, kFew, 1>(product, 0);
  if constexpr (R::kSubs == 1) {
    Int8Strips<R, (R::kInPlanes ? kInt8RowsOfPlanes : kInt8Rows), kInt8Panels>(product, 0);
  } else {
    if (product.m < kInt8ManyRows) return Int8Strips<R, kInt8RowsOfHalves, kInt8Panels>(product, 0);
    Int8ManyRows<R>(product);
  }
}

inline void Int8ProductOf(const BlockProduct<Int8Block>& product) noexcept {
  WithFormat(product.format, [&]<Format kFormat>() { Int8ProductAs<kFormat>(product); });
}

// One block of a row. Below kLeastMax 127 / max would overflow.
EKVI_INLINE void RoundBlock(const float* x, Int8Block* out) {
  constexpr float kLeastMax = 0x1p-119f, kInfinity = std::numeric_limits<float>::infinity();
  const F32 lo = Load<F32>(x), hi = Load<F32>(x + kLanes), infinity(kInfinity);
  const auto magnitude = [&](F32 v) { return Select(IsNan(v), infinity, Abs(v)); };
  const float max = ReduceMax(Max(magnitude(lo), magnitude(hi)));
  const bool finite = max < kInfinity, live = finite && max >= kLeastMax;
  out->scale = live ? max / 127 : finite ? 0 : std::numeric_limits<float>::quiet_NaN();
  const F32 inverse(live ? 127 / max : 0);
  const F32 zero(0.0f);
  const F32 q_lo = live ? Round(lo * inverse) : zero, q_hi = live ? Round(hi * inverse) : zero;
  StoreI8(q_lo, out->q);
  StoreI8(q_hi, out->q + kLanes);
  out->half_sums[0] = ReduceAdd(q_lo) + 0.0f;  // + 0: a sum of -0 is 0
  out->half_sums[1] = ReduceAdd(q_hi) + 0.0f;
  out->sum = out->half_sums[0] + out->half_sums[1];
  out->minus_half_sums[0] = -static_cast<int32_t>(out->half_sums[0]);
  out->minus_half_sums[1] = -static_cast<int32_t>(out->half_sums[1]);
  out->minus_sum = out->minus_half_sums[0] + out->minus_half_sums[1];
  out->unused = 0;
}

inline void RoundRowsOf(const RoundRows& rows) noexcept {
  for (int64_t row = 0; row < rows.rows; ++row) {
    const float* x = rows.x + row * rows.x_stride;
    Int8Block* out = rows.out + row * rows.out_stride;
    for (int64_t k = 0; k < rows.k; k += kStepInputs) RoundBlock(x + k, out++);
  }
}

inline int64_t DotPeakOf(int64_t rounds, int32_t* sink) noexcept {
  constexpr int kChains = kAccumulators;
  alignas(64) std::byte bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::byte>(i);
  const Codes codes = LoadCodes(bytes);
  int8_t quads[kChains][4];
  for (int i = 0; i < kChains; ++i) {
    for (int j = 0; j < 4; ++j) quads[i][j] = static_cast<int8_t>(i - 3 * j);
  }
  I32 sum[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) sum[i] = I32(i);
  for (int64_t r = 0; r < rounds; ++r) {
    asm volatile("" : : "r"(quads) : "memory");  // else one round's products serve all rounds
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sum[i] = Dot<7>(sum[i], codes, quads[i]);
  }
  float all = 0;
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) all += ReduceAdd(ToF32(sum[i]));
  *sink = all > 0;
  return rounds * kChains * kLanes * 4 * 2;
}
