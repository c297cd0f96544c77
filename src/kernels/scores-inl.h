// Scores and outputs of attention: the one product over tiles of a cache, with what comes next fetched meanwhile.
//
// Included inside the namespace of a target, after product-inl.h.

// Interleaved key tiles, each somewhere else: panel = tile. With kAhead, the same rows of the tiles `ahead` are fetched
// while these are multiplied.
template <typename V, typename E, bool kAhead>
struct TilePanels {
  const std::byte* const* tiles;
  const std::byte* const* ahead;
  static constexpr int64_t kRowBytes = kLanes * E::kBytes;
  static constexpr bool kDecodes = E::kBytes != sizeof(typename V::Lane);

  EKVI_INLINE int64_t RunEnd(int64_t, int64_t k_end) const { return k_end; }
  template <int kVectors>
  struct Run {
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
      if constexpr (kAhead) {
        for (int v = 0; v < kVectors; ++v) FetchLine(next[v]), next[v] += kRowBytes;
      }
    }
  };
};

// Values: rows of d columns, 16 rows (keys) a tile, each tile somewhere else. A run ends with its tile. Without kWhole,
// d is no multiple of 16 and the last vector of a row is read in part: what lies behind a row may not exist. kAhead as
// for keys.
template <typename V, typename E, bool kWhole, bool kAhead>
struct ValueTiles {
  const std::byte* const* tiles;
  const std::byte* const* ahead;
  int64_t row_bytes;
  static constexpr bool kDecodes = E::kBytes != sizeof(typename V::Lane);

  EKVI_INLINE int64_t RunEnd(int64_t k, int64_t k_end) const {
    const int64_t tile_end = (k / kLanes + 1) * kLanes;
    return tile_end < k_end ? tile_end : k_end;
  }
  template <int kVectors>
  struct Run {
    const std::byte *row, *next;
    int64_t row_bytes;
    EKVI_INLINE Run(const ValueTiles& b, int64_t panel, int64_t k) : row_bytes(b.row_bytes) {
      const int64_t within = (k % kLanes) * b.row_bytes + panel * kLanes * E::kBytes;
      row = b.tiles[k / kLanes] + within;
      if constexpr (kAhead) next = b.ahead[k / kLanes] + within;
    }
    EKVI_INLINE V Get(int vector, int columns) const {
      const std::byte* at = row + vector * kLanes * E::kBytes;
      return kWhole || columns == kLanes ? Widen<V, E>(at) : WidenPartial<V, E>(at, columns);
    }
    EKVI_INLINE void Next() {
      row += row_bytes;
      if constexpr (kAhead) {
        for (int byte = 0; byte < kVectors * kLanes * E::kBytes; byte += 64) FetchLine(next + byte);
        next += row_bytes;
      }
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

// Few rows wait for memory and fetch a line with each they read; many have the time to fetch between register tiles.
template <typename V, typename E>
void ScoresAs(const Scores<typename V::Lane>& s) {
  using T = typename V::Lane;
  ChainSpan<T> span{s.q, s.q_stride, s.scores, s.scores_stride, s.m, s.tile_count * kLanes, 0, s.d, true};
  if (s.ahead == nullptr) return Chain<V>(span, TilePanels<V, E, false>{s.tiles, nullptr});
  if (s.m < kRowsMax) return Chain<V>(span, TilePanels<V, E, true>{s.tiles, s.ahead});
  FetchList fetch = FetchListFor(span, s.ahead, s.d * kLanes * E::kBytes, s.tile_count);
  span.fetch = &fetch;
  Chain<V>(span, TilePanels<V, E, false>{s.tiles, nullptr});
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
  if (o.ahead == nullptr) return Chain<V>(span, ValueTiles<V, E, kWhole, false>{o.tiles, nullptr, row_bytes});
  if (o.m < kRowsMax) return Chain<V>(span, ValueTiles<V, E, kWhole, true>{o.tiles, o.ahead, row_bytes});
  const int64_t first = o.begin / kLanes, tiles = (o.end + kLanes - 1) / kLanes - first;
  FetchList fetch = FetchListFor(span, o.ahead + first, row_bytes * kLanes, tiles);
  span.fetch = &fetch;
  Chain<V>(span, ValueTiles<V, E, kWhole, false>{o.tiles, nullptr, row_bytes});
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
