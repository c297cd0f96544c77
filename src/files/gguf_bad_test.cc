// Goal: a broken or hostile GGUF file is refused by name, at once and without much memory. Method: the shared folder of
// broken files with what each message must name, cuts at every byte of a small file, and crafted files.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "files/gguf.h"
#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::files {
namespace {

void Parse(const std::string& bytes) { GgufFile::Borrow(AsBytes(bytes), "memory.gguf"); }

struct BadFile {
  const char* file;
  ErrorCode code;
  std::initializer_list<std::string_view> named;
};

const BadFile kBadFiles[] = {
    {"empty", ErrorCode::kCorrupt, {"empty.gguf", "is empty"}},
    {"header_truncated", ErrorCode::kCorrupt, {"header", "truncated", "14"}},
    {"metadata_truncated", ErrorCode::kCorrupt, {"truncated", "tokenizer.ggml.tokens", "offset"}},
    {"tensor_info_truncated", ErrorCode::kCorrupt, {"truncated", "tensor"}},
    {"data_truncated", ErrorCode::kCorrupt, {"blk.0.attn_v.weight", "128 bytes expected", "4,988"}},
    {"no_data", ErrorCode::kCorrupt, {"data is missing"}},
    {"magic", ErrorCode::kCorrupt, {"not a GGUF file", "GGUX"}},
    {"version_1", ErrorCode::kUnsupported, {"version 1", "versions 2 and 3"}},
    {"version_99", ErrorCode::kUnsupported, {"version 99", "versions 2 and 3"}},
    {"version_big_endian", ErrorCode::kUnsupported, {"big-endian"}},
    {"tensor_count", ErrorCode::kCorrupt, {"tensor count", "9,223,372,036,854,775,808"}},
    {"key_count", ErrorCode::kCorrupt, {"key count", "9,223,372,036,854,775,808"}},
    {"string_length", ErrorCode::kCorrupt, {"string length 4,611,686,018,427,387,904", "offset"}},
    {"string_length_max", ErrorCode::kCorrupt, {"tensor", "string length 18,446,744,073,709,551,615", "offset"}},
    {"array_length", ErrorCode::kCorrupt, {"tokenizer.ggml.scores", "array length 4,611,686,018,427,387,904"}},
    {"array_nested", ErrorCode::kUnsupported, {"tokenizer.ggml.tokens", "nested array"}},
    {"array_nested_deep", ErrorCode::kUnsupported, {"x.deep", "nested array"}},
    {"array_item_type", ErrorCode::kCorrupt, {"tokenizer.ggml.token_type", "77"}},
    {"value_type", ErrorCode::kCorrupt, {"llama.rope.freq_base", "99"}},
    {"key_duplicate", ErrorCode::kCorrupt, {"llama.block_count", "duplicate"}},
    {"tensor_dims", ErrorCode::kCorrupt, {"blk.0.ffn_up.weight", "5 dimensions"}},
    {"tensor_dims_overflow", ErrorCode::kCorrupt, {"blk.0.ffn_up.weight", "[8589934592, 8589934592]"}},
    {"tensor_dims_wrap", ErrorCode::kCorrupt, {"blk.0.ffn_up.weight", "[8, 2305843009213693964]"}},
    {"tensor_dim_zero", ErrorCode::kCorrupt, {"blk.0.ffn_up.weight", "[8, 0]"}},
    {"tensor_type", ErrorCode::kUnsupported, {"blk.0.ffn_up.weight", "type 200"}},
    {"tensor_type_removed", ErrorCode::kUnsupported, {"blk.0.ffn_up.weight", "type 4", "Q4_2"}},
    {"tensor_type_block", ErrorCode::kCorrupt, {"blk.0.ffn_up.weight", "row length 8", "block length 256"}},
    {"tensor_offset_past_end", ErrorCode::kCorrupt, {"blk.0.attn_q.weight", "offset 1,048,576", "5,088"}},
    {"tensor_offset_overflow", ErrorCode::kCorrupt, {"blk.0.attn_q.weight", "offset 18,446,744,073,709,551,584"}},
    {"tensor_offset_misaligned", ErrorCode::kCorrupt, {"blk.0.ffn_down.weight", "offset 1,316", "alignment 32"}},
    {"tensor_overlap", ErrorCode::kCorrupt, {"blk.0.ffn_down.weight", "blk.0.ffn_up.weight", "overlaps"}},
    {"tensor_duplicate", ErrorCode::kCorrupt, {"blk.0.attn_q.weight", "duplicate"}},
    {"alignment_0", ErrorCode::kCorrupt, {"general.alignment", "0 (u32)"}},
    {"alignment_7", ErrorCode::kCorrupt, {"general.alignment", "7 (u32)"}},
    {"alignment_huge", ErrorCode::kCorrupt, {"general.alignment", "2147483648"}},
};

TEST(GgufBad, SharedFiles_AreRefusedByName) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  for (const BadFile& bad : kBadFiles) {
    SCOPED_TRACE(bad.file);
    const auto path = testing::SharedPath("models/bad") / (std::string(bad.file) + ".gguf");
    ExpectError(bad.code, bad.named, [&] { GgufFile::Open(path); });
  }
}

