// Goal: what a GGUF file holds comes out as it went in, typed, and a wrong type is an error that says so. Method: files
// written in memory with every type of the format, and the real files of the shared material.
#include "files/gguf.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "shared_path.h"

namespace ekvi::files {
namespace {

GgufFile Parse(const std::string& bytes) { return GgufFile::Borrow(AsBytes(bytes), "memory.gguf"); }

TEST(Gguf, AllScalarTypes_ComeOutAsWritten) {
  const std::string bytes = GgufBuilder()
                                .Value("t.u8", 0, GgufBytes<uint8_t>(200))
                                .Value("t.i8", 1, GgufBytes<int8_t>(100))
                                .Value("t.u16", 2, GgufBytes<uint16_t>(60000))
                                .Value("t.i16", 3, GgufBytes<int16_t>(30000))
                                .Value("t.u32", 4, GgufBytes<uint32_t>(4000000000u))
                                .Value("t.i32", 5, GgufBytes<int32_t>(2000000000))
                                .Value("t.u64", 10, GgufBytes<uint64_t>(uint64_t{1} << 63))
                                .Value("t.i64", 11, GgufBytes<int64_t>(int64_t{1} << 62))
                                .F32("t.f32", 1.5f)
                                .Value("t.f64", 12, GgufBytes<double>(0.1))
                                .Bool("t.bool", true)
                                .String("t.string", "héllo")
                                .Build();
  const GgufFile file = Parse(bytes);
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.alignment(), 32u);
  EXPECT_EQ(file.RequireUint("t.u8"), 200u);
  EXPECT_EQ(file.RequireUint("t.i8"), 100u);
  EXPECT_EQ(file.RequireUint("t.u16"), 60000u);
  EXPECT_EQ(file.RequireUint("t.i16"), 30000u);
  EXPECT_EQ(file.RequireUint("t.u32"), 4000000000u);
  EXPECT_EQ(file.RequireUint("t.i32"), 2000000000u);
  EXPECT_EQ(file.RequireUint("t.u64"), uint64_t{1} << 63);
  EXPECT_EQ(file.RequireUint("t.i64"), uint64_t{1} << 62);
  EXPECT_EQ(file.RequireF32("t.f32"), 1.5f);
  EXPECT_EQ(file.GetBool("t.bool"), true);
  EXPECT_EQ(file.RequireString("t.string"), "héllo");
  EXPECT_EQ(file.GetUint("missing"), std::nullopt);
  EXPECT_EQ(file.Find("missing"), nullptr);
  EXPECT_EQ(file.values().size(), 12u);
}

TEST(Gguf, Arrays_AreViewsOfTheFilesBytes) {
  const std::string bytes = GgufBuilder()
                                .Strings("a.strings", {"", "one", std::string("\0x", 2)})
                                .Items<float>("a.f32", 6, {1.0f, -2.5f})
                                .Items<int32_t>("a.i32", 5, {-1, 7})
                                .Items<uint32_t>("a.u32", 4, {9})
                                .Items<uint8_t>("a.bool", 7, {1, 0, 1})
                                .Build();
  const GgufFile file = Parse(bytes);
  const GgufStrings strings = file.RequireStrings("a.strings");
  EXPECT_EQ(std::vector<std::string>(strings.begin(), strings.end()),
            (std::vector<std::string>{"", "one", std::string("\0x", 2)}));
  for (const std::string_view item : strings) {
    EXPECT_GE(item.data(), bytes.data());
    EXPECT_LE(item.data() + item.size(), bytes.data() + bytes.size());
  }
  EXPECT_EQ(file.RequireF32s("a.f32")[1], -2.5f);
  EXPECT_EQ((*file.GetI32s("a.i32"))[0], -1);
  EXPECT_EQ((*file.GetU32s("a.u32"))[0], 9u);
  EXPECT_EQ(file.GetBools("a.bool")->size(), 3u);
  EXPECT_EQ((*file.GetBools("a.bool"))[2], 1);
}

TEST(Gguf, WrongType_NamesKeyTypeAndTypeWanted) {
  const std::string bytes = GgufBuilder()
                                .String("x.text", "8")
                                .Value("x.negative", 5, GgufBytes<int32_t>(-8))
                                .F32("x.f32", 1)
                                .Items<int32_t>("x.i32s", 5, {1})
                                .Build();
  const GgufFile file = Parse(bytes);
  ExpectError(ErrorCode::kCorrupt, {"memory.gguf", "x.text", "string", "u32"}, [&] { file.RequireUint("x.text"); });
  ExpectError(ErrorCode::kCorrupt, {"x.negative", "-8"}, [&] { file.RequireUint("x.negative"); });
  ExpectError(ErrorCode::kCorrupt, {"x.text", "string", "f32"}, [&] { file.RequireF32("x.text"); });
  ExpectError(ErrorCode::kCorrupt, {"x.f32", "f32", "bool"}, [&] { file.GetBool("x.f32"); });
  ExpectError(ErrorCode::kCorrupt, {"x.i32s", "array of i32", "array of string"},
              [&] { file.RequireStrings("x.i32s"); });
  ExpectError(ErrorCode::kCorrupt, {"x.i32s", "array of i32", "array of f32"}, [&] { file.RequireF32s("x.i32s"); });
  ExpectError(ErrorCode::kCorrupt, {"x.gone", "missing"}, [&] { file.RequireUint("x.gone"); });
}

TEST(Gguf, MetadataText_IsShortAndPrintable) {
  const std::string bytes = GgufBuilder()
                                .U32("a", 512)
                                .F32("b", 1e-5f)
                                .Bool("c", false)
                                .String("d", "two\nlines\x1b[31m\xff")
                                .String("e", std::string(1000, 'x'))
                                .Strings("f", {"p", "q"})
                                .Build();
  const auto text = Parse(bytes).MetadataText();
  ASSERT_EQ(text.size(), 6u);
  EXPECT_EQ(text[0], (std::pair<std::string, std::string>("a", "512")));
  EXPECT_EQ(text[1].second, "1e-05");
  EXPECT_EQ(text[2].second, "false");
  EXPECT_EQ(text[3].second, "two lines [31m\uFFFD");
  EXPECT_EQ(text[4].second, std::string(200, 'x') + "…");
  EXPECT_EQ(text[5].second, "[2]");
}

TEST(Gguf, Tensors_HaveShapeTypeAndTheirOwnBytes) {
  GgufBuilder builder;
  builder.version = 2;
  const std::string bytes = builder.Tensor("a", {3, 2}, 0, std::string(24, 'a'))
                                .Tensor("b", {32, 2}, 8, std::string(68, 'b'))
                                .Tensor("c", {256}, 16, std::string(66, 'c'))
                                .Build();
  const GgufFile file = Parse(bytes);
  EXPECT_EQ(file.version(), 2u);
  ASSERT_EQ(file.tensors().size(), 3u);
  const GgufTensor* b = file.FindTensor("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->ShapeText(), "[32, 2]");
  EXPECT_EQ(b->values, 64u);
  EXPECT_EQ(b->type->name, "Q8_0");
  EXPECT_EQ(file.ComputedFormat(*b), numeric::Format::kQ8_0);
  const auto data = file.Data(*b);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data()), data.size()), std::string(68, 'b'));
  EXPECT_EQ(file.FindTensor("d"), nullptr);
  ExpectError(ErrorCode::kUnsupported, {"memory.gguf", "'c'", "IQ2_XXS"},
              [&] { file.ComputedFormat(*file.FindTensor("c")); });
}

