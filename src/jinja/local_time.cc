// strftime of the C library in its C locale, which no setlocale of the host changes, with what Python adds and leaves
// out: %f are microseconds; a time without a zone has no %z and %Z.
#include <fmt/format.h>
#include <locale.h>

#include <array>
#include <ctime>

#include "ekvi/chat_template.h"
#include "ekvi/error.h"

namespace ekvi {
namespace {

constexpr size_t kLongest = 4096;

std::string Adapted(std::string_view format, int64_t microseconds) {
  std::string result;
  for (size_t at = 0; at < format.size(); ++at) {
    const char next = format[at] == '%' && at + 1 < format.size() ? format[at + 1] : '\0';
    if (next == 'f') {
      result += fmt::format("{:06}", microseconds);
    } else if (next != 'z' && next != 'Z') {
      result += format[at];
      if (next == '%') result += '%';
      if (next != '%') continue;
    }
    ++at;
  }
  return result;
}

locale_t CLocale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace

std::string FormatLocalTime(std::string_view format, std::chrono::system_clock::time_point time) {
  using std::chrono::microseconds;
  if (format.find('\0') != std::string_view::npos)  // strftime would end there
    throw Error(ErrorCode::kInvalidArgument, "a time's format has a NUL byte", "", "a format without it");
  const auto since = std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count();
  const int64_t fraction = ((since % 1'000'000) + 1'000'000) % 1'000'000;
  const auto seconds = static_cast<std::time_t>((since - fraction) / 1'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  // A mark at the end: strftime gives 0 for a text that is empty and for one that does not fit.
  const std::string adapted = Adapted(format, fraction) + "|";
  std::array<char, kLongest + 2> text;
  const size_t bytes = ::strftime_l(text.data(), text.size(), adapted.c_str(), &local, CLocale());
  if (bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a time's format gives too long a text",
                fmt::format("more than {} bytes", kLongest), "a shorter format");
  }
  return std::string(text.data(), bytes - 1);
}

}  // namespace ekvi
