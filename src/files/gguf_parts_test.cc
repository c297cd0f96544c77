// Goal: several files that belong together are one model, whichever is named, and any that do not are refused. Method:
// one file split by the test, then one part changed at a time.
#include "files/gguf_parts.h"

#include <gtest/gtest.h>

#include "files/gguf_split_testing.h"
#include "files/reader_expect_error.h"
#include "temporary_folder.h"

namespace ekvi::files {
namespace {

using ekvi::testing::TemporaryFolder;

std::string Whole(int tensors) {
  GgufBuilder builder;
  builder.String("general.architecture", "llama").U32("llama.block_count", 3);
  for (int i = 0; i < tensors; ++i)
    builder.Tensor("t" + std::to_string(i), {8}, 0, std::string(32, static_cast<char>('a' + i)));
  return builder.Build();
}

// Writes the parts of a file of 7 tensors; returns their paths.
std::vector<std::filesystem::path> WriteParts(const TemporaryFolder& folder, int count) {
  const std::string whole = Whole(7);
  const std::vector<std::string> parts = SplitGguf(GgufFile::Borrow(AsBytes(whole), "whole"), count);
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i) paths.push_back(folder.Write(PartName("model", i, count), parts[i]));
  return paths;
}

TEST(GgufParts, AnyOfTheFiles_OpensAllOfThem) {
  const TemporaryFolder folder("parts");
  for (const auto& path : WriteParts(folder, 3)) {
    const auto parts = GgufParts::Open(path);
    EXPECT_EQ(parts->files().size(), 3u);
    EXPECT_EQ(parts->tensors().size(), 7u);
    EXPECT_EQ(parts->first().RequireUint("llama.block_count"), 3u);
    for (int i = 0; i < 7; ++i) {
      const auto [file, tensor] = parts->Find("t" + std::to_string(i));
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(static_cast<char>(file->Data(*tensor)[31]), static_cast<char>('a' + i));
    }
    EXPECT_FALSE(parts->Has("t7"));
  }
}

TEST(GgufParts, OneFile_IsAModelOfOne) {
  const std::string whole = Whole(2);
  const auto parts = GgufParts::Borrow(AsBytes(whole), "whole");
  EXPECT_EQ(parts->tensors().size(), 2u);
  EXPECT_EQ(parts->file_bytes(), whole.size());
}

TEST(GgufParts, MissingFile_IsNamed) {
  const TemporaryFolder folder("parts");
  const auto paths = WriteParts(folder, 3);
  std::filesystem::remove(paths[2]);
  ExpectError(ErrorCode::kNotFound, {"model-00003-of-00003.gguf"}, [&] { GgufParts::Open(paths[0]); });
}

TEST(GgufParts, FilesThatDoNotBelongTogether_AreRefusedWithTheNumbers) {
  const TemporaryFolder folder("parts");
  const auto paths = WriteParts(folder, 3);
  std::filesystem::copy_file(paths[0], paths[1], std::filesystem::copy_options::overwrite_existing);
  ExpectError(ErrorCode::kCorrupt, {"model-00002-of-00003.gguf", "split.no", "0 of 3", "1 of 3"},
              [&] { GgufParts::Open(paths[0]); });
}

TEST(GgufParts, TensorInTwoFiles_IsNamed) {
  const TemporaryFolder folder("parts");
  const auto part = [](int number) {
    GgufBuilder builder;
    builder.Value("split.no", 2, GgufBytes(static_cast<uint16_t>(number)));
    builder.Value("split.count", 2, GgufBytes(static_cast<uint16_t>(2)));
    return builder.Tensor("twice", {8}, 0, std::string(32, 'x')).Build();
  };
  const auto first = folder.Write(PartName("model", 0, 2), part(0));
  folder.Write(PartName("model", 1, 2), part(1));
  ExpectError(ErrorCode::kCorrupt, {"'twice'", "another file"}, [&] { GgufParts::Open(first); });
}

TEST(GgufParts, TensorsTooFew_AreRefusedWithBothCounts) {
  const TemporaryFolder folder("parts");
  const auto paths = WriteParts(folder, 2);
  GgufBuilder builder;
  builder.Value("split.no", 2, GgufBytes(static_cast<uint16_t>(1)));
  builder.Value("split.count", 2, GgufBytes(static_cast<uint16_t>(2)));
  folder.Write(PartName("model", 1, 2), builder.Tensor("t1", {8}, 0, std::string(32, 'x')).Build());
  ExpectError(ErrorCode::kCorrupt, {"split.tensors.count", "7 said", "5 in 2 files"},
              [&] { GgufParts::Open(paths[0]); });
}

TEST(GgufParts, NameThatDoesNotSayWhichFileItIs_IsRefusedWithTheOneWanted) {
  const TemporaryFolder folder("parts");
  const auto paths = WriteParts(folder, 3);
  const auto renamed = folder.path() / "renamed.gguf";
  std::filesystem::rename(paths[1], renamed);
  ExpectError(ErrorCode::kCorrupt, {"renamed.gguf", "-00002-of-00003.gguf"}, [&] { GgufParts::Open(renamed); });
}

TEST(GgufParts, CountsThatCannotBe_AreRefused) {
  const TemporaryFolder folder("parts");
  GgufBuilder builder;
  const auto path = folder.Write("model-00001-of-65535.gguf",
                                 builder.Value("split.count", 2, GgufBytes(static_cast<uint16_t>(65535))).Build());
  ExpectError(ErrorCode::kCorrupt, {"split.count", "65,535", "1000"}, [&] { GgufParts::Open(path); });
}

// Each file alone is within the limits of one.
TEST(BR_82, ManyFilesOfManyKeys_TakeNoMoreThanOne) {
  const TemporaryFolder folder("parts");
  constexpr int kFiles = 6, kKeys = 30'000;
  for (int i = 0; i < kFiles; ++i) {
    GgufBuilder builder;
    for (int key = 0; key < kKeys; ++key) builder.Value("k" + std::to_string(key), 0, "x");
    builder.Value("split.no", 2, GgufBytes(static_cast<uint16_t>(i)));
    builder.Value("split.count", 2, GgufBytes(static_cast<uint16_t>(kFiles)));
    folder.Write(PartName("model", i, kFiles), builder.Build());
  }
  ExpectError(ErrorCode::kUnsupported, {"model-00005-of-00006.gguf", "150,010", "131,072"},
              [&] { GgufParts::Open(folder.path() / PartName("model", 0, kFiles)); });
}

}  // namespace
}  // namespace ekvi::files
