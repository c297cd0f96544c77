// What must hold: a tokenizer.json of any bytes is refused, or makes a tokenizer that keeps its contract.
#include "fuzzing.h"
#include "text/hf/hf_tokenizer.h"
#include "text/tokenizer_fuzzing.h"

namespace ekvi::fuzzing {
namespace {

constexpr const char* kBpe =
    R"({"type":"BPE","unk_token":"<u>","byte_fallback":true,"fuse_unk":true,"vocab":{"<u>":0,"a":1,"b":2,"ab":3,"_":4,)"
    R"("<0x41>":5,"\u0120":6},"merges":["a b"]})";
constexpr const char* kUnigram = R"({"type":"Unigram","unk_id":0,"vocab":[["<u>",0],["a",-1.5],["_a",-2],["b",-3]]})";
constexpr const char* kWordPiece =
    R"({"type":"WordPiece","unk_token":"<u>","continuing_subword_prefix":"##","max_input_chars_per_word":20,)"
    R"("vocab":{"<u>":0,"a":1,"##b":2}})";
constexpr const char* kWordLevel = R"({"type":"WordLevel","unk_token":"<u>","vocab":{"<u>":0,"ab":1}})";

struct Parts {
  std::string normalizer, pre_tokenizer, decoder;
};

std::string Json(const char* model, const Parts& parts) {
  return R"({"version":"1.0","added_tokens":[{"id":0,"content":"<u>","special":true},{"id":9,"content":"<s>",)"
         R"("single_word":true,"lstrip":true,"rstrip":true,"normalized":true,"special":false}],"normalizer":)" +
         parts.normalizer + R"(,"pre_tokenizer":)" + parts.pre_tokenizer + R"(,"decoder":)" + parts.decoder +
         R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<u>"}},)"
         R"({"Sequence":{"id":"A"}}],"special_tokens":{"<u>":{"id":"<u>","ids":[0],"tokens":["<u>"]}}},"model":)" +
         model + "}";
}

constexpr const char* kCase =
    R"({"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"StripAccents"},{"type":"Lowercase"},)"
    R"({"type":"Replace","pattern":{"Regex":"[^a-z]+"},"content":"b"},{"type":"Prepend","prepend":"_"},)"
    R"({"type":"Strip","strip_left":true,"strip_right":false}]})";
constexpr const char* kBert =
    R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true})";
constexpr const char* kCuts =
    R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s?\\p{L}{1,3}|."},)"
    R"("behavior":"MergedWithPrevious","invert":true},{"type":"Digits","individual_digits":true},)"
    R"({"type":"Punctuation","behavior":"Contiguous"},{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]})";
constexpr const char* kMetaspace = R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first","split":true})";
constexpr const char* kSteps =
    R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"_"},"content":" "},)"
    R"({"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})";

}  // namespace

void TryInput(std::string_view input) {
  text::CheckTokenizer(*text::LoadTokenizerJson(input, "input"), text::kFuzzText);
}

std::vector<std::string> Seeds() {
  return {Json(kBpe, {"null", kMetaspace, kMetaspace}),
          Json(kBpe, {kCase, kCuts, R"({"type":"ByteLevel"})"}),
          Json(kUnigram, {R"({"type":"NFC"})", kMetaspace, kSteps}),
          Json(kWordPiece, {kBert, R"({"type":"BertPreTokenizer"})", R"({"type":"WordPiece","prefix":"##"})"}),
          Json(kWordLevel, {"null", R"({"type":"WhitespaceSplit"})", "null"}),
          Json(kWordLevel, {R"({"type":"Nmt"})", R"({"type":"CharDelimiterSplit","delimiter":"a"})", "null"})};
}

}  // namespace ekvi::fuzzing
