// The one product of ekvi: C += A · B where each element of C is a chain of fused multiply-adds over k, in order.
//
// Weights, scores and outputs differ only in where B lies, which a small accessor tells. A register tile of kRows ×
// kVectors chains runs through a stretch of k that lies in one piece ("run"); how rows and columns are cut into tiles
// changes no bit, since every element has its own chain.
//
// Included inside the namespace of a target, after its vec_*.h.

// Brings the line at `address` into the second cache.
EKVI_INLINE void FetchLine(const std::byte* address) { __builtin_prefetch(address, 0, 2); }

// How far ahead weights are fetched: what is read while memory answers. A single row does so little with them that the
// hardware keeps ahead by itself, and better.
inline constexpr int64_t kFetchBytes = 4096;

// B in panels of 16 columns, rows of a panel side by side: weights and interleaved keys.
template <typename V, typename E>
struct DensePanels {
  const std::byte* first;
  int64_t panel_bytes;
  static constexpr int64_t kRowBytes = kLanes * E::kBytes;
  static constexpr bool kDecodes = E::kBytes != sizeof(typename V::Lane);

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
    static constexpr bool kDecodes = DensePanels::kDecodes;
    const std::byte* row;
    int64_t panel_bytes;
    EKVI_INLINE Run(const DensePanels& b, int64_t panel, int64_t k)
        : row(b.first + panel * b.panel_bytes + k * kRowBytes), panel_bytes(b.panel_bytes) {}
    EKVI_INLINE V Get(int vector, int) const { return Widen<V, E>(row + vector * panel_bytes); }
    EKVI_INLINE void Next() { row += kRowBytes; }
    // Weights come from memory when first read; a panel's end is followed by the next one's beginning.
    template <int kRows>
    requires(kRows > 1) EKVI_INLINE void FetchAhead() const {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) FetchLine(row + v * panel_bytes + kFetchBytes);
    }
  };
};

// A strip of B in the arithmetic's own type, decoded once for many rows: kVectors vectors a row, from row `begin` on.
template <typename V>
struct DecodedStrip {
  const typename V::Lane* first;
  int64_t begin;
  static constexpr bool kDecodes = false;

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
    static constexpr bool kDecodes = false;
    const typename V::Lane* row;
    EKVI_INLINE Run(const DecodedStrip& b, int64_t, int64_t k) : row(b.first + (k - b.begin) * kVectors * kLanes) {}
    EKVI_INLINE V Get(int vector, int) const { return Load<V>(row + vector * kLanes); }
    EKVI_INLINE void Next() { row += kVectors * kLanes; }
  };
};

// Tiles that will be read next, fetched little by little while others are multiplied: memory is slower than a burst.
struct FetchList {
  const std::byte* const* tiles;
  int64_t tile_bytes, tile_count;
  int64_t lines_per_step;
  int64_t tile = 0, byte = 0;

  EKVI_INLINE void Step() {
    for (int64_t i = 0; i < lines_per_step && tile < tile_count; ++i) {
      FetchLine(tiles[tile] + byte);
      byte += 64;
      if (byte >= tile_bytes) byte = 0, ++tile;
    }
  }
};

// What a register tile needs beside B: rows of A and C, the stretch of k, and how wide C is.
template <typename T>
struct ChainSpan {
  const T* a;
  int64_t a_stride;
  T* c;
  int64_t c_stride;
  int64_t m, n;                    // of C
  int64_t begin, end;              // of k
  bool fresh;                      // chains start from zero, not from C
  int64_t vector_stride = kLanes;  // of C: from one vector of a tile to the next
  FetchList* fetch = nullptr;
};

// One step of a tile: sum[row][vector] += a[row][k] × B[k][vector]. Where B is decoded, A's values come straight from
// memory; a row of many vectors is decoded one by one, since registers are then full of sums.
template <typename V, int kRows, int kVectors, typename Run, typename T>
EKVI_INLINE void MultiplyAdd(const Run& run, const T* const (&a)[kRows], int64_t k, int tail,
                             V (&sum)[kRows][kVectors]) {
  constexpr bool kFromMemory = kRows > 1 && Run::kDecodes && requires(V x) { FmaFrom(a[0], x, x); };
  if constexpr (kFromMemory && kVectors > 4) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const V right = run.Get(v, v == kVectors - 1 ? tail : kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r][v] = FmaFrom(a[r] + k, right, sum[r][v]);
    }
    return;
  }
  V right[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) right[v] = run.Get(v, v == kVectors - 1 ? tail : kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kFromMemory) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = FmaFrom(a[r] + k, right[v], sum[r][v]);
    } else {
      const V left(a[r][k]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Fma(left, right[v], sum[r][v]);
    }
  }
}

