// Goal: the weights of a folder are found wherever its index says, and an index is trusted no further than a file.
// Method: folders written by the test, one fault at a time.
#include "files/safetensors_folder.h"

#include <gtest/gtest.h>

#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "temporary_folder.h"

namespace ekvi::files {
namespace {

using ekvi::testing::TemporaryFolder;

// A file of one-byte tensors of the names given.
std::string File(const std::vector<std::string>& names) {
  std::string json = "{";
  for (size_t i = 0; i < names.size(); ++i) {
    json += (i == 0 ? "\"" : ",\"") + names[i] + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) +
            "," + std::to_string(i + 1) + "]}";
  }
  json += "}";
  return GgufBytes<uint64_t>(json.size()) + json + std::string(names.size(), 'x');
}

std::string Index(const std::vector<std::pair<std::string, std::string>>& map) {
  std::string json = R"({"metadata": {"total_size": 3}, "weight_map": {)";
  for (size_t i = 0; i < map.size(); ++i)
    json += (i == 0 ? "\"" : ", \"") + map[i].first + "\": \"" + map[i].second + "\"";
  return json + "}}";
}

constexpr char kIndex[] = "model.safetensors.index.json";

void ExpectRefused(ErrorCode code, std::initializer_list<std::string_view> words, const TemporaryFolder& folder) {
  ExpectError(code, words, [&] { SafetensorsFolder::Open(folder.path()); });
}

TEST(SafetensorsFolder, OneFileOrSeveral_GiveTheSameTensors) {
  const TemporaryFolder folder("weights");
  folder.Write("one.safetensors", File({"a", "b"}));
  folder.Write("two.safetensors", File({"c"}));
  folder.Write(kIndex, Index({{"a", "one.safetensors"}, {"b", "one.safetensors"}, {"c", "two.safetensors"}}));
  const SafetensorsFolder opened = SafetensorsFolder::Open(folder.path());
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(opened.Find(name).tensor->name, name);
  EXPECT_EQ(opened.Find("d").tensor, nullptr);
  EXPECT_EQ(opened.files().size(), 2u);
  folder.Write("model.safetensors", File({"d"}));
  EXPECT_NE(SafetensorsFolder::Open(folder.path()).Find("d").tensor, nullptr);
}

TEST(SafetensorsFolder, NamesOutsideTheFolder_AreRefused) {
  const TemporaryFolder folder("weights");
  for (const std::string name : {"../x.safetensors", "/x", "a/b", "..", ".", "", "a\\\\b"}) {
    folder.Write(kIndex, Index({{"a", name}}));
    ExpectRefused(ErrorCode::kCorrupt, {"outside the folder"}, folder);
  }
}

TEST(SafetensorsFolder, LinksOutOfTheFolder_AreRefusedButThoseOfTheCacheAreNot) {
  const TemporaryFolder cache("cache");
  const std::string hash(64, 'a');
  std::filesystem::create_directories(cache.path() / "blobs");
  std::filesystem::create_directories(cache.path() / "snapshots" / "1");
  cache.Write("blobs/" + hash, File({"a"}));
  cache.Write("snapshots/1/" + std::string(kIndex), Index({{"a", "one.safetensors"}}));
  const auto link = cache.path() / "snapshots" / "1" / "one.safetensors";
  std::filesystem::create_symlink("../../blobs/" + hash, link);
  EXPECT_NE(SafetensorsFolder::Open(cache.path() / "snapshots" / "1").Find("a").tensor, nullptr);
  std::filesystem::remove(link);
  std::filesystem::create_symlink(cache.path() / "blobs" / hash, link);
  ExpectError(ErrorCode::kCorrupt, {"one.safetensors", "link"},
              [&] { SafetensorsFolder::Open(cache.path() / "snapshots" / "1"); });
}

TEST(SafetensorsFolder, WhatTheIndexGetsWrong_IsNamed) {
  const TemporaryFolder folder("weights");
  ExpectRefused(ErrorCode::kNotFound, {"no weights", "model.safetensors", kIndex}, folder);
  folder.Write(kIndex, Index({{"a", "one.safetensors"}}));
  ExpectRefused(ErrorCode::kNotFound, {kIndex, "one.safetensors", "not there"}, folder);
  folder.Write("one.safetensors", File({"b"}));
  ExpectRefused(ErrorCode::kCorrupt, {kIndex, "'a'", "one.safetensors"}, folder);
  folder.Write("one.safetensors", File({"a"}));
  folder.Write("two.safetensors", File({"a", "b"}));
  folder.Write(kIndex, Index({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
  ExpectRefused(ErrorCode::kCorrupt, {"'a'", "two files", "one.safetensors", "two.safetensors"}, folder);
  folder.Write(kIndex, R"({"weight_map": {"a": 3}})");
  ExpectRefused(ErrorCode::kCorrupt, {"weight_map.a", "3"}, folder);
  folder.Write(kIndex, R"({"weights": {}})");
  ExpectRefused(ErrorCode::kCorrupt, {"weight_map", "missing"}, folder);
}

}  // namespace
}  // namespace ekvi::files
