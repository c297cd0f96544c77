#include "cli/sampling_options.h"

#include <fmt/format.h>

#include "cli/format.h"
#include "cli/input.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

constexpr double kManyTokens = 1e9;

constexpr Option kOptions[] = {
    {.name = "max-tokens",
     .letter = 'n',
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 0,
     .maximum = kManyTokens,
     .fallback = "256",
     .help = "tokens at most"},
    {.name = "temp",
     .kind = ValueKind::kNumber,
     .value = "X",
     .fallback = "0.8",
     .help = "temperature; 0: always the best token"},
    {.name = "top-k",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 0,
     .maximum = kManyTokens,
     .fallback = "40",
     .help = "draw from the N best; 0: all"},
    {.name = "top-p",
     .kind = ValueKind::kNumber,
     .value = "X",
     .minimum = 0,
     .maximum = 1,
     .fallback = "0.95",
     .help = "draw from the best with this much together"},
    {.name = "min-p",
     .kind = ValueKind::kNumber,
     .value = "X",
     .minimum = 0,
     .maximum = 1,
     .fallback = "0.05",
     .help = "drop below this share of the best"},
    {.name = "repeat-penalty",
     .kind = ValueKind::kNumber,
     .value = "X",
     .open = true,
     .fallback = "1",
     .help = "weaken the last 64 tokens; 1: no"},
    {.name = "logit-bias",
     .kind = ValueKind::kText,
     .value = "ID:X",
     .repeat = Repeat::kEach,
     .environment = Environment::kIgnore,
     .help = "add X to a token's logit; repeatable"},
    {.name = "stop",
     .kind = ValueKind::kText,
     .value = "TEXT",
     .repeat = Repeat::kEach,
     .environment = Environment::kIgnore,
     .help = "end before this text; repeatable"},
};

}  // namespace

const OptionGroup& SamplingGroup() {
  static constexpr OptionGroup kGroup{"Sampling", kOptions};
  return kGroup;
}

SamplingOptions SamplingOf(const Arguments& arguments) {
  SamplingOptions sampling{.temperature = arguments.Number("temp"),
                           .top_k = static_cast<int>(arguments.Integer("top-k").value()),
                           .top_p = arguments.Number("top-p"),
                           .min_p = arguments.Number("min-p"),
                           .repetition_penalty = arguments.Number("repeat-penalty"),
                           .seed = static_cast<uint64_t>(arguments.Integer("seed").value())};
  for (const std::string& bias : arguments.All("logit-bias")) sampling.logit_bias.push_back(ParseBias(bias));
  return sampling;
}

void CheckBiases(const SamplingOptions& sampling, int vocabulary) {
  for (const auto& [token, bias] : sampling.logit_bias) {
    if (token < vocabulary) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--logit-bias: token id {} is outside the vocabulary", token),
                fmt::format("the model has ids 0 to {}", Count(vocabulary - 1)),
                "an id of this model, as ekvi tokenize prints them");
  }
}

StopOptions StopsOf(const Arguments& arguments) {
  for (const std::string& stop : arguments.All("stop")) {
    if (stop.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "--stop: the text is empty", "0 bytes, it takes 1 or more",
                  "leave it out, or give at least one character");
    }
    if (!IsUtf8(stop)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("--stop: {} is not UTF-8", Quoted(stop)), "",
                  "the text in UTF-8: it is looked for in generated text");
    }
  }
  return {.max_tokens = arguments.Integer("max-tokens").value(),
          .ignore_end = arguments.command().Find("ignore-end") != nullptr && arguments.Flag("ignore-end"),
          .tokens = {},
          .strings = arguments.All("stop")};
}

}  // namespace ekvi::cli
