// For tests of tokenizers: vocabularies of the shared material with the reference's ids, files made in memory, and a
// small stack.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "files/gguf_test_builder.h"
#include "shared_path.h"
#include "temporary_folder.h"
#include "text/test_vocabulary.h"

namespace ekvi::text {

using Ids = std::vector<int32_t>;

inline constexpr EncodeOptions kPlain{.begin = false};
inline constexpr EncodeOptions kSpecial{.begin = false, .special = true};

// The vocabulary of Llama 2 (32,000 pieces) and that of a small trained model (512 pieces).
inline const std::filesystem::path kLlamaFile = testing::SharedPath("tokenizers/llama-spm.gguf");
inline const std::filesystem::path kStoriesFile = testing::SharedPath("models/stories260K.gguf");
inline std::unique_ptr<Tokenizer> LlamaTokenizer() { return OpenTokenizer(kLlamaFile); }
inline std::unique_ptr<Tokenizer> StoriesTokenizer() { return OpenTokenizer(kStoriesFile); }

inline std::unique_ptr<Tokenizer> LoadBuilt(const files::GgufBuilder& builder) {
  const std::string bytes = builder.Build();
  return LoadTokenizer(files::GgufFile::Borrow(files::AsBytes(bytes), "memory.gguf"));
}

inline std::vector<std::string> SplitText(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t next; (next = text.find(separator, at)) != std::string::npos; at = next + separator.size()) {
    parts.push_back(text.substr(at, next - at));
  }
  parts.push_back(text.substr(at));
  return parts;
}

// Every text beside a vocabulary gets the reference's ids, and comes back from them; how many there are.
inline size_t ExpectReferenceIds(const std::filesystem::path& vocabulary) {
  const auto tokenizer = OpenTokenizer(vocabulary);
  const auto inputs = SplitText(testing::ContentOf(vocabulary.string() + ".inp"), "\n__ggml_vocab_test__\n");
  const auto outputs = SplitText(testing::ContentOf(vocabulary.string() + ".out"), "\n");
  const size_t count = std::min(inputs.size(), outputs.size());
  for (size_t i = 0; i < count; ++i) {
    std::istringstream line(outputs[i]);
    const Ids wanted{std::istream_iterator<int32_t>(line), {}};
    EXPECT_EQ(tokenizer->Encode(inputs[i], kPlain), wanted) << vocabulary << ", input " << i << ": " << inputs[i];
    EXPECT_EQ(tokenizer->DecodeBytes(wanted), inputs[i]);
    EXPECT_EQ(tokenizer->Decode(wanted), inputs[i]);
  }
  return count;
}

// `work` runs on a thread with a stack of 256 KiB.
inline void OnSmallStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace ekvi::text
