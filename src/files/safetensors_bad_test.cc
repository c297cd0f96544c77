// Goal: a broken or hostile safetensors file is refused by name, and no byte of a file is used twice or not at all.
// Method: a file for each way the header can lie, the shared folder of broken files, cuts at every byte, and seeded
// mutations.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "files/safetensors.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::files {
namespace {

std::string File(std::string_view json, std::string_view data) {
  return GgufBytes<uint64_t>(json.size()) + std::string(json) + std::string(data);
}

void Parse(const std::string& bytes) { SafetensorsFile::Borrow(AsBytes(bytes), "memory.safetensors"); }

std::string Tensor(std::string_view name, std::string_view type, std::string_view shape, std::string_view offsets) {
  return "\"" + std::string(name) + R"(":{"dtype":")" + std::string(type) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":)" + std::string(offsets) + "}";
}

TEST(BR_83, ShapeLargerThanItsBytes_IsRefused) {
  ExpectError(ErrorCode::kCorrupt, {"'k'", "[1000, 1000]", "4,000,000 bytes", "4"},
              [] { Parse(File("{" + Tensor("k", "F32", "[1000,1000]", "[0,4]") + "}", "xxxx")); });
}

TEST(BR_83, ReversedOffsets_AreRefused) {
  ExpectError(ErrorCode::kCorrupt, {"'k'", "reversed", "offsets 8 to 4"},
              [] { Parse(File("{" + Tensor("k", "F32", "[1]", "[8,4]") + "}", "xxxxxxxx")); });
}

TEST(BR_83, TwoTensorsOnTheSameBytes_AreRefused) {
  ExpectError(ErrorCode::kCorrupt, {"'v'", "'k'", "overlaps", "0 to 4"}, [] {
    Parse(File("{" + Tensor("k", "F32", "[1]", "[0,4]") + "," + Tensor("v", "F32", "[1]", "[0,4]") + "}", "xxxx"));
  });
}

TEST(BR_83, UnknownTypeWithHugeOffset_IsRefused) {
  ExpectError(ErrorCode::kUnsupported, {"'k'", "'F13'"},
              [] { Parse(File("{" + Tensor("k", "F13", "[1]", "[0,18446744073709551612]") + "}", "xxxx")); });
  ExpectError(ErrorCode::kCorrupt, {"'k'", "data_offsets", "18,446,744,073,709,551,612"},
              [] { Parse(File("{" + Tensor("k", "F32", "[1]", "[0,18446744073709551612]") + "}", "xxxx")); });
}

TEST(BR_83, HeaderLengthThatCannotBe_IsRefused) {
  for (const uint64_t length : {~uint64_t{0}, ~uint64_t{0} - 7, uint64_t{100'000'001}, uint64_t{3}}) {
    ExpectError(ErrorCode::kCorrupt, {"header length", "10 bytes"}, [&] { Parse(GgufBytes(length) + "{}"); });
  }
  for (const uint64_t length : {0, 1}) {
    ExpectError(ErrorCode::kCorrupt, {"header length", "too small"}, [&] { Parse(GgufBytes(length) + "{}"); });
  }
  const std::string long_header = "{}" + std::string(33u << 20, ' ');
  ExpectError(ErrorCode::kUnsupported, {"header is too long", "33,554,432"}, [&] { Parse(File(long_header, "")); });
}

TEST(BR_83, LargeFilePointer_IsCalledWhatItIs) {
  ExpectError(ErrorCode::kCorrupt, {"not a safetensors file", "pointer", "git lfs pull"},
              [] { Parse("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"); });
}

TEST(BR_83, GapsAndTrailingBytes_AreRefused) {
  ExpectError(ErrorCode::kCorrupt, {"'k'", "belong to nothing"},
              [] { Parse(File("{" + Tensor("k", "F32", "[1]", "[4,8]") + "}", "xxxxxxxx")); });
  ExpectError(ErrorCode::kCorrupt, {"after the last tensor", "4", "8"},
              [] { Parse(File("{" + Tensor("k", "F32", "[1]", "[0,4]") + "}", "xxxxxxxx")); });
  ExpectError(ErrorCode::kCorrupt, {"after the last tensor"}, [] { Parse(File("{}", "x")); });
}

TEST(BR_83, FileOfMetadataOnly_IsLegal) { EXPECT_NO_THROW(Parse(File(R"({"__metadata__":{"format":"pt"}})", ""))); }

struct BadHeader {
  const char* json;
  std::initializer_list<std::string_view> named;
};

TEST(SafetensorsBad, HeadersThatBreakARule_AreRefusedByName) {
  const BadHeader headers[] = {
      {R"([])", {"header", "JSON", "byte 0"}},
      {R"(  x)", {"header", "JSON", "byte 2"}},
      {"\xEF\xBB\xBF{}", {"header", "JSON"}},
      {R"({} {})", {"header", "JSON", "byte"}},
      {R"({"a":)", {"JSON", "byte"}},
      {R"({"a":{},})", {"'a'", "'dtype' is missing"}},
      {R"({"a":1})", {"'a'", "number 1"}},
      {R"({"a":null})", {"'a'", "null"}},
      {R"({"a":[]})", {"'a'", "array"}},
      {R"({"a":{"dtype":{}}})", {"'a'", "dtype", "object"}},
      {R"({"a":{"dtype":["F32"]}})", {"'a'", "dtype", "array"}},
      {R"({"a":{"dtype":true}})", {"'a'", "dtype", "bool"}},
      {R"({"a":{"shape":"x"}})", {"'a'", "shape", "string"}},
      {R"({"a":{"shape":[[1]]}})", {"'a'", "shape", "array", "depth 3"}},
      {R"({"a":{"shape":[-1]}})", {"'a'", "shape", "-1"}},
      {R"({"a":{"shape":[-0]}})", {"'a'", "shape"}},
      {R"({"a":{"shape":[1.0]}})", {"'a'", "shape", "1.0"}},
      {R"({"a":{"shape":[1e3]}})", {"'a'", "shape", "1e3"}},
      {R"({"a":{"shape":[01]}})", {"JSON", "byte"}},
      {R"({"a":{"shape":[99999999999999999999999]}})", {"'a'", "shape", "99999999999999999999999"}},
      {R"({"a":{"shape":[9007199254740993]}})", {"'a'", "shape", "9,007,199,254,740,993"}},
      {R"({"a":{"shape":["1"]}})", {"'a'", "shape", "string"}},
      {R"({"a":{"data_offsets":[0]}})", {"'a'", "data_offsets", "1 numbers"}},
      {R"({"a":{"data_offsets":[0,1,2]}})", {"'a'", "data_offsets", "more than 2"}},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", {"'a'", "'dtype'", "twice"}},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"extra":1}})", {"'a'", "'extra'", "unknown member"}},
      {R"({"a":{"dtype":"F32","shape":[0]}})", {"'a'", "'data_offsets' is missing"}},
      {R"({"a":{"dtype":"F32","data_offsets":[0,0]}})", {"'a'", "'shape' is missing"}},
      {R"({"":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", {"a bad tensor name"}},
      {R"({"a\u0000b":{}})", {"a bad tensor name"}},
      {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
       {"'a'", "duplicate"}},
      {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", {"'a'", "whole number of bytes", "[3]"}},
      {R"({"__metadata__":{"k":1}})", {"__metadata__", "'k'", "number 1"}},
      {R"({"__metadata__":{"k":{}}})", {"__metadata__", "'k'", "object"}},
      {R"({"__metadata__":{"k":"a","k":"b"}})", {"'k'", "duplicate"}},
      {R"({"__metadata__":{},"__metadata__":{}})", {"__metadata__", "twice"}},
      {R"({"__metadata__":"x"})", {"__metadata__", "string"}},
      {R"({"k":NaN})", {"JSON"}},
      {R"({/*c*/})", {"JSON"}},
      {R"({"\ud800":{}})", {"JSON"}},
      {"{\"a\tb\":{}}", {"JSON"}},
      {"{\"\xFF\":{}}", {"JSON"}},
  };
  for (const BadHeader& bad : headers) {
    SCOPED_TRACE(bad.json);
    ExpectError(ErrorCode::kCorrupt, bad.named, [&] { Parse(File(bad.json, "")); });
  }
  ExpectError(ErrorCode::kCorrupt, {"NUL"}, [] { Parse(File(std::string("{}\0rest", 7), "")); });
  ExpectError(ErrorCode::kUnsupported, {"'a'", "shape", "more than 8"},
              [] { Parse(File(R"({"a":{"shape":[1,1,1,1,1,1,1,1,1]}})", "")); });
  ExpectError(ErrorCode::kCorrupt, {"a bad tensor name", "513 bytes"},
              [] { Parse(File("{\"" + std::string(513, 'n') + "\":{}}", "")); });
}

TEST(SafetensorsBad, DeepNesting_IsRefusedWithoutRecursion) {
  for (const char* opener : {"[", "{\"a\":"}) {
    std::string json = R"({"a":{"shape":)";
    for (int i = 0; i < 1'000'000; ++i) json += opener;
    ExpectError(ErrorCode::kCorrupt, {"'a'", "depth"}, [&] { Parse(File(json, "")); });
  }
}

TEST(SafetensorsBad, ShapeProductsThatWrap_AreRefused) {
  for (const char* shape : {"[8589934592,8589934592]", "[4294967296,4294967296,16]", "[9007199254740992,2048,1]"}) {
    ExpectError(ErrorCode::kCorrupt, {"'t'", "overflows"},
                [&] { Parse(File("{" + Tensor("t", "F32", shape, "[0,0]") + "}", "")); });
  }
}

TEST(SafetensorsBad, TooManyTensors_AreUnsupported) {
  std::string json = "{";
  for (int i = 0; i <= 65'536; ++i)
    json += (i == 0 ? "" : ",") + Tensor("t" + std::to_string(i), "F32", "[0]", "[0,0]");
  ExpectError(ErrorCode::kUnsupported, {"too many tensors", "65,536"}, [&] { Parse(File(json + "}", "")); });
}

TEST(SafetensorsBad, SharedFiles_AreRefusedByName) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good"));
  struct BadFile {
    const char* folder;
    ErrorCode code;
    std::initializer_list<std::string_view> named;
  };
  const BadFile files[] = {
      {"header_length", ErrorCode::kCorrupt, {"header length 4,611,686,018,427,387,904", "bytes"}},
      {"header_length_past_end", ErrorCode::kCorrupt, {"header length", "bytes"}},
      {"file_short", ErrorCode::kCorrupt, {"truncated", "5 bytes"}},
      {"header_not_json", ErrorCode::kCorrupt, {"header", "JSON", "byte"}},
      {"header_cut", ErrorCode::kCorrupt, {"header", "JSON", "byte"}},
      {"header_deep", ErrorCode::kCorrupt, {"header"}},
      {"offsets_overlap", ErrorCode::kCorrupt, {"self_attn.v_proj.weight", "self_attn.q_proj.weight", "offsets"}},
      {"offsets_past_end", ErrorCode::kCorrupt, {"lm_head.weight", "offsets", "bytes"}},
      {"offsets_reversed", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "offsets"}},
      {"offsets_negative", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "data_offsets", "-8"}},
      {"offsets_size", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "needs", "give"}},
      {"data_truncated", ErrorCode::kCorrupt, {"past the end of the file"}},
      {"shape_overflow", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "[8589934592, 8589934592]"}},
      {"shape_wrap", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight"}},
      {"shape_negative", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "shape", "-4"}},
      {"dtype_unknown", ErrorCode::kUnsupported, {"model.layers.0.self_attn.v_proj.weight", "F13"}},
      {"field_missing", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "data_offsets"}},
      {"name_duplicate", ErrorCode::kCorrupt, {"model.layers.0.self_attn.v_proj.weight", "duplicate"}},
  };
  for (const BadFile& bad : files) {
    SCOPED_TRACE(bad.folder);
    const auto path = testing::SharedPath("models/bad") / bad.folder / "model.safetensors";
    ExpectError(bad.code, bad.named, [&] { SafetensorsFile::Open(path); });
  }
  EXPECT_NO_THROW(SafetensorsFile::Open(testing::SharedPath("models/bad/good/model.safetensors")));
  const auto integers = SafetensorsFile::Open(testing::SharedPath("models/bad/dtype_integer/model.safetensors"));
  ExpectError(ErrorCode::kUnsupported, {"model.layers.0.self_attn.v_proj.weight", "I32"},
              [&] { integers.ReadF64("model.layers.0.self_attn.v_proj.weight"); });
}

