// Scores and outputs of attention: the one product over tiles of a cache, with what comes next fetched meanwhile.
//
// Included inside the namespace of a target, after product-inl.h.

// Interleaved key tiles, each somewhere else: panel = tile. With kAhead, a line of the tiles `ahead` is fetched for
// each that is read.
template <typename V, typename E, bool kAhead>
struct TilePanels {
  const std::byte* const* tiles;
  const std::byte* const* ahead;
  static constexpr int64_t kRowBytes = kLanes * E::kBytes;
  static constexpr bool kDecodes = E::kBytes != sizeof(typename V::Lane);

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
    static constexpr bool kDecodes = TilePanels::kDecodes;
    const std::byte* row[kVectors];
    const std::byte* next[kVectors];
    EKVI_INLINE Run(const TilePanels& b, int64_t panel, int64_t k) {
      for (int v = 0; v < kVectors; ++v) row[v] = b.tiles[panel + v] + k * kRowBytes;
      if constexpr (kAhead) {
        for (int v = 0; v < kVectors; ++v) next[v] = b.ahead[panel + v] + k * kRowBytes;
      }
    }
    EKVI_INLINE V Get(int vector, int) const { return Widen<V, E>(row[vector]); }
    EKVI_INLINE void Next() {
      for (int v = 0; v < kVectors; ++v) row[v] += kRowBytes;
    }
    template <int kRows>
    requires kAhead EKVI_INLINE void FetchAhead() {
      for (int v = 0; v < kVectors; ++v) FetchLine(next[v]), next[v] += kRowBytes;
    }
  };
};

// What is fetched while values are read: nothing, a line of the tiles ahead for each, or what follows in memory. The
// hardware then sees a stream there and goes on with it; for that it needs a line of four, not too far ahead.
enum class Fetch { kNothing, kTilesAhead, kStream };
inline constexpr int64_t kStreamAhead = 8192, kStreamStep = 256;

// Values: rows of d columns, 16 rows (keys) a tile, each tile somewhere else. A run ends with its tile. Without kWhole,
// d is no multiple of 16 and the last vector of a row is read in part: what lies behind a row may not exist.
template <typename V, typename E, bool kWhole, Fetch kFetch>
struct ValueTiles {
  const std::byte* const* tiles;
  const std::byte* const* ahead;
  int64_t row_bytes;
  int64_t begin, end;  // keys
  static constexpr bool kDecodes = E::kBytes != sizeof(typename V::Lane);

  EKVI_INLINE int64_t RunEnd(int64_t k, int64_t k_end) const {
    const int64_t tile_end = (k / kLanes + 1) * kLanes;
    return tile_end < k_end ? tile_end : k_end;
  }
  EKVI_INLINE const std::byte* RowOf(const std::byte* const* of, int64_t k) const {
    return of[k / kLanes] + k % kLanes * row_bytes;
  }
  template <int kVectors>
  struct Run {
    static constexpr bool kDecodes = ValueTiles::kDecodes;
    static constexpr int kBytes = kVectors * kLanes * E::kBytes;
    const std::byte *row, *next;
    int64_t row_bytes;
    EKVI_INLINE Run(const ValueTiles& b, int64_t panel, int64_t k) : row_bytes(b.row_bytes) {
      const int64_t within = panel * kLanes * E::kBytes;
      row = b.RowOf(b.tiles, k) + within;
      if constexpr (kFetch == Fetch::kTilesAhead) next = b.RowOf(b.ahead, k) + within;
      if constexpr (kFetch == Fetch::kStream)
        next = b.RowOf(b.tiles, b.begin) + kStreamAhead + (b.end - b.begin) * within + (k - b.begin) * kBytes;
    }
    EKVI_INLINE V Get(int vector, int columns) const {
      const std::byte* at = row + vector * kLanes * E::kBytes;
      return kWhole || columns == kLanes ? Widen<V, E>(at) : WidenPartial<V, E>(at, columns);
    }
    EKVI_INLINE void Next() { row += row_bytes; }
    template <int kRows>
    requires(kFetch != Fetch::kNothing) EKVI_INLINE void FetchAhead() {
      constexpr int64_t kStep = kFetch == Fetch::kStream ? kStreamStep : 64;
      for (int64_t byte = 0; byte < kBytes; byte += kStep) FetchLine(next + byte);
      next += kFetch == Fetch::kStream ? kBytes : row_bytes;
    }
  };
};