TEST(Gguf, TensorOrder_InTheFileIsFree) {
  const std::string bytes = GgufBuilder()
                                .TensorAt("late", {8}, 0, 64, std::string(32, 'x'))
                                .TensorAt("early", {8}, 0, 0, std::string(32, 'y'))
                                .TensorAt("middle", {8}, 0, 32, std::string(32, 'z'))
                                .Build();
  EXPECT_EQ(Parse(bytes).FindTensor("late")->offset, Parse(bytes).FindTensor("early")->offset + 64);
}

TEST(Gguf, OtherAlignments_PlaceTensorsAndCheckPadding) {
  for (const uint32_t alignment : {8u, 64u, 4096u, 65536u}) {
    GgufBuilder builder;
    builder.alignment = alignment;
    const std::string bytes =
        builder.U32("general.alignment", alignment).Tensor("a", {1}, 0, "aaaa").Tensor("b", {1}, 0, "bbbb").Build();
    const GgufFile file = Parse(bytes);
    EXPECT_EQ(file.alignment(), alignment);
    EXPECT_EQ(file.FindTensor("b")->offset, file.FindTensor("a")->offset + alignment);
  }
}

TEST(Gguf, MovedFile_KeepsItsViews) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  GgufFile file = GgufFile::Open(testing::SharedPath("models/bad/good.gguf"));
  const std::string_view name = file.RequireString("general.name");
  const GgufFile moved = std::move(file);
  EXPECT_EQ(moved.RequireString("general.name").data(), name.data());
  EXPECT_EQ(name, "bad");
}

