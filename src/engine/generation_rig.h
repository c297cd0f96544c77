// A generator with everything it needs, over a fake model: for the tests of generation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "engine/fake_model.h"
#include "engine/generation.h"

namespace ekvi::engine {

using Tokens = std::vector<int32_t>;

struct RigOptions {
  CacheKind kind = CacheKind::kPaged;
  int block_tokens = 16;
  int64_t chunk = 7;
  bool reuse = true;
  Tokens end_tokens = {};
  FakeModelOptions model = {};
  Tokens script = {};  // not empty: a ScriptedModel
};

// Token t is the letter t mod 26.
inline TextSource Letters() {
  return {.push = [](int32_t token) { return std::string(1, static_cast<char>('a' + token % 26)); },
          .finish = [] { return std::string(); }};
}

// Token t is the byte t; whole characters only, U+FFFD for one that is cut at the end.
inline TextSource Bytes() {
  const auto held = std::make_shared<std::string>();
  return {.push =
              [held](int32_t token) {
                *held += static_cast<char>(token);
                const size_t whole = base::ValidUtf8Prefix(*held);
                std::string text = held->substr(0, whole);
                held->erase(0, whole);
                return text;
              },
          .finish = [held] { return std::string(held->empty() ? "" : "\uFFFD"); }};
}

class Rig {
 public:
  explicit Rig(const RigOptions& options = {})
      : model(NewModel(options)),
        cache(NewCache(options)),
        sequence(*cache, 1),
        generator(*model, cancel,
                  {.chunk = options.chunk, .reuse = options.reuse, .end_tokens = options.end_tokens, .now_ns = [this] {
                     return now_ns ? now_ns() : 0;
                   }}) {}

  GenerateResult Generate(const Tokens& prompt, const SamplingOptions& sampling, const StopOptions& stops) {
    streamed.clear();
    pieces = 0;
    const OnText on_text = [this](std::string_view text) {
      streamed += text;
      pieces += 1;
      if (on_piece) on_piece();
    };
    const TextSource source = text ? text() : Letters();
    return generator.Generate(
        sequence, {.prompt = prompt, .sampling = sampling, .stops = stops, .text = source, .on_text = on_text});
  }

  Tokens tokens() const { return {sequence.tokens().begin(), sequence.tokens().end()}; }

  std::unique_ptr<FakeModel> model;
  std::unique_ptr<KvCache> cache;
  Sequence sequence;
  std::atomic<bool> cancel = false;
  std::function<int64_t()> now_ns;
  std::function<TextSource()> text;  // empty: Letters
  std::function<void()> on_piece;
  Generator generator;
  std::string streamed;  // of the last call
  int pieces = 0;

 private:
  static std::unique_ptr<FakeModel> NewModel(const RigOptions& options) {
    if (options.script.empty()) return std::make_unique<FakeModel>(options.model);
    return std::make_unique<ScriptedModel>(options.script, options.model);
  }

  // Two rows; the sequence lives in the second.
  static std::unique_ptr<KvCache> NewCache(const RigOptions& options) {
    const int64_t context = options.model.context;
    if (options.kind == CacheKind::kContiguous) {
      return std::make_unique<ContiguousCache>(FakeModel::Layout(), ContiguousShape{.rows = 2, .max_len = context});
    }
    const int64_t blocks = BlocksFor(context, options.block_tokens);
    return std::make_unique<PagedCache>(
        FakeModel::Layout(),
        PagedShape{.rows = 2, .max_len = context, .block_tokens = options.block_tokens, .block_count = blocks});
  }
};

}  // namespace ekvi::engine
