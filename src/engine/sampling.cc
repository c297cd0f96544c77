// The checks of sampling and stop options. Comparisons are written so that NaN fails them.
#include "ekvi/sampling.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "base/utf8.h"
#include "ekvi/error.h"

namespace ekvi {
namespace {

template <typename T>
[[noreturn]] void Refuse(const std::string& name, T value, std::string_view range) {
  throw Error(ErrorCode::kInvalidArgument, name + " is out of range",
              fmt::format("{} = {}, allowed: {}", name, value, range),
              fmt::format("give a value in the range {}", range));
}

void CheckShare(const char* name, double value) {
  if (!(value >= 0 && value <= 1)) Refuse(name, value, "0 to 1");
}

void CheckToken(const std::string& name, int32_t token, int vocabulary) {
  if (token < 0 || token >= vocabulary) Refuse(name, token, fmt::format("0 to {}", vocabulary - 1));
}

void CheckBias(const SamplingOptions& options, int vocabulary) {
  for (size_t i = 0; i < options.logit_bias.size(); ++i) {
    const auto& [token, bias] = options.logit_bias[i];
    CheckToken(fmt::format("logit_bias[{}] token", i), token, vocabulary);
    const bool allowed = bias < std::numeric_limits<double>::infinity();
    if (!allowed) Refuse(fmt::format("logit_bias[{}]", i), bias, "finite or -inf");
  }
}

}  // namespace

void CheckSampling(const SamplingOptions& options, int vocabulary) {
  if (!(options.temperature >= 0 && std::isfinite(options.temperature))) {
    Refuse("temperature", options.temperature, "finite, 0 or more");
  }
  if (options.top_k < 0) Refuse("top_k", options.top_k, "0 (all) or more");
  CheckShare("top_p", options.top_p);
  CheckShare("min_p", options.min_p);
  if (!(options.repetition_penalty > 0 && std::isfinite(options.repetition_penalty))) {
    Refuse("repetition_penalty", options.repetition_penalty, "finite, above 0");
  }
  if (options.repetition_window < 0) Refuse("repetition_window", options.repetition_window, "0 (all) or more");
  CheckBias(options, vocabulary);
}

void CheckStops(const StopOptions& options, int vocabulary) {
  if (options.max_tokens < 0) Refuse("max_tokens", options.max_tokens, "0 or more");
  for (size_t i = 0; i < options.tokens.size(); ++i) {
    CheckToken(fmt::format("stop token [{}]", i), options.tokens[i], vocabulary);
  }
  for (size_t i = 0; i < options.strings.size(); ++i) {
    const std::string& stop = options.strings[i];
    if (stop.empty()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("stop string [{}] is empty", i),
                  "0 bytes, allowed: 1 or more", "leave it out, or give at least one character");
    }
    if (const size_t valid = base::ValidUtf8Prefix(stop); valid != stop.size()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("stop string [{}] is not UTF-8", i),
                  fmt::format("byte {} of {} begins no character", valid, stop.size()),
                  "give the text in UTF-8: generated text is matched in it");
    }
  }
}

}  // namespace ekvi
