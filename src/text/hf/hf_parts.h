// The parts of a tokenizer.json, each made of its JSON. What is not supported is refused by its name and place:
// Error(kUnsupported); what has a wrong form: Error(kCorrupt).
#pragma once

#include <memory>
#include <vector>

#include "text/hf/hf_json.h"
#include "text/pipeline/decode_steps.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/pre_tokenizer.h"

namespace ekvi::text {

// {"String": "…"} or {"Regex": "…"}.
std::unique_ptr<const CutPattern> ReadHfPattern(const JsonValue& pattern);

// A string of exactly one character.
std::string ReadHfCharacter(const JsonValue& value);

std::unique_ptr<const Normalizer> ReadHfNormalizer(const JsonValue& normalizer);

// The row in order, sequences spread out. A byte-level step, which writes bytes as the characters of the byte alphabet,
// is left out where it comes last: `bytes_last` says so, and the model then works on bytes.
struct HfPreTokenizers {
  PreTokenizers row;
  bool bytes_last = false;
  bool spells_bytes = false;  // a byte-level step came earlier
};
HfPreTokenizers ReadHfPreTokenizers(const JsonValue& pre_tokenizer);

DecodeSteps ReadHfDecoder(const JsonValue& decoder);

// The ids of the tokens that a post-processor puts in front of a text. What it puts behind one is left out:
// a text that is to be continued has no end.
std::vector<int32_t> ReadHfPrefix(const JsonValue& post_processor, int32_t size);

}  // namespace ekvi::text
