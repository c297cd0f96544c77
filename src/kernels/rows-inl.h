// Norms, rotation, activations and sums of rows.
//
// Included inside the namespace of a target, after its vec_*.h.

// Calls body(first, count) for each vector of 0 … n - 1; count is 16 but for the last.
template <typename Body>
EKVI_INLINE void ForVectors(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, kLanes);
  if (i < n) body(i, static_cast<int>(n - i));
}

template <typename V>
EKVI_INLINE V LoadUpTo(const typename V::Lane* from, int count) {
  return count == kLanes ? Load<V>(from) : LoadPartial<V>(from, count);
}
template <typename V>
EKVI_INLINE void StoreUpTo(V value, typename V::Lane* to, int count) {
  if (count == kLanes)
    Store(value, to);
  else
    StorePartial(value, to, count);
}

// Lane i sums values i, i + 16, …; then the tree. Lanes past the end add +0.
template <typename V, typename Term>
EKVI_INLINE typename V::Lane SumOf(int64_t n, const Term& term) {
  V sum(typename V::Lane(0));
  ForVectors(n, [&](int64_t i, int count) { sum = term(sum, i, count); });
  return ReduceAdd(sum);
}

template <typename T>
EKVI_INLINE T MeanSquare(const T* x, T mean, int64_t width) {
  using V = VecOf<T>;
  const T sum = SumOf<V>(width, [&](V acc, int64_t i, int count) {
    V deviation = LoadUpTo<V>(x + i, count) - V(mean);
    if (count < kLanes) deviation = Select(LanesIn<V>(0, count), deviation, V(T(0)));
    return Fma(deviation, deviation, acc);
  });
  return sum / static_cast<T>(width);
}

template <typename T>
EKVI_INLINE void NormRow(const Norm<T>& norm, const T* x, T* out) {
  using V = VecOf<T>;
  T mean = 0;
  if (norm.kind == NormKind::kLayer) {
    const T sum = SumOf<V>(norm.width, [&](V acc, int64_t i, int count) { return acc + LoadUpTo<V>(x + i, count); });
    mean = sum / static_cast<T>(norm.width);
  }
  const V variance(MeanSquare(x, mean, norm.width) + norm.epsilon);
  const V inverse = V(T(1)) / Sqrt(variance);
  ForVectors(norm.width, [&](int64_t i, int count) {
    V y = (LoadUpTo<V>(x + i, count) - V(mean)) * inverse;
    if (norm.weight != nullptr) y = y * LoadUpTo<V>(norm.weight + i, count);
    if (norm.bias != nullptr) y = y + LoadUpTo<V>(norm.bias + i, count);
    StoreUpTo(y, out + i, count);
  });
}

template <typename T>
void NormOf(const Norm<T>& norm) noexcept {
  for (int64_t row = 0; row < norm.rows; ++row)
    NormRow(norm, norm.x + row * norm.x_stride, norm.out + row * norm.out_stride);
}

template <typename T>
void RotateOf(const Rotate<T>& r) noexcept {
  using V = VecOf<T>;
  const int64_t half = r.dims / 2;
  for (int64_t head = 0; head < r.heads; ++head) {
    T* const first = r.x + head * r.head_stride;
    T* const second = first + half;
    ForVectors(half, [&](int64_t i, int count) {
      const V a = LoadUpTo<V>(first + i, count), b = LoadUpTo<V>(second + i, count);
      const V cos = LoadUpTo<V>(r.cos + i, count), sin = LoadUpTo<V>(r.sin + i, count);
      StoreUpTo(Fma(a, cos, -(b * sin)), first + i, count);
      StoreUpTo(Fma(b, cos, a * sin), second + i, count);
    });
  }
}

template <typename T, typename Function>
EKVI_INLINE void ActivateWith(const Activate<T>& a, const Function& function) {
  using V = VecOf<T>;
  ForVectors(a.count, [&](int64_t i, int count) {
    V y = function(LoadUpTo<V>(a.x + i, count));
    if (a.up != nullptr) y = y * LoadUpTo<V>(a.up + i, count);
    StoreUpTo(y, a.out + i, count);
  });
}

// NaN stays NaN: Min and Max give their second operand then.
template <typename T>
void ClampedSwigluOf(const Activate<T>& a) noexcept {
  using V = VecOf<T>;
  const V limit(a.limit), alpha(a.alpha), one(T(1));
  ForVectors(a.count, [&](int64_t i, int count) {
    const V gate = Min(limit, LoadUpTo<V>(a.x + i, count));
    const V up = Max(-limit, Min(limit, LoadUpTo<V>(a.up + i, count)));
    StoreUpTo(gate * numeric::Sigmoid(alpha * gate) * (up + one), a.out + i, count);
  });
}

template <typename T>
void ActivateOf(const Activate<T>& a) noexcept {
  using V = VecOf<T>;
  switch (a.kind) {
    case Activation::kSilu:
      return ActivateWith(a, [](V x) { return numeric::Silu(x); });
    case Activation::kGeluTanh:
      return ActivateWith(a, [](V x) { return numeric::GeluTanh(x); });
    case Activation::kGeluErf:
      return ActivateWith(a, [](V x) { return numeric::GeluErf(x); });
    case Activation::kRelu:
      return ActivateWith(a, [](V x) { return Select(Less(x, V(T(0))), V(T(0)), x); });
    case Activation::kClampedSwiglu:
      return ClampedSwigluOf(a);
  }
}

template <typename T>
void AddScaledOf(T* x, const T* y, T scale, int64_t n) noexcept {
  using V = VecOf<T>;
  ForVectors(n, [&](int64_t i, int count) {
    StoreUpTo(Fma(LoadUpTo<V>(y + i, count), V(scale), LoadUpTo<V>(x + i, count)), x + i, count);
  });
}

template <typename T>
void ScaleOf(T* x, T scale, int64_t n) noexcept {
  using V = VecOf<T>;
  ForVectors(n, [&](int64_t i, int count) { StoreUpTo(LoadUpTo<V>(x + i, count) * V(scale), x + i, count); });
}

template <typename T>
void SoftCapOf(T* x, T cap, int64_t n) noexcept {
  using V = VecOf<T>;
  ForVectors(n, [&](int64_t i, int count) {
    StoreUpTo(V(cap) * numeric::Tanh(LoadUpTo<V>(x + i, count) / V(cap)), x + i, count);
  });
}

template <typename T, typename E>
void PackKeysAs(const PackKeys<T>& p) {
  using V = VecOf<T>;
  alignas(64) T rows[kLanes][kLanes];
  for (int64_t d = 0; d < p.d; d += kLanes) {
    const int columns = static_cast<int>(p.d - d < kLanes ? p.d - d : kLanes);
    for (int t = 0; t < kLanes; ++t) {
      const std::byte* from = p.k + (t * p.d + d) * E::kBytes;
      Store(t < p.tokens ? WidenPartial<V, E>(from, columns) : V(T(0)), rows[t]);
    }
    for (int column = 0; column < columns; ++column) {
      for (int t = 0; t < kLanes; ++t) p.out[(d + column) * kLanes + t] = rows[t][column];
    }
  }
}

template <typename T>
void PackKeysOf(const PackKeys<T>& p) noexcept {
  if constexpr (sizeof(T) == 8) {
    PackKeysAs<T, ElementF64>(p);
  } else {
    switch (p.k_type) {
      case DType::kF16:
        return PackKeysAs<T, ElementF16>(p);
      case DType::kBF16:
        return PackKeysAs<T, ElementBF16>(p);
      default:
        return PackKeysAs<T, ElementF32>(p);
    }
  }
}