TEST(Gguf, Shards_AreRefusedByName) {
  const std::string bytes = GgufBuilder().Value("split.count", 2, GgufBytes<uint16_t>(3)).Build();
  ExpectError(ErrorCode::kUnsupported, {"split.count", "3 files"}, [&] { Parse(bytes); });
}

TEST(Gguf, TensorTypes_AgreeWithTheirPublishedSizes) {
  const auto bits = [](uint32_t id) {
    const GgufTensorType* type = FindGgufTensorType(id);
    return type == nullptr ? 0.0 : 8.0 * type->block_bytes / type->block_values;
  };
  EXPECT_EQ(bits(0), 32);
  EXPECT_EQ(bits(2), 4.5);
  EXPECT_EQ(bits(8), 8.5);
  EXPECT_EQ(bits(10), 2.625);
  EXPECT_EQ(bits(11), 3.4375);
  EXPECT_EQ(bits(12), 4.5);
  EXPECT_EQ(bits(13), 5.5);
  EXPECT_EQ(bits(14), 6.5625);
  EXPECT_EQ(bits(16), 2.0625);
  EXPECT_EQ(bits(19), 1.5625);
  EXPECT_EQ(bits(23), 4.25);
  EXPECT_EQ(bits(29), 1.75);
  EXPECT_EQ(bits(34), 1.6875);
  EXPECT_EQ(bits(39), 4.25);
  for (const uint32_t removed : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    EXPECT_EQ(FindGgufTensorType(removed), nullptr);
    EXPECT_FALSE(RemovedGgufTensorType(removed).empty());
  }
  EXPECT_EQ(FindGgufTensorType(200), nullptr);
}

TEST(Gguf, RealModel_Stories260K) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  const GgufFile file = GgufFile::Open(testing::SharedPath("models/stories260K.gguf"));
  EXPECT_EQ(file.RequireString("general.architecture"), "llama");
  EXPECT_EQ(file.RequireUint("llama.attention.head_count_kv"), 4u);
  EXPECT_EQ(file.tensors().size(), 47u);
  EXPECT_EQ(file.FindTensor("blk.4.ffn_down.weight")->ShapeText(), "[172, 64]");
  EXPECT_EQ(file.Data(*file.FindTensor("token_embd.weight")).size(), 131072u);
  EXPECT_EQ(file.RequireStrings("tokenizer.ggml.tokens").size(), 512u);
}

TEST(Gguf, SharedFiles_AllParse) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad/good.gguf"));
  int count = 0;
  for (const char* folder : {"models/tiny", "models/quant", "tokenizers"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(testing::SharedPath(folder))) {
      if (entry.path().extension() != ".gguf") continue;
      ++count;
      EXPECT_NO_THROW(GgufFile::Open(entry.path())) << entry.path();
    }
  }
  EXPECT_GE(count, 35);
}

TEST(Gguf, MissingFile_IsNotFound) {
  ExpectError(ErrorCode::kNotFound, {"no-such-file.gguf"}, [] { GgufFile::Open("no-such-file.gguf"); });
}

}  // namespace
}  // namespace ekvi::files
