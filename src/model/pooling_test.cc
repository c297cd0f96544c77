// Goal: only real tokens of right-padded rows are averaged, and masks that say anything else are refused. Method:
// averages by hand, and one wrong mask at a time.
#include "model/pooling.h"

#include <gtest/gtest.h>

#include <string>

#include "ekvi/error.h"

namespace ekvi::model {
namespace {

using Mask = std::vector<uint8_t>;

std::string RefusalOf(const Mask& mask, int64_t tokens) {
  try {
    KeptTokens(mask, tokens, 3);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "taken";
}

TEST(Pooling, RightPadding_KeepsTheFirstTokens) {
  EXPECT_EQ(KeptTokens(Mask{1, 1, 0, 0}, 4, 0), 2);
  EXPECT_EQ(KeptTokens(Mask{1}, 1, 0), 1);
  EXPECT_EQ(KeptTokens(Mask{1, 1, 1}, 3, 0), 3);
}

TEST(BR_06, MaskOfAnotherLength_IsRefusedWithBothLengths) {
  for (const Mask& mask : {Mask{1}, Mask{0, 1, 1, 1, 1}, Mask{}}) {
    const std::string text = RefusalOf(mask, 4);
    EXPECT_NE(text.find("row 3"), std::string::npos) << text;
    EXPECT_NE(text.find("mask " + std::to_string(mask.size()) + ", tokens 4"), std::string::npos) << text;
  }
}

TEST(Pooling, EmptyMask_IsRefused) {
  EXPECT_NE(RefusalOf({0, 0, 0}, 3).find("keeps no token"), std::string::npos);
  EXPECT_NE(RefusalOf({}, 0).find("keeps no token"), std::string::npos);
}

TEST(Pooling, PaddingOnTheLeftOrWithin_IsRefusedWithBothPlaces) {
  EXPECT_NE(RefusalOf({0, 1, 1}, 3).find("token 0 is padding, token 1 after it is not"), std::string::npos);
  EXPECT_NE(RefusalOf({1, 0, 0, 1}, 4).find("token 1 is padding, token 3 after it is not"), std::string::npos);
}

TEST(Pooling, Classes_AreTheHeadOfTheMeanOfKeptTokens) {
  const std::vector<double> hidden = {1, 2, 3, 6, 1e300, 1e300};  // [3, 2]; the last token is padding
  const std::vector<double> head = {1, 0, 0, 1, 1, 1};            // [labels 3, width 2]
  base::ThreadPool pool(1);
  const MatrixView view{.name = "class_head",
                        .format = numeric::Format::kF64,
                        .data = reinterpret_cast<const std::byte*>(head.data()),
                        .stored_outputs = 3,
                        .outputs = 3,
                        .inputs = 2};
  const Classifier<double> classifier(view, {10, 20, 30}, pool);
  const Workshop<double> workshop(kernels::ParseTarget(""), &pool);
  EXPECT_EQ(classifier.Classes(hidden, Mask{1, 1, 0}, 0, workshop), (std::vector<double>{12, 24, 36}));
  EXPECT_THROW(classifier.Classes(hidden, Mask{1, 1}, 0, workshop), Error);
}

}  // namespace
}  // namespace ekvi::model