// The tiles ahead, and how many of their lines each register tile fetches, so that the last has fetched them all.
template <typename T>
FetchList FetchListFor(const ChainSpan<T>& span, const std::byte* const* ahead, int64_t tile_bytes,
                       int64_t tile_count) {
  const int64_t strips = (span.n + 2 * kLanes - 1) / (2 * kLanes), steps = strips * (span.m / kRowsMax);
  const int64_t lines = tile_bytes / 64 * tile_count;
  return {ahead, tile_bytes, tile_count, (lines + steps - 1) / steps};
}

// Few rows: with tiles ahead, as many sums as fill the multiply-adds. Without, memory decides, and a single tile at a
// time is the order of memory.
template <typename V, typename E>
void FewScores(const Scores<typename V::Lane>& s, const ChainSpan<typename V::Lane>& span) {
  if (s.ahead != nullptr) return Chain<V>(span, TilePanels<V, E, true>{s.tiles, s.ahead});
  ChainStrips<V, kRowsMax - 1, 1>(span, TilePanels<V, E, false>{s.tiles, nullptr}, 0);
}

// Many rows have the time to fetch what is ahead between register tiles.
template <typename V, typename E>
void ScoresAs(const Scores<typename V::Lane>& s) {
  using T = typename V::Lane;
  ChainSpan<T> span{s.q, s.q_stride, s.scores, s.scores_stride, s.m, s.tile_count * kLanes, 0, s.d, true};
  if (s.m < kRowsMax) return FewScores<V, E>(s, span);
  FetchList fetch = FetchListFor(span, s.ahead, s.d * kLanes * E::kBytes, s.tile_count);
  if (s.ahead != nullptr) span.fetch = &fetch;
  ChainStrips<V, kRowsMax, kAccumulators / kRowsMax>(span, TilePanels<V, E, false>{s.tiles, nullptr}, 0);
}

template <typename T>
void ScoresOf(const Scores<T>& s) noexcept {
  using V = VecOf<T>;
  if constexpr (sizeof(T) == 8) {
    ScoresAs<V, ElementF64>(s);
  } else {
    switch (s.k_type) {
      case DType::kF16:
        return ScoresAs<V, ElementF16>(s);
      case DType::kBF16:
        return ScoresAs<V, ElementBF16>(s);
      default:
        return ScoresAs<V, ElementF32>(s);
    }
  }
}

template <typename V, typename E, bool kWhole>
void OutputsAs(const Outputs<typename V::Lane>& o) {
  using T = typename V::Lane;
  const int64_t row_bytes = o.d * E::kBytes;
  ChainSpan<T> span{o.p, o.p_stride, o.out, o.out_stride, o.m, o.d, o.begin, o.end, o.fresh};
  if (o.m < kRowsMax && o.ahead != nullptr) {
    return Chain<V>(span, ValueTiles<V, E, kWhole, Fetch::kTilesAhead>{o.tiles, o.ahead, row_bytes, o.begin, o.end});
  }
  if (o.m < kRowsMax) {
    using Streamed = ValueTiles<V, E, kWhole, Fetch::kStream>;
    return ChainStrips<V, kStreamRows, kStreamVectors>(span, Streamed{o.tiles, nullptr, row_bytes, o.begin, o.end}, 0);
  }
  const int64_t first = o.begin / kLanes, tiles = (o.end + kLanes - 1) / kLanes - first;
  const std::byte* const* ahead = o.ahead != nullptr ? o.ahead + first : nullptr;
  FetchList fetch = FetchListFor(span, ahead, row_bytes * kLanes, tiles);
  if (ahead != nullptr) span.fetch = &fetch;
  ChainStrips<V, kRowsMax, kAccumulators / kRowsMax>(
      span, ValueTiles<V, E, kWhole, Fetch::kNothing>{o.tiles, nullptr, row_bytes, o.begin, o.end}, 0);
}

template <typename T, typename E>
void OutputsAs(const Outputs<T>& o) {
  return o.d % kLanes == 0 ? OutputsAs<VecOf<T>, E, true>(o) : OutputsAs<VecOf<T>, E, false>(o);
}

template <typename T>
void OutputsOf(const Outputs<T>& o) noexcept {
  if constexpr (sizeof(T) == 8) {
    OutputsAs<T, ElementF64>(o);
  } else {
    switch (o.v_type) {
      case DType::kF16:
        return OutputsAs<T, ElementF16>(o);
      case DType::kBF16:
        return OutputsAs<T, ElementBF16>(o);
      default:
        return OutputsAs<T, ElementF32>(o);
    }
  }
}
