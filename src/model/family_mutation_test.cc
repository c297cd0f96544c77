// Goal: a model's files with bytes flipped or missing, and the broken ones that are shared, are refused or work, each
// in less than a second and 64 MiB; nothing crashes or hangs. Method: the shared small models, seeded mutations of what
// describes their tensors, then a step.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include "base/random.h"
#include "ekvi/error.h"
#include "files/gguf_parts.h"
#include "model/decoder_testing.h"
#include "model/family_testing.h"
#include "model/model_loader.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::model::testing {
namespace {

namespace fs = std::filesystem;
using ekvi::testing::ContentOf;
using ekvi::testing::SharedPath;
using ekvi::testing::TemporaryFolder;

constexpr uint64_t kSeed = 20261130;

struct Tally {
  int refused = 0, worked = 0;
};

// Whether it loads: then a few tokens run. Any exception but ekvi's own fails the test.
template <typename Load>
void Try(const Load& load, Tally& tally) {
  try {
    Decoder<float> decoder(load(), OwnSettings<float>());
    ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 8});
    const auto count = static_cast<size_t>(std::min<int64_t>(4, decoder.config().context));
    const auto last = static_cast<int32_t>(decoder.config().vocabulary - 1);
    const std::vector<int32_t> tokens = {std::min(1, last), std::min(2, last), std::min(3, last), 0};
    FeedRow<float>(decoder, cache, 0, std::span(tokens).first(count));
    ++tally.worked;
  } catch (const Error& error) {
    EXPECT_FALSE(error.summary().empty());
    ++tally.refused;
  }
}

// The bytes below `end` with some of them changed, or all from somewhere on missing.
std::string Mutated(const std::string& bytes, size_t end, base::Random& random) {
  std::string mutated = bytes;
  if (random.Below(4) == 0) return mutated.substr(0, random.Below(end));
  const auto flips = 1 + random.Below(3);
  for (uint64_t i = 0; i < flips; ++i) {
    char& at = mutated[random.Below(end)];
    switch (random.Below(3)) {
      case 0:
        at = static_cast<char>(at ^ (1 << random.Below(8)));
        break;
      case 1:
        at = static_cast<char>(random.Below(256));
        break;
      default:
        at = static_cast<char>('0' + random.Below(10));
    }
  }
  return mutated;
}

size_t HeaderEnd(const std::string& safetensors) {
  uint64_t length;
  std::memcpy(&length, safetensors.data(), sizeof(length));
  return static_cast<size_t>(length) + sizeof(length);
}

class Mutation : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path shared() const { return SharedPath("models/tiny") / GetParam(); }

  // Mutates one file of a copy of the folder, `count` times.
  void MutateFile(const TemporaryFolder& copy, const std::string& name, int count, base::Random& random, Tally& tally) {
    const std::string content = ContentOf(shared() / name);
    const size_t end = name.ends_with(".safetensors") ? HeaderEnd(content) : content.size();
    for (int i = 0; i < count; ++i) {
      copy.Write(name, Mutated(content, end, random));
      Try([&] { return WeightsOf<float>(copy.path()); }, tally);
    }
    copy.Write(name, content);
  }
};

TEST_P(Mutation, FolderWithBytesChanged_IsRefusedOrWorks) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  base::Random random(kSeed);
  const TemporaryFolder copy("mutation");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(shared())) {
    const std::string name = entry.path().filename().string();
    if (name != "config.json" && !name.starts_with("model")) continue;
    if (name == "model.gguf") continue;
    copy.Write(name, ContentOf(entry.path()));
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  Tally tally;
  for (const std::string& name : names) MutateFile(copy, name, name == "config.json" ? 120 : 40, random, tally);
  std::printf("%d refused, %d worked\n", tally.refused, tally.worked);
  EXPECT_GT(tally.refused, 20);
  Tally whole;
  Try([&] { return WeightsOf<float>(copy.path()); }, whole);
  EXPECT_EQ(whole.worked, 1);
}

