// Goal: options out of range are refused with name, value and range, and only those. Method: one bad value at a time.
#include "ekvi/sampling.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/test_support.h"

namespace ekvi::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kVocabulary = 10;

struct BadSampling {
  std::string name, value;
  std::function<void(SamplingOptions&)> set;
};

const std::vector<BadSampling> kBadSampling = {
    {"temperature", "-0.1", [](SamplingOptions& o) { o.temperature = -0.1; }},
    {"temperature", "nan", [](SamplingOptions& o) { o.temperature = kNan; }},
    {"temperature", "inf", [](SamplingOptions& o) { o.temperature = kInfinity; }},
    {"top_k", "-1", [](SamplingOptions& o) { o.top_k = -1; }},
    {"top_p", "-0.01", [](SamplingOptions& o) { o.top_p = -0.01; }},
    {"top_p", "1.01", [](SamplingOptions& o) { o.top_p = 1.01; }},
    {"top_p", "nan", [](SamplingOptions& o) { o.top_p = kNan; }},
    {"min_p", "-1", [](SamplingOptions& o) { o.min_p = -1; }},
    {"min_p", "1.5", [](SamplingOptions& o) { o.min_p = 1.5; }},
    {"min_p", "nan", [](SamplingOptions& o) { o.min_p = kNan; }},
    {"repetition_penalty", "0", [](SamplingOptions& o) { o.repetition_penalty = 0; }},
    {"repetition_penalty", "-1", [](SamplingOptions& o) { o.repetition_penalty = -1; }},
    {"repetition_penalty", "nan", [](SamplingOptions& o) { o.repetition_penalty = kNan; }},
    {"repetition_penalty", "inf", [](SamplingOptions& o) { o.repetition_penalty = kInfinity; }},
    {"repetition_window", "-5", [](SamplingOptions& o) { o.repetition_window = -5; }},
    {"logit_bias[1]", "-1",
     [](SamplingOptions& o) {
       o.logit_bias = {{0, 1.0}, {-1, 1.0}};
     }},
    {"logit_bias[0]", "10",
     [](SamplingOptions& o) {
       o.logit_bias = {{kVocabulary, 1.0}};
     }},
    {"logit_bias[0]", "nan",
     [](SamplingOptions& o) {
       o.logit_bias = {{0, kNan}};
     }},
    {"logit_bias[0]", "inf",
     [](SamplingOptions& o) {
       o.logit_bias = {{0, kInfinity}};
     }},
};

TEST(CheckSampling, OutOfRange_IsRefusedWithNameValueAndRange) {
  for (const BadSampling& bad : kBadSampling) {
    SamplingOptions options;
    bad.set(options);
    const auto error = Thrown([&] { CheckSampling(options, kVocabulary); });
    ASSERT_TRUE(error) << bad.name << " = " << bad.value;
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error->summary().find(bad.name), std::string::npos) << error->what();
    EXPECT_NE(error->numbers().find(bad.value + ","), std::string::npos) << error->what();
    EXPECT_NE(error->numbers().find("allowed: "), std::string::npos) << error->what();
    EXPECT_FALSE(error->hint().empty());
  }
}

TEST(CheckSampling, EndsOfTheRanges_AreAccepted) {
  CheckSampling({}, kVocabulary);
  CheckSampling(
      {.temperature = 0, .top_k = 0, .top_p = 0, .min_p = 0, .repetition_penalty = 1e-9, .repetition_window = 0},
      kVocabulary);
  CheckSampling({.temperature = 1e300,
                 .top_k = std::numeric_limits<int>::max(),
                 .top_p = 1,
                 .min_p = 1,
                 .repetition_penalty = 1e300,
                 .repetition_window = std::numeric_limits<int>::max(),
                 .logit_bias = {{0, -kInfinity}, {kVocabulary - 1, 1e300}},
                 .seed = ~uint64_t{0}},
                kVocabulary);
}

TEST(CheckStops, OutOfRange_IsRefusedWithNameValueAndRange) {
  struct Bad {
    StopOptions options;
    std::string part;
  };
  const std::vector<Bad> bads = {{{.max_tokens = -1}, "max_tokens = -1, allowed: 0"},
                                 {{.tokens = {0, -1}}, "stop token [1] = -1, allowed: 0 to 9"},
                                 {{.tokens = {10}}, "stop token [0] = 10, allowed: 0 to 9"},
                                 {{.tokens = {1, 2, 2147483647}}, "stop token [2] = 2147483647"},
                                 {{.strings = {"a", ""}}, "stop string [1] is empty"},
                                 {{.strings = {"ab\xFF"}}, "byte 2 of 3"},
                                 {{.strings = {"\xA6"}}, "byte 0 of 1"}};
  for (const Bad& bad : bads) {
    const auto error = Thrown([&] { CheckStops(bad.options, kVocabulary); });
    ASSERT_TRUE(error) << bad.part;
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error->what()).find(bad.part), std::string::npos) << error->what();
  }
}

TEST(CheckStops, EndsOfTheRanges_AreAccepted) {
  CheckStops({}, kVocabulary);
  CheckStops({.max_tokens = 0, .tokens = {0, 9}, .strings = {"a", std::string("\0", 1), "\n", "é", "🙂"}},
             kVocabulary);
  CheckStops({.max_tokens = std::numeric_limits<int64_t>::max()}, kVocabulary);
}

}  // namespace
}  // namespace ekvi::engine