// Faults of the model in a file that is sound: the loader's, not the reader's.
TEST(GgufBad, ModelFaults_ParseAndAreSeenByTypedAccess) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  for (const char* name :
       {"good", "no_architecture", "unknown_architecture", "missing_key", "missing_tensor", "tensor_shape",
        "vocab_mismatch", "scores_mismatch", "bos_out_of_range", "more_layers", "heads_0", "heads_not_dividing",
        "rope_dims", "epsilon_nan", "missing_epsilon", "missing_vocabulary"}) {
    EXPECT_NO_THROW(GgufFile::Open(testing::SharedPath("models/bad") / (std::string(name) + ".gguf"))) << name;
  }
  const GgufFile file = GgufFile::Open(testing::SharedPath("models/bad/key_wrong_type.gguf"));
  ExpectError(ErrorCode::kCorrupt, {"llama.attention.head_count", "string", "u32"},
              [&] { file.RequireUint("llama.attention.head_count"); });
  const GgufFile bare = GgufFile::Open(testing::SharedPath("models/bad/no_architecture.gguf"));
  ExpectError(ErrorCode::kCorrupt, {"general.architecture", "missing"},
              [&] { bare.RequireString("general.architecture"); });
}

std::string GoodFile() { return testing::ContentOf(testing::SharedPath("models/bad/good.gguf")); }

// Only the zeros that fill up the end may be missing.
TEST(BR_45, FileCutAtAnyByte_IsRefused) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  const std::string good = GoodFile();
  ASSERT_EQ(good.size(), 5088u);
  ASSERT_NO_THROW(Parse(good));
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    ExpectError(ErrorCode::kCorrupt, {"memory.gguf"}, [&] { Parse(cut); });
  }
  ExpectError(ErrorCode::kCorrupt, {"output_norm.weight", "32 bytes expected", "31 are there", "5,087"},
              [&] { Parse(good.substr(0, good.size() - 1)); });
}

TEST(BR_45, OffsetPlusSizeThatWraps_IsRefused) {
  for (const uint64_t offset : {~uint64_t{0} - 31, ~uint64_t{0} - 63, uint64_t{1} << 63}) {
    const std::string bytes = GgufBuilder().TensorAt("t", {64}, 0, offset, std::string(256, 'x')).Build();
    ExpectError(ErrorCode::kCorrupt, {"'t'", "past the end"}, [&] { Parse(bytes); });
  }
}

TEST(GgufBad, BytesThatBelongToNothing_AreRefused) {
  const std::string data(32, 'x');
  ExpectError(ErrorCode::kCorrupt, {"after the last tensor", "32 bytes"},
              [&] { Parse(GgufBuilder().Tensor("a", {8}, 0, data).Build() + std::string(32, '\0')); });
  ExpectError(ErrorCode::kCorrupt, {"before tensor 'b'"}, [&] {
    Parse(GgufBuilder().TensorAt("a", {8}, 0, 0, data).TensorAt("b", {8}, 0, 64, data + data).Build());
  });
  ExpectError(ErrorCode::kCorrupt, {"padding that is not zero", "after the last tensor"},
              [&] { Parse(GgufBuilder().Tensor("a", {1}, 0, "aaaa").Build() + "x"); });
  std::string padded = GgufBuilder().Tensor("a", {8}, 0, data).Build();
  padded[padded.size() - 33] = 'x';
  ExpectError(ErrorCode::kCorrupt, {"padding that is not zero", "before the tensors"}, [&] { Parse(padded); });
  ExpectError(ErrorCode::kCorrupt, {"after the last tensor"},
              [&] { Parse(GgufBuilder().Build() + std::string(40, '\0')); });
}

