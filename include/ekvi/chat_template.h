// A chat template: the Jinja text that comes with a model and turns a conversation into the text that it was trained
// on.
//
//   const ChatTemplate chat = ChatTemplate::Parse(source, "model.gguf");
//   const std::string prompt = chat.Render(R"({"messages": [{"role": "user", "content": "Hi"}],
//                                              "add_generation_prompt": true, "bos_token": "<s>"})");
//
// The language is Jinja2 as transformers sets it up for chat templates: restricted (values cannot be changed, nothing
// outside the template is reached), trim_blocks and lstrip_blocks, break and continue, `generation` blocks, `tojson`,
// `raise_exception`, `strftime_now`. Beyond it: the filters `from_json` and `fromjson`. Refused by name: loading other
// templates, autoescape, integers of more than 64 bits, `random`, `lipsum`, `pprint`, `urlize`, `wordwrap`, `xmlattr`.
//
// A template comes from wherever the model came from, so rendering is bounded whatever it says: 10 million steps
// (about a second), 16 MiB of text, 256 MiB of memory, 1,500 nested evaluations, values that nest 200 deep.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ekvi {

struct TemplateOptions {
  // What strftime_now gives for a format. Empty: FormatLocalTime of the system clock.
  std::function<std::string(std::string_view format)> strftime_now;
  // Texts of variables that the JSON leaves out, by name: the bos_token and eos_token of the model.
  std::vector<std::pair<std::string, std::string>> defaults;
};

class ChatTemplate {
 public:
  // `name` stands in errors. Errors, with the line: kCorrupt for what is no template, kUnsupported for parts of the
  // language that are refused and for more than 150 blocks or brackets in each other. Time is linear in the source.
  static ChatTemplate Parse(std::string_view source, std::string name);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  // The text for `variables`, a JSON object: messages, tools, add_generation_prompt, bos_token, eos_token and whatever
  // else the template reads. Keys of objects keep their order. From any number of threads at once.
  //
  // Errors: what the template says with raise_exception is Error(kInvalidArgument) with that text as its summary, since
  // the template refuses the conversation; kInvalidArgument for what is no JSON object; kCorrupt where the template
  // fails on the input (its line and Jinja's message); kUnsupported past a limit.
  std::string Render(std::string_view variables, const TemplateOptions& options = {}) const;

  const std::string& name() const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The template that comes with a model, and the begin and end tokens of its vocabulary as text.
struct ModelTemplate {
  std::string name;                    // for ChatTemplate::Parse: the file it is from
  std::string source;                  // empty: the model has none
  std::string begin_token, end_token;  // empty: the vocabulary has none
};

// Of a GGUF file (tokenizer.chat_template; weights are not needed) or of a Hugging Face folder (chat_template.jinja,
// else chat_template.json, else tokenizer_config.json; of several named templates the one named "default"). What it is
// is told by its content. Errors: kNotFound, kIo, kCorrupt as Model::Load.
ModelTemplate FindChatTemplate(const std::filesystem::path& path);

// A point in time in the local time zone by a strftime format, in English. %z and %Z give nothing, as for Python's
// datetime.now(). Error(kInvalidArgument) where the format has a NUL byte or the result more than 4,096 bytes.
std::string FormatLocalTime(std::string_view format, std::chrono::system_clock::time_point time);

}  // namespace ekvi
