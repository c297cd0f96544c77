#include "cli/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

#include "cli/format.h"
#include "cli/interrupts.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

constexpr size_t kLongestText = size_t{64} << 20;

constexpr const char* kReadable = "a file or a pipe that may be read, or - for stdin";

// Without blocking: the open of a named pipe without a writer would not come back, not even for an interrupt.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : own_(path != "-"),
        number_(own_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : STDIN_FILENO) {}
  ~Descriptor() {
    if (own_ && number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  bool own_;
  int number_;
};

[[noreturn]] void RefuseRead(const std::string& name, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, "cannot read " + name, std::generic_category().message(error),
              code == ErrorCode::kNotFound ? "the name of a file that is there" : kReadable);
}

// What opens but holds no text.
void RefuseOtherThanText(const std::string& name, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) RefuseRead(name, errno);
  if (S_ISDIR(status.st_mode)) RefuseRead(name, EISDIR);
  if (S_ISBLK(status.st_mode)) throw Error(ErrorCode::kIo, "cannot read " + name, "a block device", kReadable);
}

// Until there is something to read or nothing will come any more. A read alone would not do: without blocking, a named
// pipe that nobody has opened for writing yet reads as empty.
void AwaitText(const std::string& name, int descriptor) {
  // A signal ends the wait of poll, but not where it comes just before; twice a second is soon enough for that.
  static constexpr int kSliceMs = 500;
  pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (::poll(&wanted, 1, kSliceMs) <= 0) {
    // Where nobody stays on an interrupt, the signal has ended the process.
    if (StaysOnInterrupt() && InterruptSignal() != 0)
      throw Error(ErrorCode::kCancelled, "interrupted while reading " + name, "nothing has changed", "it again");
  }
}

std::string_view NextWord(std::string_view text, size_t& at) {
  static constexpr std::string_view kSeparators = ", \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kSeparators, at), text.size());
  const size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
  at = end;
  return text.substr(begin, end - begin);
}

template <typename T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string ReadText(const std::string& path) {
  const std::string name = path == "-" ? "stdin" : path;
  const Descriptor file(path);
  if (file.number() < 0) RefuseRead(name, errno);
  RefuseOtherThanText(name, file.number());
  std::string text;
  std::array<char, 65536> part;
  while (true) {
    AwaitText(name, file.number());
    const ssize_t got = ::read(file.number(), part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) RefuseRead(name, errno);
    if (got == 0) return text;
    if (text.size() + static_cast<size_t>(got) > kLongestText) {
      throw Error(ErrorCode::kInvalidArgument, name + " is too long for one text",
                  fmt::format("more than {}", Bytes(kLongestText)), "a shorter text");
    }
    text.append(part.data(), static_cast<size_t>(got));
  }
}

std::optional<std::string> InputText(const Arguments& arguments, std::string_view file_option) {
  const bool has_argument = !arguments.positional().empty();
  if (has_argument && arguments.Given(file_option)) {
    throw Error(ErrorCode::kInvalidArgument, "the text is given twice",
                fmt::format("as the argument {} and by {} {}", Quoted(arguments.positional()[0]),
                            arguments.Origin(file_option), arguments.Text(file_option)),
                "leave one of them out");
  }
  if (has_argument) return arguments.positional()[0];
  if (arguments.Given(file_option)) return ReadText(arguments.Text(file_option));
  if (::isatty(STDIN_FILENO) == 1) return std::nullopt;
  return ReadText("-");
}

std::vector<int32_t> ParseIds(std::string_view text, std::string_view origin) {
  std::vector<int32_t> ids;
  for (size_t at = 0;;) {
    const std::string_view word = NextWord(text, at);
    if (word.empty()) return ids;
    int32_t id = 0;
    if (!ParseWhole(word, id) || id < 0) {
      throw Error(
          ErrorCode::kInvalidArgument, fmt::format("{}: {} is not a token id", origin, Quoted(word)),
          fmt::format("entry {} of the list; ids are whole numbers from 0", Count(static_cast<int64_t>(ids.size()))),
          "ids separated by commas or blanks, as ekvi tokenize prints them");
    }
    ids.push_back(id);
  }
}

void CheckIds(const std::vector<int32_t>& ids, int vocabulary, std::string_view origin) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocabulary) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: token id {} is outside the vocabulary", origin, ids[i]),
                fmt::format("entry {} of the list; the model has ids 0 to {}", Count(static_cast<int64_t>(i)),
                            Count(vocabulary - 1)),
                "ids of this model, as ekvi tokenize prints them");
  }
}

std::pair<int32_t, double> ParseBias(std::string_view text) {
  const size_t colon = text.find(':');
  int32_t id = -1;
  double value = 0;
  const bool fine = colon != std::string_view::npos && ParseWhole(text.substr(0, colon), id) && id >= 0 &&
                    ParseWhole(text.substr(colon + 1), value) && value < std::numeric_limits<double>::infinity();
  if (fine) return {id, value};
  throw Error(ErrorCode::kInvalidArgument, fmt::format("--logit-bias: {} is not a value it takes", Quoted(text)),
              "it takes ID:VALUE, a token id and a number that is added to its logit (-inf forbids the token)",
              "--logit-bias 13:-2.5");
}

}  // namespace ekvi::cli