std::string GoodFile() { return testing::ContentOf(testing::SharedPath("models/bad/good/model.safetensors")); }

TEST(BR_45, SafetensorsCutAtAnyByte_IsRefused) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good"));
  const std::string good = GoodFile();
  for (size_t size = 0; size < good.size(); ++size) {
    ExpectError(ErrorCode::kCorrupt, {"memory.safetensors"}, [&] { Parse(good.substr(0, size)); });
  }
}

TEST(SafetensorsBad, Mutants_AreRefusedOrRead) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good"));
  constexpr uint64_t kSeed = 83;
  const std::string good = GoodFile();
  uint64_t length;
  std::memcpy(&length, good.data(), sizeof(length));
  base::Random random(kSeed);
  int parsed = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = good;
    for (uint64_t i = 0, changes = 1 + random.Below(3); i < changes; ++i) {
      static constexpr char kSigns[] = "0123456789{}[]\":,-.e\\u \xFF";
      bytes[random.Below(8 + length)] =
          random.Below(4) == 0 ? static_cast<char>(random.Bits()) : kSigns[random.Below(sizeof(kSigns) - 1)];
    }
    try {
      const SafetensorsFile file = SafetensorsFile::Borrow(AsBytes(bytes), "mutant");
      for (const SafetensorsTensor& tensor : file.tensors()) {
        if (tensor.type->name != "F32") continue;
        EXPECT_EQ(file.ReadF64(tensor.name).size() * 4, file.Data(tensor).size());
      }
      ++parsed;
    } catch (const Error& error) {
      EXPECT_FALSE(error.summary().empty());
    }
  }
  std::printf("seed %d: %d of 4000 mutants parsed\n", static_cast<int>(kSeed), parsed);
}

}  // namespace
}  // namespace ekvi::files
