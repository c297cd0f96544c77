#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pipeline/regex.h"

#include <fmt/core.h>
#include <pcre2.h>

#include <string>

#include "base/check.h"
#include "base/utf8.h"
#include "ekvi/error.h"
#include "files/reader_error.h"

namespace ekvi::text {
namespace {

// Machine code keeps what it may go back to on a stack of its own: it begins small and may grow to this.
constexpr size_t kStackBytes = 32 << 10, kStackBytesMax = 64 << 20;

std::string Message(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// What a match needs beside the code, for one thread.
class Scratch {
 public:
  Scratch()
      : data_(pcre2_match_data_create(1, nullptr)),
        stack_(pcre2_jit_stack_create(kStackBytes, kStackBytesMax, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (data_ == nullptr || stack_ == nullptr || context_ == nullptr) throw std::bad_alloc();
    pcre2_jit_stack_assign(context_, nullptr, stack_);
    pcre2_set_depth_limit(context_, UINT32_MAX);
    pcre2_set_heap_limit(context_, kStackBytesMax >> 10);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    pcre2_match_data_free(data_);
    pcre2_jit_stack_free(stack_);
    pcre2_match_context_free(context_);
  }

  pcre2_match_data* data() { return data_; }
  pcre2_match_context* context() { return context_; }

 private:
  pcre2_match_data* data_;
  pcre2_jit_stack* stack_;
  pcre2_match_context* context_;
};

Scratch& ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

}  // namespace

struct Regex::Code {
  std::string pattern;
  pcre2_code* code = nullptr;
  bool machine_code = false;

  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(std::string_view pattern) {
  auto code = std::make_shared<Code>();
  code->pattern = pattern;
  const std::string translated = TranslateRegex(pattern);
  int error = 0;
  PCRE2_SIZE place = 0;
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  code->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &place, context.get());
  if (code->code == nullptr) {
    throw Error(ErrorCode::kUnsupported, fmt::format("the pattern {} is not understood", files::Quote(pattern)),
                fmt::format("{}, near byte {} of {}", Message(error), place, translated.size()), kOtherPattern);
  }
  code->machine_code = pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE) == 0;
  code_ = std::move(code);
}

std::optional<Regex::Match> Regex::Find(std::string_view text, size_t from) const {
  Scratch& scratch = ThreadScratch();
  // Far more than any pattern in use takes; one that backtracks without end gives up.
  constexpr uint64_t kSteps = 1'000'000, kStepsPerByte = 64;
  const uint64_t limit = kSteps + kStepsPerByte * text.size();
  pcre2_set_match_limit(scratch.context(), static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX)));
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  if (subject == nullptr) subject = reinterpret_cast<PCRE2_SPTR>("");
  int result = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->machine_code) {
    result =
        pcre2_jit_match(code_->code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, scratch.data(), scratch.context());
  }
  // The interpreter keeps its state on the heap and needs less of it.
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) {
    result = pcre2_match(code_->code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, scratch.data(),
                         scratch.context());
  }
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0) {
    throw Error(ErrorCode::kUnsupported, fmt::format("the pattern {} gives up", files::Quote(code_->pattern)),
                fmt::format("{}, in a text of {} bytes", Message(result), files::Digits(text.size())),
                "cut the text into lines");
  }
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch.data());
  return Match{ends[0], std::max(ends[0], ends[1])};
}

std::optional<Regex::Match> Regex::Next(std::string_view text, Walk& walk) const {
  while (walk.from <= text.size()) {
    const auto match = Find(text, walk.from);
    if (!match) break;
    if (match->begin == match->end && walk.last_end == match->end) {
      ++walk.from;
      while (walk.from < text.size() && base::ContinuesCharacter(text[walk.from])) ++walk.from;
      continue;
    }
    walk.last_end = walk.from = match->end;
    return match;
  }
  walk.from = text.size() + 1;
  return std::nullopt;
}

}  // namespace ekvi::text
