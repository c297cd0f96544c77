// The online softmax over chunks of keys: probabilities of one chunk, and the algebra of states.
//
// Included inside the namespace of a target, after its vec_*.h.

// Lanes of the vector at keys first … first + 15 that a row sees.
template <typename V>
EKVI_INLINE auto VisibleLanes(const KeyRange* ranges, int range_count, int first) {
  auto mask = LanesIn<V>(ranges[0].begin - first, ranges[0].end - first);
  if (range_count > 1) mask = Or(mask, LanesIn<V>(ranges[1].begin - first, ranges[1].end - first));
  return mask;
}

// Where the vectors end that are visible as a whole from `first` on; `first` where that one is not.
EKVI_INLINE int WholeUntil(const KeyRange* ranges, int range_count, int first) {
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].begin <= first && first + kLanes <= ranges[i].end) return ranges[i].end / kLanes * kLanes;
  }
  return first;
}

// Calls whole(first) for every vector of keys that a row sees as a whole and part(first, mask) for the others between
// its first and its last key, ascending.
template <typename V, typename Whole, typename Part>
EKVI_INLINE void ForVisible(const KeyRange* ranges, int range_count, const Whole& whole, const Part& part) {
  const int end = ranges[range_count - 1].end;
  for (int first = ranges[0].begin / kLanes * kLanes; first < end; first += kLanes) {
    for (const int whole_end = WholeUntil(ranges, range_count, first); first < whole_end; first += kLanes) whole(first);
    if (first >= end) return;
    part(first, VisibleLanes<V>(ranges, range_count, first));
  }
}

// Scores of 16 keys: scale, soft cap, ALiBi, in this order.
template <typename T>
EKVI_INLINE VecOf<T> FinishScores(const SoftmaxRow<T>& row, int first) {
  using V = VecOf<T>;
  V s = Load<V>(row.scores + first) * V(row.scale);
  if (row.soft_cap != 0) s = V(row.soft_cap) * numeric::Tanh(s / V(row.soft_cap));
  if (row.slope != 0) {
    const V distance = V(static_cast<T>(row.distance + first)) + Iota<V>();
    s = Fma(V(row.slope), distance, s);
  }
  return s;
}

// Finished scores, in place; returns their maximum, lane by lane.
template <typename T>
VecOf<T> FinishAllScores(const SoftmaxRow<T>& row) {
  using V = VecOf<T>;
  const V none(-std::numeric_limits<T>::infinity());
  V max = none;
  const auto keep = [&](int first, V s) {
    Store(s, row.scores + first);
    max = Max(s, max);  // a NaN score is passed over here and comes back through exp
  };
  const auto finish = [&](auto&& scores_at) {
    ForVisible<V>(
        row.ranges, row.range_count, [&](int first) { keep(first, scores_at(first)); },
        [&](int first, auto mask) { keep(first, Select(mask, scores_at(first), none)); });
  };
  if (row.soft_cap == 0 && row.slope == 0)
    finish([&](int first) { return Load<V>(row.scores + first) * V(row.scale); });
  else
    finish([&](int first) { return FinishScores(row, first); });
  return max;
}

// Probabilities from finished scores and their maximum, in place; returns their sum, lane by lane.
template <typename T>
VecOf<T> Exponentials(const SoftmaxRow<T>& row) {
  using V = VecOf<T>;
  const V base(*row.max == -std::numeric_limits<T>::infinity() ? T(0) : *row.max);
  V sum(T(0));
  const auto add = [&](int first, V p) {
    Store(p, row.scores + first);
    sum = sum + p;
  };
  const auto p_at = [&](int first) { return numeric::ExpNonPositive(Load<V>(row.scores + first) - base); };
  ForVisible<V>(
      row.ranges, row.range_count, [&](int first) { add(first, p_at(first)); },
      [&](int first, auto mask) { add(first, Select(mask, p_at(first), V(T(0)))); });
  return sum;
}

// Four rows at a time: what one waits for, its reductions and the first exponentials, hides behind the others.
template <typename T>
void SoftmaxOf(const SoftmaxRow<T>* rows, int64_t count) noexcept {
  constexpr int64_t kTogether = 4;
  VecOf<T> all[kTogether];
  for (int64_t first = 0; first < count; first += kTogether, rows += kTogether) {
    const int64_t n = count - first < kTogether ? count - first : kTogether;
    for (int64_t i = 0; i < n; ++i) all[i] = FinishAllScores(rows[i]);
    for (int64_t i = 0; i < n; ++i) *rows[i].max = ReduceMax(all[i]);
    for (int64_t i = 0; i < n; ++i) all[i] = Exponentials(rows[i]);
    for (int64_t i = 0; i < n; ++i) *rows[i].sum = ReduceAdd(all[i]);
  }
}

// e^x for one x ≤ 0, by the vector function.
template <typename T>
EKVI_INLINE T ExpOne(T x) {
  return FirstLane(numeric::ExpNonPositive(VecOf<T>(x)));
}

template <typename T>
void MergeOf(State<T> into, State<const T> next, int64_t d) noexcept {
  using V = VecOf<T>;
  const T max = *into.max > *next.max ? *into.max : *next.max;
  const T base = max == -std::numeric_limits<T>::infinity() ? T(0) : max;
  const V keep(ExpOne(*into.max - base));
  const V take(ExpOne(*next.max - base));
  *into.max = max;
  *into.sum = FirstLane(Fma(V(*into.sum), keep, V(*next.sum) * take));
  int64_t i = 0;
  for (; i + kLanes <= d; i += kLanes) {
    Store(Fma(Load<V>(into.out + i), keep, Load<V>(next.out + i) * take), into.out + i);
  }
  if (i < d) {
    const int rest = static_cast<int>(d - i);
    const V merged = Fma(LoadPartial<V>(into.out + i, rest), keep, LoadPartial<V>(next.out + i, rest) * take);
    StorePartial(merged, into.out + i, rest);
  }
}

template <typename T>
void FinishOf(State<const T> state, T* out, int64_t d) noexcept {
  using V = VecOf<T>;
  const V sum(*state.sum);
  const bool nothing = *state.sum == 0;
  for (int64_t i = 0; i < d; i += kLanes) {
    const int count = static_cast<int>(d - i < kLanes ? d - i : kLanes);
    const V value = LoadPartial<V>(state.out + i, count);
    StorePartial(nothing ? value : value / sum, out + i, count);
  }
}