// Sums of a tile from C, and back; the last vector has `tail` columns.
template <typename V, int kRows, int kVectors>
EKVI_INLINE void LoadTile(const ChainSpan<typename V::Lane>& span, const typename V::Lane* c, int tail,
                          V (&sum)[kRows][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const typename V::Lane* from = c + r * span.c_stride + v * span.vector_stride;
      sum[r][v] = v < kVectors - 1 || tail == kLanes ? Load<V>(from) : LoadPartial<V>(from, tail);
    }
  }
}
template <typename V, int kRows, int kVectors>
EKVI_INLINE void StoreTile(const ChainSpan<typename V::Lane>& span, const V (&sum)[kRows][kVectors],
                           typename V::Lane* c, int tail) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      typename V::Lane* to = c + r * span.c_stride + v * span.vector_stride;
      if (v < kVectors - 1 || tail == kLanes)
        Store(sum[r][v], to);
      else
        StorePartial(sum[r][v], to, tail);
    }
  }
}

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
    for (int v = 0; v < kVectors; ++v) sum[r][v] = V(T(0));
  }
  // Whole tiles, nearly all, are loaded and stored without a question each.
  if (!span.fresh) tail == kLanes ? LoadTile(span, c, kLanes, sum) : LoadTile(span, c, tail, sum);
  for (int64_t k = span.begin; k < span.end;) {
    const int64_t run_end = b.RunEnd(k, span.end);
    typename B::template Run<kVectors> run(b, panel, k);
    for (; k < run_end; ++k, run.Next()) {
      if constexpr (requires { run.template FetchAhead<kRows>(); }) {
        if (row == 0) run.template FetchAhead<kRows>();
      }
      MultiplyAdd<V, kRows, kVectors>(run, a, k, tail, sum);
    }
  }
  tail == kLanes ? StoreTile(span, sum, c, kLanes) : StoreTile(span, sum, c, tail);
}

// All rows of a strip of kVectors panels: tiles of kRowsMax rows, then the rest in one tile.
template <typename V, int kRows, int kVectors, typename B>
void ChainRows(const ChainSpan<typename V::Lane>& span, const B& b, int64_t row, int64_t panel, int tail) {
  if constexpr (kRows > 0) {
    if (span.m - row >= kRows) {
      for (; span.m - row >= kRows; row += kRows) {
        ChainTile<V, kRows, kVectors>(span, b, row, panel, tail);
        if (span.fetch != nullptr) span.fetch->Step();
      }
    }
    ChainRows<V, kRows - 1, kVectors>(span, b, row, panel, tail);
  }
}

template <typename V, int kVectors, typename B>
void DecodeStrip(const B& b, int64_t panel, int64_t begin, int64_t end, int tail, typename V::Lane* out) {
  for (int64_t k = begin; k < end;) {
    const int64_t run_end = b.RunEnd(k, end);
    typename B::template Run<kVectors> run(b, panel, k);
    for (; k < run_end; ++k, run.Next(), out += kVectors * kLanes) {
      if constexpr (requires { run.template FetchAhead<kRowsMax>(); }) run.template FetchAhead<kRowsMax>();
      for (int v = 0; v < kVectors; ++v) Store(run.Get(v, v == kVectors - 1 ? tail : kLanes), out + v * kLanes);
    }
  }
}

// A strip of kVectors panels. Where B must be decoded and many rows read it, that is done once, in stretches (16 KiB of
// float32) that stay in the nearest cache: on Zen 4 f16 goes from 86 to 95 % of the multiply-add peak.
template <typename V, int kRows, int kVectors, typename B>
void ChainStrip(const ChainSpan<typename V::Lane>& span, const B& b, int64_t panel, int tail) {
  if constexpr (B::kDecodes) {
    constexpr int64_t kStretch = 128;
    if (span.m >= 2 * kRows) {
      alignas(64) typename V::Lane decoded[kStretch * kVectors * kLanes];
      ChainSpan<typename V::Lane> part = span;
      for (; part.begin < span.end; part.begin = part.end, part.fresh = false) {
        part.end = span.end - part.begin < kStretch ? span.end : part.begin + kStretch;
        DecodeStrip<V, kVectors>(b, panel, part.begin, part.end, tail, decoded);
        ChainRows<V, kRows, kVectors>(part, DecodedStrip<V>{decoded, part.begin}, 0, panel, tail);
      }
      return;
    }
  }
  ChainRows<V, kRows, kVectors>(span, b, 0, panel, tail);
}

