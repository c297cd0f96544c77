// The one product of ekvi: C += A · B where each element of C is a chain of fused multiply-adds over k, in order.
//
// Weights, scores and outputs differ only in where B lies, which a small accessor tells. A register tile of kRows ×
// kVectors chains runs through a stretch of k that lies in one piece ("run"); how rows and columns are cut into tiles
// changes no bit, since every element has its own chain.
//
// Included inside the namespace of a target, after its vec_*.h.

// B in panels of 16 columns, rows of a panel side by side: weights and interleaved keys.
template <typename V, typename E>
struct DensePanels {
  const std::byte* first;
  int64_t panel_bytes;
  static constexpr int64_t kRowBytes = kLanes * E::kBytes;

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
    const std::byte* row;
    int64_t panel_bytes;
    EKVI_INLINE Run(const DensePanels& b, int64_t panel, int64_t k)
        : row(b.first + panel * b.panel_bytes + k * kRowBytes), panel_bytes(b.panel_bytes) {}
    EKVI_INLINE V Get(int vector, int) const { return Widen<V, E>(row + vector * panel_bytes); }
    EKVI_INLINE void Next() { row += kRowBytes; }
  };
};

// Interleaved key tiles, each somewhere else: panel = tile.
template <typename V, typename E>
struct TilePanels {
  const std::byte* const* tiles;
  static constexpr int64_t kRowBytes = kLanes * E::kBytes;

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
    const std::byte* row[kVectors];
    EKVI_INLINE Run(const TilePanels& b, int64_t panel, int64_t k) {
      for (int v = 0; v < kVectors; ++v) row[v] = b.tiles[panel + v] + k * kRowBytes;
    }
    EKVI_INLINE V Get(int vector, int) const { return Widen<V, E>(row[vector]); }
    EKVI_INLINE void Next() {
      for (int v = 0; v < kVectors; ++v) row[v] += kRowBytes;
    }
  };
};

// Values: rows of d columns, 16 rows (keys) a tile, each tile somewhere else. A run ends with its tile. Without kWhole,
// d is no multiple of 16 and the last vector of a row is read in part: what lies behind a row may not exist.
template <typename V, typename E, bool kWhole>
struct ValueTiles {
  const std::byte* const* tiles;
  int64_t row_bytes;

  EKVI_INLINE int64_t RunEnd(int64_t k, int64_t k_end) const {
    const int64_t tile_end = (k / kLanes + 1) * kLanes;
    return tile_end < k_end ? tile_end : k_end;
  }
  template <int kVectors>
  struct Run {
    const std::byte* row;
    int64_t row_bytes;
    EKVI_INLINE Run(const ValueTiles& b, int64_t panel, int64_t k)
        : row(b.tiles[k / kLanes] + (k % kLanes) * b.row_bytes + panel * kLanes * E::kBytes), row_bytes(b.row_bytes) {}
    EKVI_INLINE V Get(int vector, int columns) const {
      const std::byte* at = row + vector * kLanes * E::kBytes;
      return kWhole || columns == kLanes ? Widen<V, E>(at) : WidenPartial<V, E>(at, columns);
    }
    EKVI_INLINE void Next() { row += row_bytes; }
  };
};

// Q8_0 panels: blocks of 32 rows, 16 f16 scales and int8 [32][16]. A weight is scale × int8. A run ends with its block.
template <typename V>
struct Q8Panels {
  const std::byte* first;
  int64_t panel_bytes;
  static constexpr int64_t kBlockRows = 32;
  static constexpr int64_t kScaleBytes = kLanes * 2;
  static constexpr int64_t kBlockBytes = kScaleBytes + kBlockRows * kLanes;

