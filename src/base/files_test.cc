// Goal: a read file is its bytes, a written file is there in full or not at all, and a refusal leaves no trace. Method:
// real files in a folder of their own, full and special devices of the system.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::string Content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Call>
ErrorCode CodeOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.numbers().empty()) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kCancelled;
}

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "ekvi_files_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  size_t Entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void Put(const fs::path& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  fs::path folder_;
};

TEST_F(Files, Mapped_GivesTheBytes) {
  Put("a", std::string_view("x\0y", 3));
  const MappedFile file(folder_ / "a");
  ASSERT_EQ(file.bytes().size(), 3u);
  EXPECT_EQ(std::memcmp(file.bytes().data(), "x\0y", 3), 0);
}

TEST_F(Files, MappedEmptyFile_HasNoBytes) {
  Put("a", "");
  EXPECT_TRUE(MappedFile(folder_ / "a").bytes().empty());
  EXPECT_TRUE(MappedFile().bytes().empty());
}

TEST_F(Files, Mapped_MovesItsOnlyMapping) {
  Put("a", "one");
  Put("b", "three");
  MappedFile first(folder_ / "a");
  MappedFile second(folder_ / "b");
  first = std::move(second);
  EXPECT_EQ(first.bytes().size(), 5u);
  EXPECT_TRUE(second.bytes().empty());  // NOLINT(bugprone-use-after-move): the promise under test
  const MappedFile third(std::move(first));
  EXPECT_EQ(third.bytes().size(), 5u);
}

TEST_F(Files, MappedReplacedFile_KeepsTheOldBytes) {
  Put("a", "old");
  const MappedFile file(folder_ / "a");
  OutputFile output(folder_ / "a");
  output.Write(Bytes("newer"));
  output.Finish();
  EXPECT_EQ(std::memcmp(file.bytes().data(), "old", 3), 0);
  EXPECT_EQ(Content(folder_ / "a"), "newer");
}

TEST_F(Files, MappedWhatIsNoFile_IsRefused) {
  ::mkfifo((folder_ / "pipe").c_str(), 0600);
  Put("a", "x");
  EXPECT_EQ(CodeOf([&] { MappedFile(folder_ / "missing"); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { MappedFile(folder_ / "a" / "below"); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { MappedFile(""); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([&] { MappedFile{folder_}; }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { MappedFile(folder_ / "pipe"); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { MappedFile("/dev/zero"); }), ErrorCode::kIo);
}

TEST_F(Files, Output_AppearsOnlyWhenFinished) {
  OutputFile output(folder_ / "a");
  output.Write(Bytes("one "));
  output.Write(Bytes(""));
  output.Write(Bytes("two"));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  output.Finish();
  EXPECT_EQ(Content(folder_ / "a"), "one two");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(Files, DroppedOutput_LeavesTheOldFileAndNothingElse) {
  Put("a", "old");
  {
    OutputFile output(folder_ / "a");
    output.Write(Bytes("new"));
  }
  EXPECT_EQ(Content(folder_ / "a"), "old");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(Files, EmptyOutput_IsAnEmptyFile) {
  OutputFile(folder_ / "a").Finish();
  EXPECT_TRUE(fs::exists(folder_ / "a"));
  EXPECT_EQ(fs::file_size(folder_ / "a"), 0u);
}

TEST_F(Files, Output_HasTheModeOfTheUmaskOrOfTheFileItReplaces) {
  const mode_t host = ::umask(027);
  OutputFile(folder_ / "new").Finish();
  Put("old", "x");
  fs::permissions(folder_ / "old", fs::perms(0604));
  OutputFile(folder_ / "old").Finish();
  ::umask(host);
  EXPECT_EQ(fs::status(folder_ / "new").permissions(), fs::perms(0640));
  EXPECT_EQ(fs::status(folder_ / "old").permissions(), fs::perms(0604));
}

TEST_F(Files, OutputThroughALink_ReplacesWhatItNames) {
  Put("target", "old");
  fs::create_symlink("target", folder_ / "link");
  OutputFile output(folder_ / "link");
  output.Write(Bytes("new"));
  output.Finish();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(Content(folder_ / "target"), "new");
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(Files, OutputWithoutAFolderInItsName_IsWrittenHere) {
  const fs::path host = fs::current_path();
  fs::current_path(folder_);
  OutputFile(fs::path("here")).Finish();
  fs::current_path(host);
  EXPECT_TRUE(fs::exists(folder_ / "here"));
}

TEST_F(Files, OutputThatCannotBe_IsRefusedBeforeAnythingIsWritten) {
  Put("a", "old");
  EXPECT_EQ(CodeOf([&] { OutputFile{folder_}; }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { OutputFile(folder_ / "missing" / "a"); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { OutputFile(folder_ / "a" / "below"); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { OutputFile(folder_ / "new/"); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { OutputFile(fs::path()); }), ErrorCode::kIo);
  EXPECT_EQ(CodeOf([&] { OutputFile("/proc/ekvi"); }), ErrorCode::kIo);
  EXPECT_EQ(Entries(), 1u);
}

// The name beside the target must fit wherever the target's does, and what cannot be a file is known at once.
TEST_F(Files, NameAsLongAsNamesCanBe_IsWrittenAndALongerOneRefusedAtOnce) {
  constexpr size_t kLongest = 255;  // bytes, on every file system of Linux that takes this many
  for (size_t length = kLongest - 40; length <= kLongest; ++length) {
    OutputFile output(folder_ / std::string(length, 'a'));
    output.Write(Bytes("x"));
    ASSERT_NO_THROW(output.Finish()) << length;
  }
  EXPECT_EQ(Entries(), 41u);
  EXPECT_EQ(CodeOf([&] { OutputFile(folder_ / std::string(kLongest + 1, 'a')); }), ErrorCode::kIo);
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(CodeOf([&] { OutputFile(folder_ / "loop"); }), ErrorCode::kIo);
  EXPECT_TRUE(fs::is_symlink(folder_ / "loop"));
}

TEST_F(Files, SpecialFiles_AreWrittenDirectly) {
  OutputFile null("/dev/null");
  null.Write(Bytes("gone"));
  null.Finish();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, FullDevice_IsAnIoErrorWithTheReason) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  OutputFile full("/dev/full");
  try {
    full.Write(Bytes("x"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_EQ(error.numbers(), std::strerror(ENOSPC));
    EXPECT_NE(error.summary().find("/dev/full"), std::string::npos);
  }
}

// A limit on file sizes stands for a full disk: the write fails in the middle.
TEST_F(Files, FailedWrite_LeavesTheOldFileAndNothingElse) {
  Put("a", "old");
  rlimit host;
  ::getrlimit(RLIMIT_FSIZE, &host);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, host.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  ErrorCode code;
  {
    OutputFile output(folder_ / "a");
    code = CodeOf([&] { output.Write(Bytes(std::string(100000, 'x'))); });
  }
  ::setrlimit(RLIMIT_FSIZE, &host);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ErrorCode::kIo);
  EXPECT_EQ(Content(folder_ / "a"), "old");
  EXPECT_EQ(Entries(), 1u);
}

TEST(OutputFile, FileWithoutWritePermission_StaysEvenForTheSuperuser) {
  const auto path = std::filesystem::temp_directory_path() / ("ekvi-readonly-" + std::to_string(::getpid()));
  std::ofstream(path) << "keep";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  EXPECT_THROW(OutputFile file(path), Error);
  EXPECT_EQ(Content(path), "keep");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ekvi::base
