// Goal: of the places where a folder may keep its chat template the first that has one counts, and what is no template
// is refused by name. Method: folders with every set of the three files.
#include <gtest/gtest.h>

#include "ekvi/error.h"
#include "temporary_folder.h"
#include "text/chat_template_source.h"

namespace ekvi::text {
namespace {

TEST(HfChatTemplate, TheFirstFileWithATemplateCounts) {
  const std::pair<const char*, const char*> files[] = {
      {"chat_template.jinja", "plain"},
      {"chat_template.json", R"({"chat_template": "json"})"},
      {"tokenizer_config.json", R"({"chat_template": [{"name": "other", "template": "x"},
                                                      {"name": "default", "template": "config"}],
                                    "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}})"}};
  const std::string_view sources[] = {"plain", "json", "config"};
  for (unsigned set = 0; set < 8; ++set) {
    const ekvi::testing::TemporaryFolder folder("chat-template");
    std::string name, source;
    for (size_t i = 0; i < 3; ++i) {
      if ((set >> i & 1) == 0) continue;
      const auto path = folder.Write(files[i].first, files[i].second);
      if (!source.empty()) continue;
      name = path.string();
      source = sources[i];
    }
    const ModelTemplate found = HfChatTemplate(folder.path());
    EXPECT_EQ(found.source, source) << set;
    EXPECT_EQ(found.name, name) << set;
    EXPECT_EQ(found.begin_token, set >= 4 ? "<s>" : "") << set;
    EXPECT_EQ(found.end_token, set >= 4 ? "</s>" : "") << set;
  }
}

TEST(HfChatTemplate, WhatIsNoObjectIsRefusedWithItsFile) {
  for (const std::string name : {"chat_template.json", "tokenizer_config.json"}) {
    for (const std::string_view content : {"", "[", "[]", "1", "{} {}"}) {
      const ekvi::testing::TemporaryFolder folder("chat-template-bad");
      folder.Write(name, content);
      try {
        HfChatTemplate(folder.path());
        ADD_FAILURE() << name << ": " << content;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
        EXPECT_NE(error.summary().find(name), std::string::npos) << error.summary();
      }
    }
  }
}

}  // namespace
}  // namespace ekvi::text
