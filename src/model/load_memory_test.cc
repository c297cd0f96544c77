// Goal: loading a quantized model with its tokenizer takes little more memory than its file, at any time. Method:
// synthetic models of some tens of MB, written by a process of their own and loaded by another; the kernel's mark of
// the most resident memory of that.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/memory_limits.h"
#include "files/gguf_test_builder.h"
#include "model/gguf_model.h"
#include "model/weights.h"
#include "model/weights_gguf.h"
#include "numeric/block_testing.h"
#include "text/tokenizer.h"

namespace ekvi::model {
namespace {

using numeric::Format;

struct Sizes {
  int64_t width = 1024, ffn = 2816, vocabulary = 8192, layers = 8, heads = 8, kv_heads = 4;
};

// What a sanitizer keeps for every byte that the program touches (AddressSanitizer an eighth, ThreadSanitizer four
// bytes and two of metadata) is resident, too.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kShadow = 1.0 / 8;
#elif defined(__SANITIZE_THREAD__)
constexpr double kShadow = 6;
#else
constexpr double kShadow = 0;
#endif

// Byte-level pieces, each joined of two before it, and the merges that say so.
struct Vocabulary {
  std::vector<std::string> pieces, merges;

  explicit Vocabulary(size_t size) {
    base::Random random(2);
    std::set<std::string> taken;
    for (char c = '!'; c <= '~'; ++c) pieces.emplace_back(1, c);
    while (pieces.size() < size) {
      const std::string &left = pieces[random.Below(pieces.size())], &right = pieces[random.Below(pieces.size())];
      if (left.size() + right.size() > 12 || !taken.insert(left + right).second) continue;
      merges.push_back(left + " " + right);
      pieces.push_back(left + right);
    }
  }
};

// A Llama whose head is its embedding; all matrices in one format.
class SyntheticFile {
 public:
  SyntheticFile(const Sizes& sizes, Format format, uint32_t type)
      : sizes_(sizes),
        format_(format),
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
    builder_.String("general.architecture", "llama")
        .U32("llama.context_length", 128)
        .U32("llama.block_count", Count(sizes_.layers));
    builder_.U32("llama.embedding_length", Count(sizes_.width)).U32("llama.feed_forward_length", Count(sizes_.ffn));
    builder_.U32("llama.attention.head_count", Count(sizes_.heads));
    builder_.U32("llama.attention.head_count_kv", Count(sizes_.kv_heads));
    builder_.F32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    const Vocabulary vocabulary(static_cast<size_t>(sizes_.vocabulary));
    builder_.String("tokenizer.ggml.model", "gpt2").String("tokenizer.ggml.pre", "smollm");
    builder_.Strings("tokenizer.ggml.tokens", vocabulary.pieces).Strings("tokenizer.ggml.merges", vocabulary.merges);
    const auto [width, ffn, pieces, layers, heads, kv_heads] = sizes_;
    Matrix("token_embd.weight", pieces, width);
    for (int64_t i = 0; i < layers; ++i) {
      const std::string block = "blk." + std::to_string(i) + ".";
      Vector(block + "attn_norm.weight");
      Vector(block + "ffn_norm.weight");
      Matrix(block + "attn_q.weight", width, width);
      Matrix(block + "attn_k.weight", width / heads * kv_heads, width);
      Matrix(block + "attn_v.weight", width / heads * kv_heads, width);
      Matrix(block + "attn_output.weight", width, width);
      Matrix(block + "ffn_gate.weight", ffn, width);
      Matrix(block + "ffn_up.weight", ffn, width);
      Matrix(block + "ffn_down.weight", width, ffn);
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

  static uint32_t Count(int64_t number) { return static_cast<uint32_t>(number); }

  void Vector(const std::string& name) {
    std::string data;
    for (int64_t i = 0; i < sizes_.width; ++i) data += files::GgufBytes(1.0f);
    builder_.Tensor(name, {static_cast<uint64_t>(sizes_.width)}, 0, data);
  }

  Sizes sizes_;
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
  const auto tokenizer = text::LoadTokenizer(parts->first());
  const FamilyModel model = ReadGgufModel(*parts, tokenizer->vocabulary().size());
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

// Times the file. What is measured varies by huge pages (2 MiB) that are only begun.
constexpr double kMost = 1.25;

void ExpectLittleMemory(const Sizes& sizes, Format format, uint32_t type) {
  const SyntheticFile synthetic(sizes, format, type);
  const auto file_bytes = static_cast<double>(std::filesystem::file_size(synthetic.path()));
  ASSERT_GT(file_bytes, 20e6);
  const auto taken = static_cast<double>(TakenByAnother(synthetic.path()));
  std::printf("%-6s file %.1f MB, most resident %.2f times the file\n",
              std::string(numeric::FormatName(format)).c_str(), file_bytes / 1e6, taken / file_bytes);
  EXPECT_GT(taken, 0.5 * file_bytes) << "not measured";
  EXPECT_LE(taken, kMost * (1 + kShadow) * file_bytes) << numeric::FormatName(format);
}

TEST(LoadMemory, QuantizedModels_TakeLittleMoreThanTheirFile) {
  ExpectLittleMemory({}, Format::kQ4_0, 2);
  ExpectLittleMemory({}, Format::kQ4_K, 12);
  ExpectLittleMemory({}, Format::kMXFP4, 39);
}

// The shape of a public model of 135 million parameters: its vocabulary is a twentieth of the file as it is stored.
TEST(LoadMemory, SmallModelWithALargeVocabulary_TakesLittleMoreThanItsFile) {
  const Sizes sizes{.width = 576, .ffn = 1536, .vocabulary = 49152, .layers = 30, .heads = 9, .kv_heads = 3};
  ExpectLittleMemory(sizes, Format::kQ4_1, 3);
}

}  // namespace
}  // namespace ekvi::model
