// The int8 product of weights in blocks (blocks.h says what it computes): a tile of kRows × kPanels keeps its dot
// products and sums in registers through all of k; codes are taken from their panels once per tile and step.
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
    const int32_t sum = R::kSubs == 1 ? x[r]->int_sum : x[r]->int_half_sums[kSub];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots[r][p] = I32(R::kShape.offset == 0 ? 0 : -R::kShape.offset * sum);
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

// kRows rows by kPanels panels through all of k; `tail` columns of the last panel exist.
template <typename R, int kRows, int kPanels>
void Int8Tile(const BlockProduct<Int8Block>& product, int64_t row, int64_t panel, int tail) {
  F32 sum[kRows][kPanels];
  float* const c = product.c + row * product.c_stride + panel * kLanes;
  const Int8Block* x[kRows];
  const std::byte *block[kPanels], *step[kPanels];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    x[r] = product.a + (row + r) * product.a_stride;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const float* from = c + r * product.c_stride + p * kLanes;
      const bool whole = p < kPanels - 1 || tail == kLanes;
      sum[r][p] = !product.accumulate ? F32(0.0f) : whole ? Load<F32>(from) : LoadPartial<F32>(from, tail);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) block[p] = product.b + (panel + p) * product.panel_bytes;
  for (int64_t blocks = product.k / R::kShape.values; blocks > 0; --blocks) {
    typename R::Head head[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      head[p] = R::ReadHead(block[p]);
      step[p] = block[p] + R::kPanel.head_bytes;
      block[p] += R::kBlockBytes;
    }
#pragma GCC unroll 1
    for (int s = 0; s < R::kPanel.steps; ++s) {
      DotStep<R, kRows, kPanels>(sum, head, step, x);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) step[p] += R::kPanel.step_bytes;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) ++x[r];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      float* to = c + r * product.c_stride + p * kLanes;
      if (p == kPanels - 1 && tail != kLanes)
        StorePartial(sum[r][p], to, tail);
      else
        Store(sum[r][p], to);
    }
  }
}

// All rows of a strip: tiles of 6, then of 4, 2, 1.
template <typename R, int kRows, int kPanels>
void Int8Rows(const BlockProduct<Int8Block>& product, int64_t row, int64_t panel, int tail) {
  for (; product.m - row >= kRows; row += kRows) Int8Tile<R, kRows, kPanels>(product, row, panel, tail);
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

template <Format kFormat>
void Int8ProductAs(const BlockProduct<Int8Block>& product) {
  using R = BlockReader<kFormat>;
  if (product.m <= 0 || product.n <= 0) return;
  if (product.m == 1) return Int8Strips<R, 1, kInt8PanelsOfOne>(product, 0);
  Int8Strips<R, kInt8Rows, kInt8Panels>(product, 0);
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
  out->int_half_sums[0] = static_cast<int32_t>(out->half_sums[0]);
  out->int_half_sums[1] = static_cast<int32_t>(out->half_sums[1]);
  out->int_sum = out->int_half_sums[0] + out->int_half_sums[1];
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
  for (int i = 0; i < kChains; ++i) sum[i] = I32(i);
  for (int64_t r = 0; r < rounds; ++r) {
    asm volatile("" : : "r"(quads) : "memory");  // else one round's products serve all rounds
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sum[i] = Dot<7>(sum[i], codes, quads[i]);
  }
  float all = 0;
  for (int i = 0; i < kChains; ++i) all += ReduceAdd(ToF32(sum[i]));
  *sink = static_cast<int32_t>(all);
  return rounds * kChains * kLanes * 4 * 2;
}
