#include "cache/contiguous_geometry.h"

#include <string>

#include "base/check.h"
#include "plan/strides.h"

namespace ekvi::cache {

ContiguousGeometry::ContiguousGeometry(const CacheLayout& layout, const ContiguousShape& shape)
    : max_len_(shape.max_len), bytes_(static_cast<int64_t>(ContiguousBytes(layout, shape))) {
  layers_.reserve(layout.layers.size());
  int64_t offset = 0;
  for (const LayerShape& layer : layout.layers) {
    const plan::KvBytes bytes = plan::ContiguousLayerBytes(layout, layer, shape);
    const plan::KvBytes token = plan::HeadBytes(layout, layer, 1);
    const int64_t v_offset = offset + static_cast<int64_t>(bytes.k);
    layers_.push_back({.k_offset = offset,
                       .v_offset = v_offset,
                       .k_token_bytes = static_cast<int64_t>(token.k),
                       .v_token_bytes = static_cast<int64_t>(token.v),
                       .kv_heads = layer.kv_heads});
    offset = v_offset + static_cast<int64_t>(bytes.v);
  }
  EKVI_CHECK_OP(==, offset, bytes_);
}

TileOffset ContiguousGeometry::Offset(int layer, int row, int head, int64_t pos) const {
  const Layer& l = At(layer);
  const int64_t token = (row * l.kv_heads + head) * max_len_ + pos;
  return {.k = l.k_offset + token * l.k_token_bytes, .v = l.v_offset + token * l.v_token_bytes};
}

}  // namespace ekvi::cache
