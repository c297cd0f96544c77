// Fills a target's tables. Included inside the namespace of a target, last.

template <typename T>
inline constexpr Table<T> kTable = {
    .product = ProductOf<T>,
    .scores = ScoresOf<T>,
    .outputs = OutputsOf<T>,
    .pack_keys = PackKeysOf<T>,
    .softmax = SoftmaxOf<T>,
    .merge = MergeOf<T>,
    .finish = FinishOf<T>,
    .norm = NormOf<T>,
    .rotate = RotateOf<T>,
    .activate = ActivateOf<T>,
    .add_scaled = AddScaledOf<T>,
    .scale = ScaleOf<T>,
    .soft_cap = SoftCapOf<T>,
    .fma_peak = FmaPeakOf<T>,
    .read_peak = ReadPeakOf<T>,
};

inline constexpr BlockTable kBlockTable = {
    .product = BlockProductOf,
    .product_int8 = Int8ProductOf,
    .round_rows = RoundRowsOf,
    .dot_peak = DotPeakOf,
};
