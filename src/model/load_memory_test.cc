// Goal: loading a quantized model takes at most 1.25 times its file in memory, at any time. Method: synthetic models of
// some tens of MB, written by a process of their own and loaded by another; the kernel's mark of the most
// resident memory of that.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/memory_limits.h"
#include "files/gguf_test_builder.h"
#include "model/gguf_model.h"
#include "model/weights.h"
#include "model/weights_gguf.h"
#include "numeric/block_testing.h"

namespace ekvi::model {
namespace {

using numeric::Format;

constexpr int64_t kWidth = 1024, kFfn = 2816, kVocabulary = 8192, kLayers = 8, kKvWidth = 512;

// What a sanitizer keeps for every byte that the program touches (AddressSanitizer an eighth, ThreadSanitizer four
// bytes and two of metadata) is resident, too.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kShadow = 1.0 / 8;
#elif defined(__SANITIZE_THREAD__)
constexpr double kShadow = 6;
#else
constexpr double kShadow = 0;
#endif

// A Llama whose head is its embedding; all matrices in one format.
class SyntheticFile {
 public:
  SyntheticFile(Format format, uint32_t type)
      : format_(format),
        type_(type),
        path_(std::filesystem::temp_directory_path() / ("ekvi-load-memory-" + std::to_string(::getpid()))) {
    const pid_t child = ::fork();
    if (child == 0) {
      Write();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  ~SyntheticFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  void Write() {
    builder_.String("general.architecture", "llama").U32("llama.context_length", 128).U32("llama.block_count", kLayers);
    builder_.U32("llama.embedding_length", kWidth).U32("llama.feed_forward_length", kFfn);
    builder_.U32("llama.attention.head_count", 8).U32("llama.attention.head_count_kv", 4);
    builder_.F32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    builder_.Strings("tokenizer.ggml.tokens", std::vector<std::string>(kVocabulary, "x"));
    Matrix("token_embd.weight", kVocabulary, kWidth);
    for (int i = 0; i < kLayers; ++i) {
      const std::string block = "blk." + std::to_string(i) + ".";
      Vector(block + "attn_norm.weight");
      Vector(block + "ffn_norm.weight");
      Matrix(block + "attn_q.weight", kWidth, kWidth);
      Matrix(block + "attn_k.weight", kKvWidth, kWidth);
      Matrix(block + "attn_v.weight", kKvWidth, kWidth);
      Matrix(block + "attn_output.weight", kWidth, kWidth);
      Matrix(block + "ffn_gate.weight", kFfn, kWidth);
      Matrix(block + "ffn_up.weight", kFfn, kWidth);
      Matrix(block + "ffn_down.weight", kWidth, kFfn);
    }
    Vector("output_norm.weight");
    std::ofstream(path_, std::ios::binary) << builder_.Build();
  }

  void Matrix(const std::string& name, int64_t rows, int64_t columns) {
    const numeric::RandomValues row(format_, static_cast<size_t>(columns), random_);
    const std::string stored(reinterpret_cast<const char*>(row.data()),
                             numeric::FormatBytes(format_, static_cast<size_t>(columns)));
    std::string data;
    for (int64_t i = 0; i < rows; ++i) data += stored;
    builder_.Tensor(name, {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)}, type_, data);
  }

  void Vector(const std::string& name) {
    std::string data;
    for (int64_t i = 0; i < kWidth; ++i) data += files::GgufBytes(1.0f);
    builder_.Tensor(name, {kWidth}, 0, data);
  }

  Format format_;
  uint32_t type_;
  std::filesystem::path path_;
  base::Random random_{1};
  files::GgufBuilder builder_;
};

// Loads the file; the bytes it took at most beside what the process held before.
uint64_t TakenToLoad(const std::filesystem::path& path) {
  const uint64_t before = base::PeakResidentBytes();
  const auto parts = files::GgufParts::Open(path);
  const FamilyModel model = ReadGgufModel(*parts, kVocabulary);
  base::ThreadPool pool(2);
  LoadWeights<float>(model.config, model.names, GgufSource(parts), pool, BlockArithmetic::kInt8);
  return base::PeakResidentBytes() - before;
}

// The same in a process of its own, whose mark of the most resident memory begins at what it has; 0 where that fails.
uint64_t TakenByAnother(const std::filesystem::path& path) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    const uint64_t taken = TakenToLoad(path);
    ::_exit(::write(ends[1], &taken, sizeof(taken)) == sizeof(taken) ? 0 : 1);
  }
  ::close(ends[1]);
  uint64_t taken = 0;
  if (::read(ends[0], &taken, sizeof(taken)) != sizeof(taken)) taken = 0;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return taken;
}

void ExpectLittleMemory(Format format, uint32_t type) {
  const SyntheticFile synthetic(format, type);
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(synthetic.path()));
  ASSERT_GT(file_bytes, 20e6);
  const auto taken = static_cast<double>(TakenByAnother(synthetic.path()));
  std::printf("%-6s file %.1f MB, most resident %.2f times the file\n",
              std::string(numeric::FormatName(format)).c_str(), file_bytes / 1e6, taken / file_bytes);
  EXPECT_GT(taken, 0.5 * file_bytes) << "not measured";
  EXPECT_LE(taken, 1.25 * (1 + kShadow) * file_bytes) << numeric::FormatName(format);
}

TEST(LoadMemory, QuantizedModels_TakeLittleMoreThanTheirFile) {
  ExpectLittleMemory(Format::kQ4_0, 2);
  ExpectLittleMemory(Format::kQ4_K, 12);
  ExpectLittleMemory(Format::kMXFP4, 39);
}

}  // namespace
}  // namespace ekvi::model
