// A session: a model, a cache, and sequences that live in it.
//
//   auto model = ekvi::Model::Embedded();
//   ekvi::Session session(model);
//   session.Generate("Once upon a time", {}, {}, [](std::string_view text) { std::cout << text << std::flush; });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/cache.h"
#include "ekvi/model.h"
#include "ekvi/sampling.h"

namespace ekvi {

enum class CacheKind { kPaged, kContiguous };

struct SessionOptions {
  int64_t context = 0;  // tokens a sequence may hold; 0: the model's
  int sequences = 1;    // rows of the cache: 0 is the session's own, the others are for Fork and Permute on cache()
  CacheKind kind = CacheKind::kPaged;
  int block_tokens = 32;
  std::optional<DType> dtype_k, dtype_v;  // empty: the model's automatic type
  int64_t chunk = 512;                    // prompt tokens a step computes at most
  bool reuse = true;                      // false: every step recomputes the whole sequence (the price of no cache)
  int threads = 0;                        // 0: as many as this process is granted
  std::string target;                     // one of DescribeMachine().targets; empty: the best
};

enum class FinishReason { kEnd, kStop, kLength, kCancelled };

// What a generation did, in nanoseconds and tokens.
struct GenerateStats {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, already in the cache
  int64_t new_tokens = 0;
  int64_t prompt_ns = 0;  // until the last prompt chunk was computed
  int64_t first_token_ns = 0;
  int64_t decode_ns = 0;          // from the first token to the last
  std::vector<int64_t> token_ns;  // per decode step
  int64_t kv_tokens = 0;
  uint64_t kv_bytes = 0;  // held by the sequence now
  int64_t kv_blocks = 0;  // 0 when contiguous
};

struct GenerateResult {
  std::string text;
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kLength;
  GenerateStats stats;
};

// One thread at a time, but Cancel.
class Session {
 public:
  // Errors: kInvalidArgument for options out of range, an unknown target or a cache type the arithmetic cannot read,
  // kCapacity where the cache does not fit memory, kUnsupported for a target this machine lacks.
  explicit Session(std::shared_ptr<const Model> model, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Model& model() const;
  const SessionOptions& options() const;  // with automatic values filled in
  KvCache& cache();

  using OnText = std::function<void(std::string_view)>;

  // Continues sequence 0 with `prompt` and generates. Text is delivered as soon as no stop string can reach into it.
  // Errors, the sequence unchanged: kCapacity where sequence + prompt exceed the context, with the three numbers;
  // kInvalidArgument for ids outside the vocabulary or options out of range. Generation ends with kLength at the
  // context's end. A model whose logits are not finite ends with Error(kCorrupt).
  GenerateResult Generate(std::span<const int32_t> prompt, const SamplingOptions& sampling, const StopOptions& stops,
                          const OnText& on_text = {});
  // The same for text: encoded with the begin token when the sequence is empty.
  GenerateResult Generate(std::string_view prompt, const SamplingOptions& sampling, const StopOptions& stops,
                          const OnText& on_text = {});

  // Logits after each of `tokens`, appended to sequence 0 in chunks: out[tokens.size(), vocabulary]. float in f32
  // arithmetic widens to double exactly. Errors as Generate.
  void Logits(std::span<const int32_t> tokens, std::span<double> out);

  // Forgets sequence 0, or its tokens from `length` on.
  void Truncate(int64_t length);
  // Of sequence 0, the last token of a generation included, which is computed when the sequence goes on.
  int64_t length() const;
  std::span<const int32_t> tokens() const;

  // From any thread or signal handler: a running Generate ends after the current step with kCancelled, a running Logits
  // with Error(kCancelled). Called while nothing runs, it ends the next call before its first step.
  void Cancel() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ekvi