  EKVI_INLINE int64_t RunEnd(int64_t k, int64_t k_end) const {
    const int64_t block_end = (k / kBlockRows + 1) * kBlockRows;
    return block_end < k_end ? block_end : k_end;
  }
  template <int kVectors>
  struct Run {
    V scale[kVectors];
    const std::byte* row;
    int64_t panel_bytes;
    EKVI_INLINE Run(const Q8Panels& b, int64_t panel, int64_t k) : panel_bytes(b.panel_bytes) {
      const std::byte* block = b.first + panel * b.panel_bytes + (k / kBlockRows) * kBlockBytes;
      for (int v = 0; v < kVectors; ++v) scale[v] = Widen<V, ElementF16>(block + v * panel_bytes);
      row = block + kScaleBytes + (k % kBlockRows) * kLanes;
    }
    EKVI_INLINE V Get(int vector, int) const { return scale[vector] * Widen<V, ElementI8>(row + vector * panel_bytes); }
    EKVI_INLINE void Next() { row += kLanes; }
  };
};

// What a register tile needs beside B: rows of A and C, the stretch of k, and how wide C is.
template <typename T>
struct ChainSpan {
  const T* a;
  int64_t a_stride;
  T* c;
  int64_t c_stride;
  int64_t m, n;        // of C
  int64_t begin, end;  // of k
  bool fresh;          // chains start from zero, not from C
};

