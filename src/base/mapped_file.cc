#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "ekvi/error.h"

namespace ekvi::base {
namespace {

[[noreturn]] void Refuse(const std::filesystem::path& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw Error(missing ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot read " + path.string(),
              std::generic_category().message(error), missing ? "check the path" : "a file that may be read");
}

struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

// Without blocking: a named pipe would wait for a writer.
int Open(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (number < 0) Refuse(path, errno);
  return number;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file{Open(path)};
  struct stat status;
  if (::fstat(file.number, &status) != 0) Refuse(path, errno);
  if (S_ISDIR(status.st_mode)) Refuse(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, "cannot read " + path.string(), "not a regular file",
                "copy what it gives into a file: models are mapped into memory");
  }
  if (status.st_size == 0) return;
  if (static_cast<uint64_t>(status.st_size) > std::numeric_limits<size_t>::max()) Refuse(path, EFBIG);
  const auto size = static_cast<size_t>(status.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED && errno == ENOMEM) {
    throw Error(ErrorCode::kCapacity, "not enough memory to map " + path.string(), std::to_string(size) + " bytes",
                "a smaller model, or a higher limit of address space (ulimit -v)");
  }
  if (address == MAP_FAILED) Refuse(path, errno);
  data_ = static_cast<const std::byte*>(address);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::Release(std::span<const std::byte> part) const noexcept {
  const auto at = reinterpret_cast<uintptr_t>(part.data()), mine = reinterpret_cast<uintptr_t>(data_);
  if (part.empty() || at < mine || at - mine > size_ || part.size() > size_ - (at - mine)) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = at / page * page, end = (at + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  MappedFile taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

}  // namespace ekvi::base
