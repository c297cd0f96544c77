// How fast each kind of tokenizer is on one core: English text, and texts made to be slow. Checked before it is timed:
// decoding gives the text back, and half of the time is spent on half of the text (linear), within a factor of two.
//
//   tokenizer_bench [FILE…]   vocabularies (GGUF or tokenizer.json) instead of those of the shared material
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ekvi/error.h"
#include "ekvi/tokenizer.h"

namespace ekvi::text {
namespace {

using Ids = std::vector<int32_t>;
constexpr EncodeOptions kPlain{.begin = false};
constexpr size_t kBytes = 1 << 20;

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// This repository's documents, over and over: English with code, tables and numbers.
std::string English(size_t bytes) {
  std::string once, text;
  const std::filesystem::path root = EKVI_SOURCE_DIR;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") once += ReadFile(entry.path());
  }
  while (text.size() < bytes) text += once;
  return text;
}

std::string Repeat(std::string_view part, size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

struct Timing {
  double seconds = 0;
  Ids ids;
};

Timing Best(const Tokenizer& tokenizer, const std::string& text, int rounds) {
  Timing best{1e9, {}};
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t begin = std::clock();  // of this process: who else is busy does not count
    best.ids = tokenizer.Encode(text, kPlain);
    best.seconds = std::min(best.seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

void Report(const Tokenizer& tokenizer, std::string_view name, const std::string& text, int rounds) {
  const Timing whole = Best(tokenizer, text, rounds);
  const Timing half = Best(tokenizer, text.substr(0, text.size() / 2), rounds);
  const std::string back = tokenizer.Decode(whole.ids);
  const bool same = back == text || back.size() + 1 == text.size();  // a leading space may belong to the vocabulary
  fmt::print("  {:<24} {:>8.1f} MB/s {:>9} tokens, half takes {:.2f} of it{}\n", name,
             text.size() / whole.seconds / 1e6, whole.ids.size(), half.seconds / whole.seconds,
             same ? "" : "; not the text back");
}

void Run(const std::filesystem::path& file) {
  const std::clock_t begin = std::clock();
  const auto tokenizer = Tokenizer::Load(file);
  const double spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  fmt::print("{}: {}, loaded in {:.0f} ms\n", file.filename().string(), tokenizer->Description(), spent * 1e3);
  Report(*tokenizer, "English", English(8 * kBytes), 3);
  const std::pair<std::string_view, std::string_view> kHostile[] = {{"one letter", "a"},
                                                                    {"one capital", "A"},
                                                                    {"blanks", " "},
                                                                    {"line ends", "\n"},
                                                                    {"combining marks", "\u0301"},
                                                                    {"two kinds of marks", "\u0301\u0323"},
                                                                    {"digits", "7"},
                                                                    {"signs", "!"},
                                                                    {"ideographs", "好"},
                                                                    {"blank and letter", "a  "},
                                                                    {"apostrophes", "'s"}};
  for (const auto& [name, part] : kHostile) Report(*tokenizer, name, Repeat(part, kBytes), 1);
}

}  // namespace
}  // namespace ekvi::text

int main(int argc, char** argv) try {
  std::vector<std::filesystem::path> files(argv + 1, argv + argc);
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2", "starcoder", "llama-spm"}) {
    const char* const shared = std::getenv("EKVI_SHARED");
    const std::filesystem::path root = shared != nullptr ? shared : EKVI_SOURCE_DIR "/../shared";
    const auto file = root / "tokenizers" / (std::string(name) + ".gguf");
    if (argc == 1 && std::filesystem::exists(file)) files.push_back(file);
  }
  if (files.empty()) fmt::print("no vocabularies: name some, or set EKVI_SHARED\n");
  for (const auto& file : files) ekvi::text::Run(file);
} catch (const ekvi::Error& error) {
  fmt::print(stderr, "error: {}\n", error.what());
  return 1;
}
