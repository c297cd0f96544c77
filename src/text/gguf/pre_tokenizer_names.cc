// The rules are those of the models' own tokenizer.json; what each name stands for is set by llama.cpp, which made the
// names up (src/llama-vocab.cpp). Names whose rule cannot be written as patterns are not known here.
#include "text/gguf/pre_tokenizer_names.h"

#include <algorithm>
#include <array>
#include <vector>

#include "text/pipeline/digit_groups.h"

namespace ekvi::text {
namespace {

// Each pattern isolates its matches in what the one before it left.
constexpr size_t kPatternsMax = 6;
struct Rule {
  std::array<std::string_view, kPatternsMax> patterns;
};

#define EKVI_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define EKVI_BLANKS R"(\s+(?!\S)|\s+)"
#define EKVI_LINES R"(\s*[\r\n]+|)" EKVI_BLANKS
#define EKVI_SIGNS R"( ?[^\s\p{L}\p{N}]+[\r\n]*|)"
#define EKVI_WORDS R"([^\r\n\p{L}\p{N}]?\p{L}+)"
// Words in which a capital begins the next: upper and lower case as gpt-4o and its kin see them.
#define EKVI_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define EKVI_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define EKVI_CASED(tail)                                                                                        \
  R"([^\r\n\p{L}\p{N}]?)" EKVI_UPPER "*" EKVI_LOWER "+" tail R"(|[^\r\n\p{L}\p{N}]?)" EKVI_UPPER "+" EKVI_LOWER \
  "*" tail "|"
#define EKVI_DEEPSEEK_WORDS R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"

constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kHanKana = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr std::string_view kBloomWords = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kHanHangul = "[一-龥ࠀ-一가-\uD7FF]+";

constexpr Rule kGpt2 = {{kGpt2Words}};
constexpr Rule kDigitsGpt2 = {{kDigit, kGpt2Words}};
constexpr Rule kLlama3 = {{EKVI_CONTRACTIONS "|" EKVI_WORDS R"(|\p{N}{1,3}|)" EKVI_SIGNS EKVI_LINES}};
#define EKVI_UNCONTRACTED EKVI_WORDS R"(|\p{N}|)" EKVI_SIGNS EKVI_LINES
constexpr Rule kQwen2 = {{EKVI_CONTRACTIONS "|" EKVI_UNCONTRACTED}};
constexpr Rule kLaguna = {{R"([^\n]+|[\n]+)", EKVI_CONTRACTIONS "|" EKVI_UNCONTRACTED}};
constexpr Rule kUfakzeka = {{EKVI_UNCONTRACTED}};
constexpr Rule kMinicpm5 = {{R"(\p{N}{1,3})", EKVI_CONTRACTIONS "|" EKVI_WORDS R"(|\p{N}+|)" EKVI_SIGNS EKVI_LINES}};
constexpr Rule kSuperBpe = {{R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}};
constexpr Rule kQwen35 = {
    {EKVI_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" EKVI_LINES}};
#define EKVI_GPT4O EKVI_CASED(EKVI_CONTRACTIONS "?") R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" EKVI_LINES
constexpr Rule kGpt4o = {{EKVI_GPT4O}};
constexpr Rule kTinyAya = {{R"(\d{1,3}(?=(?:\d{3})*\b))", EKVI_GPT4O}};
constexpr Rule kTekken = {{EKVI_CASED("") R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" EKVI_LINES}};
constexpr Rule kBloom = {{kBloomWords}};
constexpr Rule kViking = {{kBloomWords, kDigit}};
constexpr Rule kFalcon = {{R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Words, "[0-9][0-9][0-9]"}};
constexpr Rule kDefault = {{R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Words, R"(\p{N}+)", "[0-9][0-9][0-9]"}};
constexpr Rule kDeepseek3 = {{R"(\p{N}{1,3})", kHanKana, EKVI_DEEPSEEK_WORDS R"( ?[\p{P}\p{S}]+[\r\n]*|)" EKVI_LINES}};
constexpr Rule kSpark25 = {
    {R"(\p{N}{1,3})", kHanKana, EKVI_DEEPSEEK_WORDS R"( ?[\p{P}\p{S}]+|[\r\n]|)" EKVI_BLANKS, kDigit}};
constexpr Rule kDeepseekCoder = {{R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kHanHangul, kDigit}};
constexpr Rule kDeepseekLlm = {
    {R"([\r\n])",
     R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
     R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C})"
     R"(\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5})"
     R"(\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})"
     R"(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45})"
     R"(\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4})"
     R"(\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB})"
     R"(\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115})"
     R"(\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})"
     R"(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2})"
     R"(\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
     R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
     R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
     R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)",
     R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)", kHanHangul, R"(\p{N}+)"}};
constexpr Rule kSeedCoder = {{EKVI_CONTRACTIONS "|" EKVI_WORDS R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" EKVI_LINES}};
constexpr Rule kBailing = {{R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
                            R"(\s*[\r\n]|)" EKVI_BLANKS}};
constexpr Rule kExaoneMoe = {
    {EKVI_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
                       R"(\s*[\r\n]|)" EKVI_BLANKS}};
// Line ends are not looked for right behind a blank: what took that blank has found that none follows. Without this
// the rest of a run of blanks would be looked through again every 512 characters.
#define EKVI_BEHIND_NO_BLANK \
  R"((?<![\t\x{b}\x{c} \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]))"
constexpr Rule kJais2 = {
    {EKVI_CONTRACTIONS "|" EKVI_WORDS R"(|\p{N}{1,3}|)" EKVI_SIGNS EKVI_BEHIND_NO_BLANK R"(\s*[\r\n]+|\s{512}(?!\S)|)"
                       R"(\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)"
                       R"(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}};
constexpr Rule kChameleon = {{"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"(([\t\n]|    |  ))", kDigit,
                              R"([\p{P}!-/:-@\[-`{-~])", kGpt2Words}};
constexpr Rule kYoutu = {
    {"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+",
     EKVI_CASED(EKVI_CONTRACTIONS "?") R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" EKVI_LINES}};

enum class Whole { kMerged, kTaken };  // a word that is a token as a whole
enum class Begin { kOnRequest, kAdded };

struct Named {
  std::string_view name;
  const Rule* rule;
  Whole whole = Whole::kMerged;
  Begin begin = Begin::kOnRequest;
};

constexpr Named kNamed[] = {
    {"a.x-4.0", &kGpt2},
    {"bailingmoe", &kBailing},
    {"bailingmoe2", &kBailing},
    {"bloom", &kBloom},
    {"chameleon", &kChameleon, Whole::kMerged, Begin::kAdded},
    {"chatglm-bpe", &kLlama3},
    {"codeshell", &kDigitsGpt2},
    {"cohere2moe", &kTinyAya},
    {"command-r", &kDigitsGpt2},
    {"dbrx", &kLlama3},
    {"deepseek-coder", &kDeepseekCoder},
    {"deepseek-llm", &kDeepseekLlm},
    {"deepseek-r1-qwen", &kQwen2},
    {"deepseek-v3", &kDeepseek3},
    {"default", &kDefault},
    {"exaone", &kDigitsGpt2},
    {"exaone-moe", &kExaoneMoe},
    {"exaone4", &kGpt2},
    {"f2llmv2", &kQwen2},
    {"falcon", &kFalcon},
    {"falcon-h1", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"falcon3", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"gigachat", &kGpt2},
    {"glm4", &kLlama3},
    {"gpt-2", &kGpt2},
    {"gpt-4o", &kGpt4o},
    {"gpt3-finnish", &kBloom},
    {"granite-docling", &kGpt2},
    {"granite-embed-multi-97m", &kGpt4o, Whole::kTaken},
    {"grok-2", &kQwen2},
    {"hunyuan", &kQwen2},
    {"hunyuan-dense", &kDeepseek3},
    {"hy_v4", &kDeepseek3},
    {"jais", &kGpt2},
    {"jais-2", &kJais2},
    {"jina-de", &kGpt2},
    {"jina-es", &kGpt2},
    {"jina-v1-en", &kGpt2},
    {"jina-v2-code", &kGpt2},
    {"jina-v2-de", &kGpt2},
    {"jina-v2-es", &kGpt2},
    {"jina-v5-nano", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"joyai-llm", &kDeepseek3},
    {"kanana2", &kGpt4o},
    {"kormo", &kQwen2},
    {"laguna", &kLaguna},
    {"lfm2", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"llada-moe", &kBailing},
    {"llama-bpe", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"llama-v3", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"llama3", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"llama4", &kGpt4o},
    {"megrez", &kQwen2},
    {"mellum", &kGpt2},
    {"mellum2", &kDigitsGpt2},
    {"midm-2.0", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"minerva-7b", &kDigitsGpt2},
    {"minicpm5", &kMinicpm5, Whole::kTaken},
    {"minimax-m2", &kGpt4o},
    {"modern-bert", &kGpt2},
    {"mpt", &kGpt2},
    {"olmo", &kGpt2},
    {"phi-2", &kGpt2},
    {"pixtral", &kLlama3, Whole::kTaken, Begin::kAdded},
    {"poro-chat", &kBloom},
    {"qwen2", &kQwen2},
    {"qwen35", &kQwen35},
    {"refact", &kDigitsGpt2},
    {"roberta-bpe", &kGpt2},
    {"seed-coder", &kSeedCoder},
    {"smaug-bpe", &kLlama3},
    {"smollm", &kDigitsGpt2},
    {"solar-open", &kQwen2},
    {"spark2_5", &kSpark25},
    {"stablelm2", &kQwen2},
    {"starcoder", &kDigitsGpt2},
    {"superbpe", &kSuperBpe},
    {"talkie", &kGpt4o},
    {"tekken", &kTekken, Whole::kTaken, Begin::kAdded},
    {"tiny_aya", &kTinyAya},
    {"trillion", &kGpt2},
    {"ufakzeka", &kUfakzeka},
    {"viking", &kViking},
    {"youtu", &kYoutu, Whole::kTaken},
};
static_assert(std::ranges::is_sorted(kNamed, {}, &Named::name));

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kNamed)> names;
  std::ranges::transform(kNamed, names.begin(), &Named::name);
  return names;
}();

}  // namespace

NamedPreTokenizer FindPreTokenizer(std::string_view name) {
  const auto* const named = std::ranges::lower_bound(kNamed, name, {}, &Named::name);
  if (named == std::end(kNamed) || named->name != name) return {};
  PreTokenizers row;
  for (const std::string_view pattern : named->rule->patterns) {
    if (pattern.empty()) break;
    std::unique_ptr<const CutPattern> cut = MakeDigitGroups(pattern);
    if (cut == nullptr) cut = std::make_unique<RegexCut>(pattern);
    row.push_back(std::make_unique<Splitter>(std::move(cut), CutBehavior::kIsolated));
  }
  return {std::make_unique<PreTokenizerRow>(std::move(row)), named->whole == Whole::kTaken,
          named->begin == Begin::kAdded};
}

std::span<const std::string_view> PreTokenizerNames() { return kNames; }

}  // namespace ekvi::text
