// The float product of weights in blocks.
//
// Included inside the namespace of a target, after product-inl.h and block-inl.h.

// The values of a step into out[32][16].
template <typename R, int kQuad = 0>
EKVI_INLINE void DecodeQuads(const typename R::Scales& scales, const std::byte* step, float* out) {
  constexpr int kSub = kQuad * R::kSubs / 8;
  const Codes codes = R::template Quad<kQuad>(step);
  const F32 offset(static_cast<float>(R::kShape.offset));
  F32 level[4] = {ByteOf<0>(codes), ByteOf<1>(codes), ByteOf<2>(codes), ByteOf<3>(codes)};
  for (int j = 0; j < 4; ++j) {
    const F32 value =
        R::kHasMin ? Fma(level[j], scales.scale[kSub], scales.term[kSub]) : (level[j] - offset) * scales.scale[kSub];
    Store(value, out + (4 * kQuad + j) * kLanes);
  }
  if constexpr (kQuad < 7) DecodeQuads<R, kQuad + 1>(scales, step, out);
}

template <Format kFormat>
void DecodeSteps(const std::byte* panel, int64_t first_step, int64_t steps, float* out) {
  using R = BlockReader<kFormat>;
  for (int64_t s = first_step; s < first_step + steps; ++s, out += kStepInputs * kLanes) {
    const std::byte* const block = panel + s / R::kPanel.steps * R::kBlockBytes;
    const std::byte* const step = block + R::kPanel.head_bytes + s % R::kPanel.steps * R::kPanel.step_bytes;
    DecodeQuads<R>(R::ReadScales(R::ReadHead(block), step), step, out);
  }
}

// Panels decoded to float in a buffer of the nearest cache (32 KiB), a stretch of k at a time, then the chain of
// product-inl.h goes on with them. Few rows take more panels, as the chain does.
template <Format kFormat>
void BlockProductAs(const BlockProduct<float>& p) {
  constexpr int64_t kBufferRows = 512;
  alignas(64) float values[kBufferRows * kLanes];
  const int64_t panels = (p.n + kLanes - 1) / kLanes;
  const int64_t strip = p.m <= 4 ? 8 : 2, stretch = kBufferRows / strip;
  for (int64_t panel = 0; panel < panels; panel += strip) {
    const int64_t columns = p.n - panel * kLanes < strip * kLanes ? p.n - panel * kLanes : strip * kLanes;
    for (int64_t k = 0; k < p.k; k += stretch) {
      const int64_t count = p.k - k < stretch ? p.k - k : stretch;
      for (int64_t i = 0; i * kLanes < columns; ++i) {
        DecodeSteps<kFormat>(p.b + (panel + i) * p.panel_bytes, k / kStepInputs, count / kStepInputs,
                             values + i * count * kLanes);
      }
      const ChainSpan<float> span{p.a + k, p.a_stride, p.c + panel * kLanes,   p.c_stride, p.m, columns,
                                  0,       count,      k == 0 && !p.accumulate};
      Chain<F32>(span, DensePanels<F32, ElementF32>{reinterpret_cast<const std::byte*>(values),
                                                    count * kLanes * static_cast<int64_t>(sizeof(float))});
    }
  }
}

inline void BlockProductOf(const BlockProduct<float>& product) noexcept {
  WithFormat(product.format, [&]<Format kFormat>() { BlockProductAs<kFormat>(product); });
}
