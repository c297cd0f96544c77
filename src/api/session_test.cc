// Goal: a session keeps its promises end to end: the reference text, turns, refusals that change nothing, options that
// change no bit. Method: stories260K and the embedded model through the public classes only.
#include "ekvi/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <thread>

#include "ekvi/error.h"
#include "ekvi/machine.h"
#include "shared_path.h"

namespace ekvi {
namespace {

constexpr SamplingOptions kGreedy{.temperature = 0};

std::shared_ptr<const Model> Stories() { return Model::Load(testing::SharedPath("models/stories260K.gguf")); }

std::string ReferenceText() {
  std::ifstream file(testing::SharedPath("models/stories260K.expected.txt"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Session, GreedyTextOfStories260K_IsTheReferenceHoweverItIsComputed) {
  const auto model = Stories();
  for (const SessionOptions& options : std::vector<SessionOptions>{{},
                                                                   {.reuse = false},
                                                                   {.kind = CacheKind::kContiguous},
                                                                   {.block_tokens = 16},
                                                                   {.chunk = 1},
                                                                   {.threads = 1},
                                                                   {.target = "scalar"}}) {
    Session session(model, options);
    const GenerateResult result = session.Generate("", kGreedy, {.max_tokens = 120});
    EXPECT_GT(result.text.size(), 200u);
    EXPECT_EQ(ReferenceText().substr(0, result.text.size()), result.text);
  }
}

TEST(Session, TextInPieces_IsTheTextOfTheResult) {
  Session session(Model::Embedded());
  std::string pieces;
  const GenerateResult result = session.Generate("Once upon a time", {.seed = 3}, {.max_tokens = 60},
                                                 [&](std::string_view piece) { pieces += piece; });
  EXPECT_EQ(pieces, result.text);
  EXPECT_EQ(result.stats.new_tokens, static_cast<int64_t>(result.tokens.size()));
}

TEST(Session, SeveralTurns_EqualOneLongRunAndComputeOnlyWhatIsNew) {
  const auto model = Model::Embedded();
  Session whole(model), turns(model);
  const StopOptions stops{.max_tokens = 30, .ignore_end = true};
  const GenerateResult want = whole.Generate("One morning", kGreedy, {.max_tokens = 90, .ignore_end = true});
  GenerateResult turn = turns.Generate("One morning", kGreedy, stops);
  std::vector<int32_t> tokens = turn.tokens;
  for (int i = 0; i < 2; ++i) {
    turn = turns.Generate(std::span<const int32_t>(), kGreedy, stops);
    EXPECT_EQ(turn.stats.prompt_tokens - turn.stats.cached_tokens, 1);
    tokens.insert(tokens.end(), turn.tokens.begin(), turn.tokens.end());
  }
  EXPECT_EQ(tokens, want.tokens);
}

TEST(Session, Truncated_GoesOnAsIfTheRestHadNeverBeen) {
  Session session(Model::Embedded());
  session.Generate("The red kite", kGreedy, {.max_tokens = 10});
  const int64_t length = session.length();
  const GenerateResult first = session.Generate(" and", kGreedy, {.max_tokens = 20});
  session.Truncate(length);
  EXPECT_EQ(session.Generate(" and", kGreedy, {.max_tokens = 20}).tokens, first.tokens);
}

// Bits of all logits of 90 tokens.
std::vector<double> LogitsOf(const std::shared_ptr<const Model>& model, const SessionOptions& options) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < 90; ++i) tokens.push_back((i * 37 + 5) % model->info().vocabulary);
  std::vector<double> out(tokens.size() * static_cast<size_t>(model->info().vocabulary));
  Session(model, options).Logits(tokens, out);
  return out;
}

TEST(Session, Logits_AreTheSameBitsUnderEveryOption) {
  const auto model = Model::Embedded();
  const std::vector<double> want = LogitsOf(model, {});
  std::vector<SessionOptions> all = {{.chunk = 1},    {.chunk = 7},     {.kind = CacheKind::kContiguous, .chunk = 33},
                                     {.context = 90}, {.sequences = 3}, {.block_tokens = 64, .threads = 3}};
  for (const std::string& target : DescribeMachine().targets) all.push_back({.chunk = 20, .target = target});
  for (const SessionOptions& options : all) EXPECT_EQ(LogitsOf(model, options), want);
}

// The logits of `prompts`, each scored in one session, in the order given; a prompt starts behind the tokens that it
// shares with what the sequence still holds.
std::map<size_t, std::vector<double>> ScoredInOrder(Session& session, std::span<const std::vector<int32_t>> prompts,
                                                    std::span<const size_t> order) {
  const auto vocabulary = static_cast<size_t>(session.model().info().vocabulary);
  std::map<size_t, std::vector<double>> scores;
  for (const size_t index : order) {
    const std::vector<int32_t>& prompt = prompts[index];
    const auto held = session.tokens();
    const auto differs = std::ranges::mismatch(held, prompt).in1;
    const auto shared = std::min<int64_t>(differs - held.begin(), static_cast<int64_t>(prompt.size()) - 1);
    session.Truncate(shared);
    std::vector<double> logits((prompt.size() - shared) * vocabulary);
    session.Logits(std::span(prompt).subspan(shared), logits);
    scores[index].assign(logits.end() - vocabulary, logits.end());
  }
  return scores;
}

TEST(BR_67, PromptLogits_DependNeitherOnTheOrderOfPromptsNorOnReuse) {
  const auto model = Stories();
  for (const int block : {16, 32}) {
    std::vector<std::vector<int32_t>> prompts;
    for (const int64_t length : {block - 1, block, block + 1, 2 * block, 2 * block + 1}) {
      for (const int32_t last : {300, 401}) {
        prompts.emplace_back(length, 320);
        prompts.back().front() = 1, prompts.back()[length / 2] = 411, prompts.back().back() = last;
      }
    }
    std::vector<size_t> order(prompts.size());
    std::iota(order.begin(), order.end(), 0);
    Session fresh(model, {.block_tokens = block, .reuse = false});
    const auto want = ScoredInOrder(fresh, prompts, order);
    for (const bool reuse : {true, false}) {
      Session session(model, {.block_tokens = block, .reuse = reuse});
      std::ranges::reverse(order);
      EXPECT_EQ(ScoredInOrder(session, prompts, order), want) << "block " << block << ", reuse " << reuse;
    }
  }
}

TEST(Session, HostsControlWordWhileLoading_ChangesNoBit) {
  const std::vector<double> want = LogitsOf(Model::Embedded(), {});
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const std::vector<double> got = LogitsOf(Model::Embedded(), {});
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(got, want);
}

// What several sessions on one model compute at the same time is what each computes alone.
TEST(BR_77, SessionsOnOneModelInParallel_GiveTheirOwnText) {
  const auto model = Model::Embedded();
  const std::vector<std::string> prompts = {"Mia hid the red kite", "One morning", "Once upon a time", "Otto"};
  const auto text = [&](const std::string& prompt) {
    Session session(model, {.threads = 2});
    return session.Generate(prompt, {.seed = 5}, {.max_tokens = 40}).text;
  };
  std::vector<std::string> alone, together(prompts.size());
  for (const std::string& prompt : prompts) alone.push_back(text(prompt));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < prompts.size(); ++i) threads.emplace_back([&, i] { together[i] = text(prompts[i]); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
}

// The same prompt again after truncation, at lengths around a block: first logits and text as in a cold run.
TEST(BR_33, WholePromptAlreadyCached_ComputesItsLastTokenAgain) {
  const auto model = Model::Embedded();
  for (const size_t length : {1, 15, 16, 17, 31, 32, 33}) {
    std::vector<int32_t> prompt;
    for (size_t i = 0; i < length; ++i) prompt.push_back(static_cast<int32_t>(259 + i));
    Session session(model, {.block_tokens = 16});
    const std::vector<int32_t> cold = session.Generate(prompt, kGreedy, {.max_tokens = 8}).tokens;
    for (int again = 0; again < 2; ++again) {
      session.Truncate(static_cast<int64_t>(length));
      const GenerateResult warm = session.Generate(std::span<const int32_t>(), kGreedy, {.max_tokens = 8});
      EXPECT_EQ(warm.tokens, cold) << length;
      EXPECT_EQ(warm.stats.cached_tokens, static_cast<int64_t>(length) - 1);
    }
  }
}

TEST(Session, RefusedCalls_NameTheNumbersAndChangeNothing) {
  const auto model = Stories();
  Session session(model);
  const GenerateResult before = session.Generate("Lily", kGreedy, {.max_tokens = 5});
  const int64_t length = session.length();
  const std::vector<int32_t> bad = {5, 512}, negative = {-1}, many(520, 5);
  const auto generate = [&](const std::vector<int32_t>& prompt) {
    session.Generate(prompt, kGreedy, {.max_tokens = 5});
  };
  EXPECT_NE(Message([&] { generate(bad); }).find("512"), std::string::npos);
  EXPECT_NE(Message([&] { generate(negative); }).find("-1"), std::string::npos);
  EXPECT_NE(Message([&] { generate(many); }).find("520"), std::string::npos);
  EXPECT_NE(Message([&] { session.Generate("x", {.temperature = -1}, {}); }).find("temperature"), std::string::npos);
  EXPECT_EQ(session.length(), length);
  Session fresh(model);
  fresh.Generate("Lily", kGreedy, {.max_tokens = 5});
  EXPECT_EQ(session.Generate("", kGreedy, {.max_tokens = 20}).tokens,
            fresh.Generate("", kGreedy, {.max_tokens = 20}).tokens);
}

TEST(Session, OptionsOutOfRange_AreRefusedNotChanged) {
  const auto model = Stories();
  EXPECT_NE(Message([&] { Session(model, {.context = 513}); }).find("512"), std::string::npos);
  EXPECT_NE(Message([&] { Session(model, {.block_tokens = 17}); }).find("17"), std::string::npos);
  EXPECT_NE(Message([&] { Session(model, {.dtype_k = DType::kF64}); }), "");
  EXPECT_NE(Message([&] { Session(model, {.chunk = 0}); }).find("chunk"), std::string::npos);
  EXPECT_NE(Message([&] { Session(model, {.target = "sse2"}); }).find("sse2"), std::string::npos);
}

TEST(Session, CancelFromAnotherThread_EndsTheCallAndTheSequenceGoesOn) {
  Session session(Model::Embedded());
  int pieces = 0;
  const GenerateResult result =
      session.Generate("Once", {.seed = 1}, {.max_tokens = 500, .ignore_end = true}, [&](std::string_view) {
        if (++pieces == 10) std::thread([&] { session.Cancel(); }).join();
      });
  EXPECT_EQ(result.finish, FinishReason::kCancelled);
  EXPECT_LT(result.tokens.size(), 100u);
  EXPECT_EQ(session.Generate("", kGreedy, {.max_tokens = 3, .ignore_end = true}).tokens.size(), 3u);
}

// Stopped while it generates, or before it begins: what comes next on the same cache is what a fresh one gives.
TEST(BR_79, AbortedPrompts_LeaveNothingInLaterTexts) {
  const auto model = Model::Embedded();
  const auto victim = [](Session& session) {
    session.Truncate(0);
    return session.Generate("One morning", kGreedy, {.max_tokens = 20}).text;
  };
  Session fresh(model), session(model);
  const std::string want = victim(fresh);
  for (int stop = 0; stop < 24; ++stop) {
    session.Truncate(0);
    int pieces = 0;
    const auto end = [&](std::string_view) {
      if (++pieces > stop) session.Cancel();
    };
    session.Generate("Mia hid the red kite", kGreedy, {.max_tokens = 40, .ignore_end = true}, end);
    EXPECT_EQ(victim(session), want) << "aborted after " << stop;
  }
}

// A call that waits or runs elsewhere is no concern of this one's.
TEST(BR_42, CancellingOtherSessions_EndsNoRunningOne) {
  const auto model = Model::Embedded();
  const StopOptions stops{.max_tokens = 60, .ignore_end = true};
  Session alone(model), running(model), idle(model), busy(model);
  const GenerateResult want = alone.Generate("Once", kGreedy, stops);
  std::thread other([&] { busy.Generate("Otto", kGreedy, stops); });
  const GenerateResult got = running.Generate("Once", kGreedy, stops, [&](std::string_view) {
    idle.Cancel();
    busy.Cancel();
  });
  other.join();
  EXPECT_EQ(got.finish, FinishReason::kLength);
  EXPECT_EQ(got.tokens, want.tokens);
}

// The reader is gone: no token is computed that nobody will see, and the sequence can be dropped at once.
TEST(BR_41, CancelledInADelivery_EndsBeforeTheNextStep) {
  const auto model = Model::Embedded();
  for (const int64_t after : {1, 2, 30}) {
    Session session(model);
    int64_t pieces = 0, computed = 0;
    const auto deliver = [&](std::string_view) {
      if (++pieces != after) return;
      computed = session.length();
      session.Cancel();
    };
    const GenerateResult result = session.Generate("Once", kGreedy, {.max_tokens = 500, .ignore_end = true}, deliver);
    EXPECT_EQ(result.finish, FinishReason::kCancelled);
    EXPECT_LE(session.length(), computed + 1);
    session.Truncate(0);
    EXPECT_EQ(session.cache().held(0).blocks, 0);
  }
}

TEST(Model, EmbeddedModel_IsALlamaWithGroupedHeadsUnderOneAndAHalfMegabytes) {
  const auto model = Model::Embedded();
  EXPECT_EQ(model->info().architecture, "llama");
  EXPECT_EQ(model->info().context, 1024);
  EXPECT_LE(model->info().file_bytes, 1'500'000u);
  EXPECT_LT(model->info().layers[0].kv_heads, model->info().layers[0].q_heads);
  const std::vector<int32_t> tokens = model->tokenizer().Encode("One morning, Mia hid the red kite.");
  EXPECT_EQ(model->tokenizer().Decode(tokens), "One morning, Mia hid the red kite.");
}

}  // namespace
}  // namespace ekvi