template <typename V, int kRows, int kVectors, typename B>
void ChainTile(const ChainSpan<typename V::Lane>& span, const B& b, int64_t row, int64_t panel, int tail) {
  using T = typename V::Lane;
  T* const c = span.c + row * span.c_stride + panel * kLanes;
  const T* a[kRows];
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    a[r] = span.a + (row + r) * span.a_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const T* from = c + r * span.c_stride + v * kLanes;
      const int columns = v == kVectors - 1 ? tail : kLanes;
      sum[r][v] = span.fresh ? V(T(0)) : columns == kLanes ? Load<V>(from) : LoadPartial<V>(from, columns);
    }
  }
  for (int64_t k = span.begin; k < span.end;) {
    const int64_t run_end = b.RunEnd(k, span.end);
    typename B::template Run<kVectors> run(b, panel, k);
    for (; k < run_end; ++k, run.Next()) {
      V right[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) right[v] = run.Get(v, v == kVectors - 1 ? tail : kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const V left(a[r][k]);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sum[r][v] = Fma(left, right[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + r * span.c_stride + v * kLanes;
      if (v == kVectors - 1 && tail != kLanes)
        StorePartial(sum[r][v], to, tail);
      else
        Store(sum[r][v], to);
    }
  }
}

// All rows of a strip of kVectors panels: tiles of kRowsMax rows, then the rest in one tile.
template <typename V, int kRows, int kVectors, typename B>
void ChainRows(const ChainSpan<typename V::Lane>& span, const B& b, int64_t row, int64_t panel, int tail) {
  if constexpr (kRows > 0) {
    if (span.m - row >= kRows) {
      for (; span.m - row >= kRows; row += kRows) ChainTile<V, kRows, kVectors>(span, b, row, panel, tail);
    }
    ChainRows<V, kRows - 1, kVectors>(span, b, row, panel, tail);
  }
}

template <typename V, int kRows, int kVectors, typename B>
void ChainStrips(const ChainSpan<typename V::Lane>& span, const B& b, int64_t panel) {
  const int64_t panels = (span.n + kLanes - 1) / kLanes;
  const int last = static_cast<int>(span.n - (panels - 1) * kLanes);
  for (; panels - panel >= kVectors; panel += kVectors) {
    const int tail = panel + kVectors == panels ? last : kLanes;
    ChainRows<V, kRows, kVectors>(span, b, 0, panel, tail);
  }
  if constexpr (kVectors > 1) {
    if (panel < panels) ChainStrips<V, kRows, kVectors / 2>(span, b, panel);
  }
}

// Few rows take more vectors each, so that there are always enough chains to hide the latency of a multiply-add.
template <typename V, typename B>
void Chain(const ChainSpan<typename V::Lane>& span, const B& b) {
  constexpr int kWide = kAccumulators >= 16 ? 8 : 4;
  if (span.m <= 0 || span.n <= 0) return;
  if (span.m == 1) return ChainStrips<V, 1, kWide>(span, b, 0);
  if (span.m == 2) return ChainStrips < V, 2, kAccumulators / 2 >= 8 ? 8 : 2 > (span, b, 0);
  if (span.m <= 4) return ChainStrips < V, 4, kAccumulators / 4 >= 4 ? 4 : 1 > (span, b, 0);
  ChainStrips<V, kRowsMax, kAccumulators / kRowsMax >= 2 ? 2 : 1>(span, b, 0);
}

template <typename T>
void ProductOf(const Product<T>& p) noexcept {
  using V = VecOf<T>;
  const ChainSpan<T> span{p.a, p.a_stride, p.c, p.c_stride, p.m, p.n, 0, p.k, !p.accumulate};
  if constexpr (sizeof(T) == 8) {
    Chain<V>(span, DensePanels<V, ElementF64>{p.b, p.panel_bytes});
  } else {
    switch (p.b_type) {
      case DType::kF16:
        return Chain<V>(span, DensePanels<V, ElementF16>{p.b, p.panel_bytes});
      case DType::kBF16:
        return Chain<V>(span, DensePanels<V, ElementBF16>{p.b, p.panel_bytes});
      case DType::kQ8_0:
        return Chain<V>(span, Q8Panels<V>{p.b, p.panel_bytes});
      default:
        return Chain<V>(span, DensePanels<V, ElementF32>{p.b, p.panel_bytes});
    }
  }
}

template <typename T>
void ScoresOf(const Scores<T>& s) noexcept {
  using V = VecOf<T>;
  const ChainSpan<T> span{s.q, s.q_stride, s.scores, s.scores_stride, s.m, s.tile_count * kLanes, 0, s.d, true};
  if constexpr (sizeof(T) == 8) {
    Chain<V>(span, TilePanels<V, ElementF64>{s.tiles});
  } else {
    switch (s.k_type) {
      case DType::kF16:
        return Chain<V>(span, TilePanels<V, ElementF16>{s.tiles});
      case DType::kBF16:
        return Chain<V>(span, TilePanels<V, ElementBF16>{s.tiles});
      default:
        return Chain<V>(span, TilePanels<V, ElementF32>{s.tiles});
    }
  }
}

template <typename V, typename E>
void OutputsAs(const ChainSpan<typename V::Lane>& span, const Outputs<typename V::Lane>& o) {
  const int64_t row_bytes = o.d * E::kBytes;
  if (o.d % kLanes == 0) return Chain<V>(span, ValueTiles<V, E, true>{o.tiles, row_bytes});
  Chain<V>(span, ValueTiles<V, E, false>{o.tiles, row_bytes});
}

template <typename T>
void OutputsOf(const Outputs<T>& o) noexcept {
  using V = VecOf<T>;
  const ChainSpan<T> span{o.p, o.p_stride, o.out, o.out_stride, o.m, o.d, o.begin, o.end, o.fresh};
  if constexpr (sizeof(T) == 8) {
    OutputsAs<V, ElementF64>(span, o);
  } else {
    switch (o.v_type) {
      case DType::kF16:
        return OutputsAs<V, ElementF16>(span, o);
      case DType::kBF16:
        return OutputsAs<V, ElementBF16>(span, o);
      default:
        return OutputsAs<V, ElementF32>(span, o);
    }
  }
}

template <typename T>
int64_t FmaPeakOf(int64_t rounds, T* sink) noexcept {
  using V = VecOf<T>;
  constexpr int kChains = kAccumulators;
  V sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = V(static_cast<T>(i));
  const V factor(T(0.999)), term(T(0.001));
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sum[i] = Fma(sum[i], factor, term);
  }
  V all = sum[0];
  for (int i = 1; i < kChains; ++i) all = all + sum[i];
  *sink = ReduceAdd(all);
  return rounds * kChains * kLanes * 2;
}
