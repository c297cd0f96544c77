// The bytes go to a file without a name (O_TMPFILE) in the folder of the target, so that even a killed process leaves
// nothing behind. Finish syncs it, links it under a temporary name (a link cannot replace a file) and renames that.
// File systems without O_TMPFILE get the temporary name from the start; it is removed unless Finish comes to its end.
#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const fs::path& path, int error) {
  const char* hint = "";
  if (error == ENOSPC || error == EDQUOT) hint = "free some space, or write to another file system";
  if (error == EFBIG) hint = "a larger limit on the size of files: ulimit -f";
  if (error == ENAMETOOLONG) hint = "a shorter name";
  if (error == EPIPE) hint = "a reader that stays to the end";
  if (error == EACCES || error == EPERM || error == EROFS) hint = "a folder that may be written to";
  if (error == ENOENT || error == ENOTDIR) hint = "create the folder first";
  throw Error(ErrorCode::kIo, "cannot write " + path.string(), std::generic_category().message(error), hint);
}

template <typename Call>
int Retried(Call call) {
  int result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// A symbolic link stays: what it points to is replaced.
fs::path ResolveLinks(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

fs::path FolderOf(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string DescriptorPath(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// Beside the target; unlike any other of this process and of its neighbours. The target's own name is no part of it,
// since it may be as long as names can be.
fs::path TemporaryName(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return FolderOf(path) / (".ekvi-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".tmp");
}

// -1 where the file system or /proc does not allow it.
int OpenNameless(const fs::path& folder) {
  const int descriptor = Retried([&] { return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666); });
  if (descriptor < 0 || ::access(DescriptorPath(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

int OpenOrRefuse(const fs::path& opened, int flags, const fs::path& path) {
  const int descriptor = Retried([&] { return ::open(opened.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666); });
  if (descriptor < 0) Refuse(path, errno);
  return descriptor;
}

void SyncFolder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // the file is in place whatever this says
  ::close(descriptor);
}

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), target_(ResolveLinks(path_)) {
  if (path_.empty()) Refuse(path_, ENOENT);
  struct stat status;
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) Refuse(path_, errno);
  if (exists && S_ISDIR(status.st_mode)) Refuse(path_, EISDIR);
  if (exists && ::access(target_.c_str(), W_OK) != 0) Refuse(path_, errno);
  // The superuser may write what nobody should: a file without any write permission is meant to stay.
  constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
  if (exists && S_ISREG(status.st_mode) && (status.st_mode & kWritable) == 0) Refuse(path_, EACCES);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = OpenOrRefuse(target_, O_NOCTTY, path_);
    kind_ = Kind::kDirect;
    return;
  }
  if (!target_.has_filename()) Refuse(path_, EISDIR);
  descriptor_ = OpenNameless(FolderOf(target_));
  kind_ = Kind::kNameless;
  if (descriptor_ < 0) {
    const fs::path temporary = TemporaryName(target_);
    descriptor_ = OpenOrRefuse(temporary, O_CREAT | O_EXCL, path_);
    temporary_ = temporary;
    kind_ = Kind::kNamed;
  }
  if (exists) ::fchmod(descriptor_, status.st_mode & 07777);  // the replaced file's mode; a wish
}

OutputFile::~OutputFile() { Drop(); }

void OutputFile::Drop() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::Fail(int error) {
  Drop();
  Refuse(path_, error);
}

void OutputFile::Write(std::span<const std::byte> bytes) {
  EKVI_CHECK(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(errno);
    if (written == 0) Fail(ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::Finish() {
  EKVI_CHECK(descriptor_ >= 0);
  if (kind_ != Kind::kDirect && Retried([&] { return ::fsync(descriptor_); }) != 0) Fail(errno);
  if (kind_ == Kind::kNameless) LinkNameless();
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) Fail(errno);
  if (kind_ == Kind::kDirect) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) Fail(errno);
  temporary_.clear();
  SyncFolder(FolderOf(target_));
}

void OutputFile::LinkNameless() {
  fs::path name = TemporaryName(target_);
  const std::string from = DescriptorPath(descriptor_);
  int result = ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  while (result != 0 && errno == EEXIST) {  // left by a process of the same number
    name = TemporaryName(target_);
    result = ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  }
  if (result != 0) Fail(errno);
  temporary_ = std::move(name);
}

}  // namespace ekvi::base