TEST_P(Mutation, GgufWithBytesChanged_IsRefusedOrWorks) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  base::Random random(kSeed + 1);
  const std::string content = ContentOf(shared() / "model.gguf");
  const auto parts = files::GgufParts::Borrow(std::as_bytes(std::span(content)), "whole");
  uint64_t data = content.size();
  for (const auto& place : parts->tensors()) data = std::min(data, place.tensor->offset);
  Tally tally;
  for (int i = 0; i < 80; ++i) {
    const std::string mutated = Mutated(content, data, random);
    Try([&] { return WeightsOfBytes<float>(mutated); }, tally);
  }
  std::printf("%d refused, %d worked\n", tally.refused, tally.worked);
  EXPECT_GT(tally.refused, 10);
}

// ---- memory and time

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // maps terabytes, takes its time
#else
constexpr bool kSanitized = false;
#endif

// On one processor, so with the stack of one thread: 64 MiB of addresses more than there are now are not to be had.
void LimitMemory() {
  if (kSanitized) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
  const rlimit bytes{limit, limit};
  setrlimit(RLIMIT_AS, &bytes);
}

enum Outcome { kFine, kNoMemory, kSlow, kOtherError };

// What comes of `load`, in less than a second of processor time.
Outcome OutcomeOf(const std::function<void()>& load) {
  const std::clock_t before = std::clock();
  try {
    load();
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  } catch (...) {
    return kOtherError;
  }
  return !kSanitized && std::clock() - before > CLOCKS_PER_SEC ? kSlow : kFine;
}

// In a process of its own, which stops at the first that is not fine.
Outcome InLittle(const std::vector<std::function<void()>>& loads) {
  const pid_t child = fork();
  if (child == 0) {
    LimitMemory();
    for (const auto& load : loads) {
      if (const Outcome outcome = OutcomeOf(load); outcome != kFine) _exit(outcome);
    }
    _exit(kFine);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<Outcome>(WEXITSTATUS(status)) : kOtherError;
}

TEST(BR_82, BrokenModels_TakeLittleMemoryAndTime) {
  EKVI_SKIP_WITHOUT(SharedPath("models/bad"));
  for (const auto& entry : fs::directory_iterator(SharedPath("models/bad"))) {
    if (!entry.is_directory() && entry.path().extension() != ".gguf") continue;
    for (const Compute compute : {Compute::kAuto, Compute::kF64})
      EXPECT_EQ(InLittle({[&] { LoadModel(entry.path(), compute); }}), kFine) << entry.path();
  }
}

TEST_P(Mutation, MutatedModels_TakeLittleMemoryAndTime) {
  base::Random random(kSeed + 2);
  const TemporaryFolder copy("mutation");
  std::string gguf, config;
  for (const auto& entry : fs::directory_iterator(shared())) {
    const std::string name = entry.path().filename().string(), content = ContentOf(entry.path());
    if (name == "model.gguf") gguf = content;
    if (name == "config.json") config = content;
    if (name.ends_with(".json") || name.ends_with(".safetensors")) copy.Write(name, content);
  }
  std::vector<std::function<void()>> loads;
  for (int i = 0; i < 40; ++i) {
    loads.push_back([bytes = Mutated(gguf, gguf.size() / 4, random)] {
      LoadModelFrom(std::as_bytes(std::span(bytes)), "mutated", Compute::kAuto);
    });
    loads.push_back([text = Mutated(config, config.size(), random), &copy] {
      copy.Write("config.json", text);
      LoadModel(copy.path(), Compute::kAuto);
    });
  }
  EXPECT_EQ(InLittle(loads), kFine) << "seed " << kSeed;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Mutation);
INSTANTIATE_TEST_SUITE_P(Tiny, Mutation, ::testing::ValuesIn(TinyModels()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace ekvi::model::testing