TEST(GgufBad, EntriesThatBreakARule_AreNamed) {
  for (const char* key : {"", ".", "a..b", ".a", "a.", "a b", "a\nb", "caf\xC3\xA9"}) {
    ExpectError(ErrorCode::kCorrupt, {"a bad key"}, [&] { Parse(GgufBuilder().U32(key, 1).Build()); });
  }
  ExpectError(ErrorCode::kCorrupt, {"a bad key"},
              [&] { Parse(GgufBuilder().U32(std::string(65'536, 'k'), 1).Build()); });
  EXPECT_NO_THROW(Parse(GgufBuilder().U32(std::string(65'535, 'k'), 1).Build()));
  ExpectError(ErrorCode::kCorrupt, {"'b.flag'", "neither 0 nor 1", "byte 2"},
              [&] { Parse(GgufBuilder().Value("b.flag", 7, "\x02").Build()); });
  ExpectError(ErrorCode::kCorrupt, {"'b.flags'", "neither 0 nor 1"},
              [&] { Parse(GgufBuilder().Array("b.flags", 7, 2, "\x01\xFF").Build()); });
  ExpectError(ErrorCode::kCorrupt, {"general.alignment", "u64"},
              [&] { Parse(GgufBuilder().Value("general.alignment", 10, GgufBytes<uint64_t>(32)).Build()); });
  for (const std::string& name : {std::string(), std::string(64, 'n'), std::string("a\0b", 3), std::string("a\nb")}) {
    ExpectError(ErrorCode::kCorrupt, {"a bad name"},
                [&] { Parse(GgufBuilder().Tensor(name, {1}, 0, "xxxx").Build()); });
  }
  EXPECT_NO_THROW(Parse(GgufBuilder().Tensor(std::string(63, 'n'), {1}, 0, "xxxx").Build()));
  for (const uint32_t alignment : {1u, 2u, 4u, 24u, 131072u}) {
    ExpectError(ErrorCode::kCorrupt, {"general.alignment"},
                [&] { Parse(GgufBuilder().U32("general.alignment", alignment).Build()); });
  }
}

TEST(GgufBad, LimitsOfTheReader_AreUnsupportedNotCorrupt) {
  const std::string big(17u << 20, 'x');
  ExpectError(ErrorCode::kUnsupported, {"'k'", "string length 17,825,792", "16,777,216"},
              [&] { Parse(GgufBuilder().String("k", big).Build()); });
  ExpectError(ErrorCode::kUnsupported, {"'k'", "array length 17,825,792"},
              [&] { Parse(GgufBuilder().Array("k", 0, big.size(), big).Build()); });
  GgufBuilder builder;
  for (int i = 0; i <= 65'536; ++i) builder.Value("k" + std::to_string(i), 0, "x");
  ExpectError(ErrorCode::kUnsupported, {"key count 65,537"}, [&] { Parse(builder.Build()); });
}

std::string Header(uint64_t tensors, uint64_t keys) {
  return "GGUF" + GgufBytes<uint32_t>(3) + GgufBytes(tensors) + GgufBytes(keys);
}

std::string TensorInfo(const std::vector<uint64_t>& dims, uint32_t dim_count) {
  std::string info = GgufString("t") + GgufBytes(dim_count);
  for (const uint64_t dim : dims) info += GgufBytes(dim);
  return Header(1, 0) + info + GgufBytes<uint32_t>(0) + GgufBytes<uint64_t>(0);
}

// Each below 100 bytes.
std::vector<std::string> TinyHostileFiles() {
  const uint64_t huge = uint64_t{1} << 42;
  return {
      TensorInfo({4, 0}, 2),
      TensorInfo({1, 1, 1, 1, 1}, 5),
      TensorInfo({1}, 1'000'000),
      TensorInfo({1}, ~0u),
      TensorInfo({}, 0),
      TensorInfo({huge + 1, huge}, 2),
      TensorInfo({huge + 1}, 1),
      TensorInfo({uint64_t{1} << 40, uint64_t{1} << 40}, 2),
      TensorInfo({uint64_t{1} << 32, uint64_t{1} << 32}, 2),
      Header(0, 1) + GgufString("") + GgufBytes<uint32_t>(4) + GgufBytes<uint32_t>(1),
      Header(0, 1) + GgufBytes(uint64_t{1} << 63) + std::string(20, 'k'),
      Header(0, 1) + GgufString("k") + GgufBytes<uint32_t>(8) + GgufBytes(uint64_t{1} << 63),
      Header(0, 1) + GgufString("k") + GgufBytes<uint32_t>(9) + GgufBytes<uint32_t>(12) + GgufBytes(uint64_t{1} << 61),
      Header(0, 1) + GgufString("k") + GgufBytes<uint32_t>(9) + GgufBytes<uint32_t>(8) + GgufBytes(uint64_t{1} << 61),
      Header(0, 1) + GgufString("k") + GgufBytes<uint32_t>(9) + GgufBytes<uint32_t>(9) + GgufBytes(uint64_t{1}) +
          std::string(12, '\0'),
      Header(uint64_t{1} << 60, 0),
      Header(0, uint64_t{1} << 60),
      Header(3, 0) + std::string(70, '\0'),
      Header(0, 1) + GgufString("general.alignment") + GgufBytes<uint32_t>(4) + GgufBytes<uint32_t>(0),
      Header(0, 1) + GgufString("general.alignment") + GgufBytes<uint32_t>(4) + GgufBytes<uint32_t>(3),
  };
}

TEST(BR_82, TinyHostileFiles_AreRefused) {
  for (const std::string& file : TinyHostileFiles()) {
    EXPECT_LT(file.size(), 100u);
    ExpectError(ErrorCode::kCorrupt, {"memory.gguf"}, [&] {
      try {
        Parse(file);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kUnsupported) throw;
        throw Error(ErrorCode::kCorrupt, error.what());
      }
    });
  }
}

// In a process of its own: 64 MiB more than it has now are not to be had (not under AddressSanitizer, which maps
// terabytes).
TEST(BR_82, TinyHostileFiles_TakeLittleMemory) {
  const auto files = TinyHostileFiles();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
    const rlimit bytes{limit, limit};
    setrlimit(RLIMIT_AS, &bytes);
#endif
    int refused = 0;
    for (const std::string& file : files) {
      try {
        Parse(file);
      } catch (const Error&) {
        ++refused;
      } catch (...) {
        _exit(2);
      }
    }
    _exit(refused == static_cast<int>(files.size()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ekvi::files
