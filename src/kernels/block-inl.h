// Weights in blocks, taken from their panels (block_panel.h) in registers.
//
// Included inside the namespace of a target, after its vec_*.h.

using numeric::BlockShape;
using numeric::Codebook;
using numeric::Format;
using numeric::SubScale;

// A format's parts, 16 outputs at a time.
template <Format kFormat>
struct BlockReader {
  static constexpr BlockShape kShape = numeric::ShapeOf(kFormat);
  static constexpr BlockPanel kPanel = BlockPanelOf(kFormat);
  static constexpr int64_t kBlockBytes = kPanel.block_bytes();
  static constexpr int kSteps = kPanel.steps, kBlockInputs = kShape.values, kOffset = kShape.offset;
  static constexpr int kHeadBytes = kPanel.head_bytes, kStepBytes = kPanel.step_bytes;
  static constexpr int kSubs = kPanel.subs;
  static constexpr bool kHasSubs = kShape.sub_scale != SubScale::kNone;
  static constexpr bool kHasMin = kShape.has_min();
  static constexpr bool kInPlanes = kShape.high_bits > 0;  // low bits and high bits apart
  // Of the codes as multiplied: those of a codebook are its levels.
  static constexpr int kBits = kShape.codebook == Codebook::kIq4     ? 8
                               : kShape.codebook == Codebook::kMxfp4 ? 5
                                                                     : kShape.low_bits + kShape.high_bits;

  struct Head {
    F32 scale, min;
  };
  struct Scales {
    F32 scale[kSubs], term[kSubs];
  };

  EKVI_INLINE static F32 Whole(const std::byte* at) {
    if constexpr (kFormat == Format::kMXFP4) return Widen<F32, ElementBF16>(at);
    return Widen<F32, ElementF16>(at);
  }

  EKVI_INLINE static Head ReadHead(const std::byte* block) {
    Head head;
    if constexpr (kHasSubs) {
      head.scale = Whole(block);
      if constexpr (kHasMin) head.min = -Whole(block + kPanel.mins_at);
    }
    return head;
  }

  EKVI_INLINE static F32 SubScaleAt(const std::byte* at) {
    if constexpr (kShape.sub_scale == SubScale::kSigned) return Widen<F32, ElementI8>(at);
    if constexpr (kHasMin && kPanel.sub_mins_at == 0) return Widen<F32, ElementLow4>(at);
    return Widen<F32, ElementU8>(at);
  }
  EKVI_INLINE static F32 SubMinAt(const std::byte* at) {
    if constexpr (kPanel.sub_mins_at == 0) return Widen<F32, ElementHigh4>(at);
    return Widen<F32, ElementU8>(at);
  }

  EKVI_INLINE static Scales ReadScales(const Head& head, const std::byte* step) {
    Scales scales;
    for (int sub = 0; sub < kSubs; ++sub) {
      if constexpr (kHasSubs) {
        scales.scale[sub] = head.scale * SubScaleAt(step + kLanes * sub);
        if constexpr (kHasMin) scales.term[sub] = head.min * SubMinAt(step + kPanel.sub_mins_at + kLanes * sub);
      } else {
        scales.scale[sub] = Whole(step);
        if constexpr (kHasMin) scales.term[sub] = Whole(step + kPanel.mins_at);
      }
    }
    return scales;
  }

  // A plane of kPlaneBits per code: those of inputs 4 kQuad … 4 kQuad + 3, moved to bit kTo.
  template <int kPlaneBits, int kTo, int kQuad>
  EKVI_INLINE static Codes Plane(const std::byte* plane) {
    constexpr int kQuads = 8 / kPlaneBits;
    const Codes bytes = LoadCodes(plane + kQuad / kQuads * 64);
    if constexpr (kPlaneBits == 8) return bytes;
    return MoveBits<kQuad % kQuads * kPlaneBits, kTo, (1 << kPlaneBits) - 1>(bytes);
  }

  template <int kQuad>
  EKVI_INLINE static Codes Quad(const std::byte* step) {
    Codes codes = Plane<kShape.low_bits, 0, kQuad>(step + kPanel.low_at);
    if constexpr (kShape.high_bits > 0) {
      codes = codes | Plane<kShape.high_bits, kShape.low_bits, kQuad>(step + kPanel.high_at);
    }
    if constexpr (kShape.codebook == Codebook::kIq4) codes = Lookup(codes, numeric::kIq4Levels);
    if constexpr (kShape.codebook == Codebook::kMxfp4) codes = Lookup(codes, numeric::kMxfp4Levels);
    return codes;
  }
};

// Calls work<format>(); nothing for plain numbers.
template <typename Work>
EKVI_INLINE void WithFormat(Format format, const Work& work) {
  switch (format) {
    case Format::kQ4_0:
      return work.template operator()<Format::kQ4_0>();
    case Format::kQ4_1:
      return work.template operator()<Format::kQ4_1>();
    case Format::kQ5_0:
      return work.template operator()<Format::kQ5_0>();
    case Format::kQ5_1:
      return work.template operator()<Format::kQ5_1>();
    case Format::kQ8_0:
      return work.template operator()<Format::kQ8_0>();
    case Format::kQ2_K:
      return work.template operator()<Format::kQ2_K>();
    case Format::kQ3_K:
      return work.template operator()<Format::kQ3_K>();
    case Format::kQ4_K:
      return work.template operator()<Format::kQ4_K>();
    case Format::kQ5_K:
      return work.template operator()<Format::kQ5_K>();
    case Format::kQ6_K:
      return work.template operator()<Format::kQ6_K>();
    case Format::kIQ4_NL:
      return work.template operator()<Format::kIQ4_NL>();
    case Format::kIQ4_XS:
      return work.template operator()<Format::kIQ4_XS>();
    case Format::kMXFP4:
      return work.template operator()<Format::kMXFP4>();
    default:
      return;
  }
}
