// From options to a model and a session: what every command that runs a model begins with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/progress.h"
#include "ekvi/chat_template.h"
#include "ekvi/session.h"

namespace ekvi::cli {

// The model of `path`, or the embedded one, in the arithmetic of --compute where the command has that option. Options
// that are wrong with any model are refused before it is read (as CacheTypesOf and SessionOptionsOf).
std::shared_ptr<const Model> LoadModel(const Arguments& arguments, const std::optional<std::string>& path,
                                       Progress& progress);
// The same for the path of -m.
std::shared_ptr<const Model> LoadModel(const Arguments& arguments, Progress& progress);

// The tokenizer of -m, whose weights are not read, or that of the embedded model.
std::shared_ptr<const Tokenizer> LoadTokenizer(const Arguments& arguments, Progress& progress);

// As FindChatTemplate.
ModelTemplate LoadTemplate(const std::string& path);

// Tokens of --ctx, and in words where the number comes from. max: the model's maximum. auto: the same, or as much as
// fits half of the free memory where that is less. A number past the model's maximum: Error(kInvalidArgument).
struct Context {
  int64_t tokens = 0;
  std::string reason;  // "the model's maximum"
};
Context ContextOf(const Arguments& arguments, const Model& model);

// The types of --kv-type; empty: automatic, as where the command has no such option.
struct CacheTypes {
  std::optional<DType> k, v;
};
CacheTypes CacheTypesOf(const Arguments& arguments);

// The target of --target; empty for auto. Error(kUnsupported) for one that this machine lacks.
std::string TargetOf(const Arguments& arguments);

// --kv, --kv-type, --block, --chunk, --threads, --target over a cache of `context` tokens. Error(kUnsupported) for a
// target that this machine lacks.
SessionOptions SessionOptionsOf(const Arguments& arguments, int64_t context);

// ExitError (kUsage) with the numbers where prompt and new tokens do not fit. `new_tokens` 0: the prompt alone counts.
struct Demand {
  int64_t prompt = 0;
  int64_t new_tokens = 0;
  std::string prompt_name = "prompt";
};
void CheckFits(const Demand& demand, const Context& context, const Model& model);

// "smollm2-135m Q4_1 | llama 30 layers, 9/3 heads | ctx 8192 | KV paged f16, 180 MiB at most | 2 threads | avx512".
std::string HeaderLine(Session& session);

}  // namespace ekvi::cli
