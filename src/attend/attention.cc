#include "ekvi/attention.h"

#include "attend/attention_core.h"
#include "base/thread_pool.h"
#include "kernels/kernels.h"

namespace ekvi {

struct Attention::Impl {
  Impl(const CacheLayout& layout, std::vector<AttentionLayer> layers, const AttentionSettings& settings)
      : pool(settings.threads > 0 ? settings.threads : base::GrantedThreads()),
        core(layout, std::move(layers), kernels::ParseTarget(settings.target), pool) {}

  base::ThreadPool pool;
  attend::AttentionCore core;
};

Attention::Attention(const CacheLayout& layout, std::vector<AttentionLayer> layers, const AttentionSettings& settings)
    : impl_(std::make_unique<Impl>(layout, std::move(layers), settings)) {}
Attention::~Attention() = default;

void Attention::Plan(const Append& append, std::span<const int64_t> q_offset, std::span<const int64_t> out_offset) {
  impl_->core.Plan(append, q_offset, out_offset);
}
void Attention::Run(int layer, HeadArray<const float> q, HeadArray<float> out) { impl_->core.Run(layer, q, out); }
void Attention::Run(int layer, HeadArray<const double> q, HeadArray<double> out) { impl_->core.Run(layer, q, out); }

}  // namespace ekvi