template <typename V, int kRows, int kVectors, typename B>
void ChainStrips(const ChainSpan<typename V::Lane>& span, const B& b, int64_t panel) {
  const int64_t panels = (span.n + kLanes - 1) / kLanes;
  const int last = static_cast<int>(span.n - (panels - 1) * kLanes);
  for (; panels - panel >= kVectors; panel += kVectors) {
    ChainStrip<V, kRows, kVectors>(span, b, panel, panel + kVectors == panels ? last : kLanes);
  }
  if constexpr (kVectors > 1) {
    if (panel < panels) ChainStrips<V, kRows, kVectors / 2>(span, b, panel);
  }
}

// One row: memory limits, and is read in four long streams, each through a quarter of the panels. On Zen 4 a panel of
// 18 KiB after the other in each of four streams gives 78 % of a plain read, quarters of the matrix 100 %.
template <typename V, typename B>
void ChainOneRow(const ChainSpan<typename V::Lane>& span, const B& b) {
  constexpr int kStreams = 4;
  const int64_t quarter = span.n / kLanes / kStreams;
  ChainSpan<typename V::Lane> strip = span;
  strip.vector_stride = quarter * kLanes;
  for (int64_t panel = 0; panel < quarter; ++panel, strip.c += kLanes) {
    const B panels{b.first + panel * b.panel_bytes, quarter * b.panel_bytes};
    ChainTile<V, 1, kStreams>(strip, panels, 0, 0, kLanes);
  }
  ChainStrips<V, 1, kStreams>(span, b, quarter * kStreams);
}

// Few rows take more vectors each, so that there are always enough chains to hide the latency of a multiply-add.
template <typename V, typename B>
void Chain(const ChainSpan<typename V::Lane>& span, const B& b) {
  if (span.m <= 0 || span.n <= 0) return;
  if (span.m == 1) return ChainStrips<V, 1, 4>(span, b, 0);
  if (span.m == 2) return ChainStrips < V, 2, kAccumulators / 2 >= 8 ? 8 : 2 > (span, b, 0);
  if (span.m <= 4) return ChainStrips < V, 4, kAccumulators / 4 >= 4 ? 4 : 1 > (span, b, 0);
  ChainStrips<V, kRowsMax, kAccumulators / kRowsMax >= 2 ? 2 : 1>(span, b, 0);
}

template <typename V, typename E>
void ProductAs(const Product<typename V::Lane>& p) {
  const ChainSpan<typename V::Lane> span{p.a, p.a_stride, p.c, p.c_stride, p.m, p.n, 0, p.k, !p.accumulate};
  const DensePanels<V, E> panels{p.b, p.panel_bytes};
  return p.m == 1 ? ChainOneRow<V>(span, panels) : Chain<V>(span, panels);
}

template <typename T>
void ProductOf(const Product<T>& p) noexcept {
  using V = VecOf<T>;
  if constexpr (sizeof(T) == 8) {
    ProductAs<V, ElementF64>(p);
  } else {
    switch (p.format) {
      case numeric::Format::kF16:
        return ProductAs<V, ElementF16>(p);
      case numeric::Format::kBF16:
        return ProductAs<V, ElementBF16>(p);
      default:
        return ProductAs<V, ElementF32>(p);
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

template <typename T>
T ReadPeakOf(const std::byte* from, int64_t bytes) noexcept {
  using V = VecOf<T>;
  constexpr int kChains = 4;
  constexpr int64_t kVectorBytes = kLanes * sizeof(T);
  V sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = V(T(0));
  for (int64_t at = 0; at + kChains * kVectorBytes <= bytes; at += kChains * kVectorBytes) {
    for (int i = 0; i < kChains; ++i) {
      sum[i] = sum[i] + Load<V>(reinterpret_cast<const T*>(from + at + i * kVectorBytes));
    }
  }
  return ReduceAdd((sum[0] + sum[1]) + (sum[2] + sum[3]));
}
