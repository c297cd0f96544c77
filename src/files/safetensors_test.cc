// Goal: what is written is read back to the bit, and files of others are read exactly. Method: round trips through real
// files, all golden files of the shared material, and small files written by hand for every element type.
#include "files/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "files/safetensors_writer.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::files {
namespace {

std::filesystem::path TemporaryPath(std::string_view name) {
  return std::filesystem::temp_directory_path() / ("ekvi_" + std::to_string(::getpid()) + "_" + std::string(name));
}

std::string File(std::string_view json, std::string_view data) {
  return GgufBytes<uint64_t>(json.size()) + std::string(json) + std::string(data);
}

TEST(Safetensors, RoundTrip_KeepsEveryBit) {
  const std::vector<double> f64 = {0.1, -0.0, std::numeric_limits<double>::infinity(), 5e-324};
  const std::vector<float> f32 = {1.0f / 3, -2.5f, 1e-45f};
  const std::vector<int64_t> i64 = {std::numeric_limits<int64_t>::min(), 7};
  const std::vector<int32_t> i32 = {-1};
  SafetensorsWriter writer;
  writer.Add("z.f32", {3, 1}, std::span<const float>(f32));
  writer.Add("i32", {}, std::span<const int32_t>(i32));
  writer.Add("b.f64", {2, 2}, std::span<const double>(f64));
  writer.Add("a.i64", {2}, std::span<const int64_t>(i64));
  writer.Add("nothing", {4, 0}, std::span<const double>());
  writer.AddMetadata("kind", "te\"st\n☃");
  writer.AddMetadata("batch", "3");
  const auto path = TemporaryPath("round_trip.safetensors");
  writer.Write(path);

  const SafetensorsFile file = SafetensorsFile::Open(path);
  EXPECT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.Metadata("kind"), "te\"st\n☃");
  EXPECT_EQ(file.Metadata("batch"), "3");
  EXPECT_EQ(file.Metadata("gone"), std::nullopt);
  EXPECT_EQ(file.Shape("b.f64"), (std::vector<uint64_t>{2, 2}));
  const std::vector<double> read = file.ReadF64("b.f64");
  ASSERT_EQ(read.size(), f64.size());
  EXPECT_EQ(std::memcmp(read.data(), f64.data(), f64.size() * sizeof(double)), 0);
  EXPECT_EQ(file.ReadF64("z.f32"), std::vector<double>(f32.begin(), f32.end()));
  EXPECT_EQ(file.ReadI64("a.i64"), i64);
  EXPECT_EQ(file.ReadI64("i32"), std::vector<int64_t>{-1});
  EXPECT_TRUE(file.Shape("i32").empty());
  EXPECT_TRUE(file.ReadF64("nothing").empty());
  std::filesystem::remove(path);
}

TEST(SafetensorsWriter, OrderOfCalls_DoesNotChangeTheFile) {
  const std::vector<float> f32 = {1, 2};
  const std::vector<int64_t> i64 = {3};
  SafetensorsWriter one, two;
  one.Add("b", {2}, std::span<const float>(f32));
  one.Add("c", {1}, std::span<const int64_t>(i64));
  one.Add("a", {1, 2}, std::span<const float>(f32));
  one.AddMetadata("x", "1");
  one.AddMetadata("y", "2");
  two.AddMetadata("y", "2");
  two.Add("a", {1, 2}, std::span<const float>(f32));
  two.Add("b", {2}, std::span<const float>(f32));
  two.AddMetadata("x", "1");
  two.Add("c", {1}, std::span<const int64_t>(i64));
  const auto path = TemporaryPath("order.safetensors");
  one.Write(path);
  const std::string first = testing::ContentOf(path);
  two.Write(path);
  EXPECT_EQ(testing::ContentOf(path), first);
  const std::string json = R"({"__metadata__":{"x":"1","y":"2"},"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                           R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},)"
                           R"("b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  EXPECT_EQ(first.substr(8, json.size()), json);
  uint64_t length;
  std::memcpy(&length, first.data(), sizeof(length));
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(length, (json.size() + 7) / 8 * 8);
  std::filesystem::remove(path);
}

TEST(SafetensorsWriter, Mistakes_AreRefusedByName) {
  const std::vector<float> f32 = {1, 2};
  const std::span<const float> values(f32);
  SafetensorsWriter writer;
  writer.Add("a", {2}, values);
  writer.AddMetadata("k", "v");
  ExpectError(ErrorCode::kInvalidArgument, {"'a'", "stands already"}, [&] { writer.Add("a", {2}, values); });
  ExpectError(ErrorCode::kInvalidArgument, {"'b'", "[3, 1]", "2 values"}, [&] { writer.Add("b", {3, 1}, values); });
  ExpectError(ErrorCode::kInvalidArgument, {"__metadata__"}, [&] { writer.Add("__metadata__", {2}, values); });
  ExpectError(ErrorCode::kInvalidArgument, {"'k'"}, [&] { writer.AddMetadata("k", "w"); });
  ExpectError(ErrorCode::kInvalidArgument, {"''"}, [&] { writer.Add("", {2}, values); });
  writer.AddMetadata("bad", "\xFF");
  const auto path = TemporaryPath("never.safetensors");
  ExpectError(ErrorCode::kInvalidArgument, {"UTF-8"}, [&] { writer.Write(path); });
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SafetensorsWriter, FolderThatIsMissing_IsAnIoError) {
  const std::vector<float> f32 = {1};
  SafetensorsWriter writer;
  writer.Add("a", {1}, std::span<const float>(f32));
  ExpectError(ErrorCode::kIo, {"no-such-folder"},
              [&] { writer.Write(TemporaryPath("no-such-folder") / "out.safetensors"); });
}

TEST(Safetensors, EveryNumberType_IsReadExactly) {
  const auto read = [](std::string_view type, std::string_view data, size_t count) {
    const std::string json = R"({"t":{"dtype":")" + std::string(type) + R"(","shape":[)" + std::to_string(count) +
                             R"(],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
    return File(json, data);
  };
  const auto f64 = [&](std::string_view type, std::string_view data, size_t count) {
    const std::string bytes = read(type, data, count);
    return SafetensorsFile::Borrow(AsBytes(bytes), "m").ReadF64("t");
  };
  const auto i64 = [&](std::string_view type, std::string_view data, size_t count) {
    const std::string bytes = read(type, data, count);
    return SafetensorsFile::Borrow(AsBytes(bytes), "m").ReadI64("t");
  };
  EXPECT_EQ(f64("F16", std::string_view("\x00\x3C\x00\xC0\x01\x00", 6), 3), (std::vector<double>{1, -2, 0x1p-24}));
  EXPECT_EQ(f64("BF16", std::string_view("\x80\x3F\x00\xC0", 4), 2), (std::vector<double>{1, -2}));
  EXPECT_EQ(i64("I8", "\xFF\x7F", 2), (std::vector<int64_t>{-1, 127}));
  EXPECT_EQ(i64("U8", "\xFF\x7F", 2), (std::vector<int64_t>{255, 127}));
  EXPECT_EQ(i64("BOOL", std::string_view("\x00\x01", 2), 2), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(i64("I16", "\xFE\xFF", 1), (std::vector<int64_t>{-2}));
  EXPECT_EQ(i64("U16", "\xFE\xFF", 1), (std::vector<int64_t>{65534}));
  EXPECT_EQ(i64("U32", "\xFF\xFF\xFF\xFF", 1), (std::vector<int64_t>{4294967295}));
  EXPECT_EQ(i64("U64", GgufBytes(uint64_t{1} << 62), 1), (std::vector<int64_t>{int64_t{1} << 62}));
  ExpectError(ErrorCode::kCorrupt, {"'t'", "63 bits"}, [&] { i64("U64", GgufBytes(uint64_t{1} << 63), 1); });
  ExpectError(ErrorCode::kUnsupported, {"'t'", "I32"}, [&] { f64("I32", "abcd", 1); });
  ExpectError(ErrorCode::kUnsupported, {"'t'", "F32"}, [&] { i64("F32", "abcd", 1); });
  ExpectError(ErrorCode::kUnsupported, {"'t'", "F8_E4M3"}, [&] { f64("F8_E4M3", "a", 1); });
  ExpectError(ErrorCode::kUnsupported, {"'t'", "F4"}, [&] { f64("F4", "a", 2); });
}

TEST(Safetensors, UnalignedData_IsRead) {
  const std::string json =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  const std::string bytes = File(json, "x" + GgufBytes(2.5));
  EXPECT_EQ(SafetensorsFile::Borrow(AsBytes(bytes), "m").ReadF64("b"), std::vector<double>{2.5});
}

TEST(Safetensors, LegalOddities_AreAccepted) {
  const char* headers[] = {
      "{}",
      " \n\t{} \r\n",
      R"({"__metadata__":{}})",
      R"({"__metadata__":{"a":"b","c":""}})",
      R"({"t":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
      R"({"u":{"data_offsets":[0,0],"shape":[7,0],"dtype":"I64"}})",
      R"({"\u0074é":{"dtype":"F4","shape":[0],"data_offsets":[0,0]}})",
  };
  for (const char* json : headers) {
    const std::string bytes = File(json, "");
    EXPECT_NO_THROW(SafetensorsFile::Borrow(AsBytes(bytes), "m")) << json;
  }
}

TEST(Safetensors, GoldenFiles_AllParse) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("golden"));
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::SharedPath("golden"))) {
    if (entry.path().extension() != ".safetensors") continue;
    ++count;
    const SafetensorsFile file = SafetensorsFile::Open(entry.path());
    EXPECT_TRUE(file.Metadata("kind").has_value());
    for (const SafetensorsTensor& tensor : file.tensors()) {
      uint64_t values = 1;
      for (const uint64_t dim : tensor.shape) values *= dim;
      const size_t read =
          tensor.type->name == "F64" ? file.ReadF64(tensor.name).size() : file.ReadI64(tensor.name).size();
      EXPECT_EQ(read, values) << entry.path() << " " << tensor.name;
    }
  }
  EXPECT_EQ(count, 60);
  const SafetensorsFile decoder = SafetensorsFile::Open(testing::SharedPath("golden/decoder_000.safetensors"));
  EXPECT_EQ(decoder.Shape("token"), (std::vector<uint64_t>{52, 32}));
  EXPECT_EQ(decoder.Metadata("norm_eps"), "1e-5");
}

}  // namespace
}  // namespace ekvi::files
