#include "cli/options.h"

#include <array>

#include "cli/sampling_options.h"

namespace ekvi::cli {
namespace {

constexpr Option kModel[] = {
    {.name = "model",
     .letter = 'm',
     .kind = ValueKind::kPath,
     .value = "MODEL",
     .help = "model file; without it the embedded one"},
};

constexpr Option kCompute[] = {
    {.name = "compute",
     .kind = ValueKind::kChoice,
     .words = "auto|f32|f64|int8",
     .fallback = "auto",
     .help = "arithmetic"},
};

constexpr Option kCache[] = {
    {.name = "ctx",
     .letter = 'c',
     .kind = ValueKind::kInteger,
     .value = "auto|max|N",
     .words = "auto|max",
     .minimum = 1,
     .fallback = "auto",
     .help = "tokens the cache holds"},
    {.name = "kv-type",
     .kind = ValueKind::kText,
     .value = "K[:V]",
     .fallback = "auto",
     .help = "types: auto, f64, f32, f16, bf16"},
};

constexpr Option kRun[] = {
    {.name = "kv",
     .kind = ValueKind::kChoice,
     .words = "paged|contiguous",
     .fallback = "paged",
     .help = "storage of keys and values"},
    {.name = "block",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 16,
     .maximum = 256,
     .multiple = 16,
     .fallback = "32",
     .help = "tokens of a block, a multiple of 16"},
    {.name = "chunk",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 1,
     .fallback = "512",
     .help = "prompt tokens per step at most"},
    {.name = "threads",
     .letter = 't',
     .kind = ValueKind::kInteger,
     .value = "auto|N",
     .words = "auto",
     .minimum = 1,
     .maximum = 1024,
     .fallback = "auto",
     .help = "threads that compute"},
    {.name = "target",
     .kind = ValueKind::kChoice,
     .value = "TARGET",
     .words = "auto|scalar|avx2|avx2_vnni|avx512|avx512_vnni",
     .fallback = "auto",
     .help = "vector instructions (ekvi doctor)"},
};

constexpr Option kSeed[] = {
    {.name = "seed",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 0,
     .fallback = "0",
     .help = "draws follow it and the position"},
};

constexpr Option kOutput[] = {
    {.name = "output",
     .letter = 'o',
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "the answer goes there instead of stdout"},
    {.name = "json", .help = "the answer as one JSON object"},
    {.name = "quiet", .letter = 'q', .help = "nothing on stderr but errors"},
    {.name = "verbose", .letter = 'v', .help = "more on stderr"},
    {.name = "color",
     .kind = ValueKind::kChoice,
     .words = "auto|always|never",
     .fallback = "auto",
     .help = "auto: on a terminal, not NO_COLOR"},
    {.name = "progress",
     .kind = ValueKind::kChoice,
     .words = "auto|bar|plain|none",
     .fallback = "auto",
     .help = "auto: a line on a terminal"},
    {.name = "help", .letter = 'h', .environment = Environment::kIgnore, .help = "this text"},
};

}  // namespace

const OptionGroup& ModelGroup() {
  static constexpr OptionGroup kGroup{"Model", kModel, Sharing::kShared};
  return kGroup;
}

const OptionGroup& ComputeGroup() {
  static constexpr OptionGroup kGroup{
      "Arithmetic", kCompute, Sharing::kShared,
      "`auto` depends on the model only: int8 for quantized weights (activations are rounded "
      "to 8 bits), f32 for others. "
      "`f64` is the oracle: slower, for comparison with other implementations."};
  return kGroup;
}

const OptionGroup& CacheGroup() {
  static constexpr OptionGroup kGroup{
      "Cache", kCache, Sharing::kShared,
      "`--ctx auto` is the model's maximum, or what half of the free memory holds where that is less; `max` is the "
      "model's maximum; a number past it is refused. `--kv-type auto` depends on the model only: f32 where the weights "
      "are F32, else f16, and f64 in f64 arithmetic; `f16:bf16` gives keys and values different types."};
  return kGroup;
}

const OptionGroup& RunGroup() {
  static constexpr OptionGroup kGroup{
      "Work (changes no bit of a result)", kRun, Sharing::kShared,
      "`--threads auto` is the cores of the process's affinity, or its cgroup quota rounded down where that is less "
      "(`ekvi doctor` says which). `--target auto` is the best of the machine; one that the machine lacks is refused. "
      "`--block` is for paged storage."};
  return kGroup;
}

const OptionGroup& ThreadsGroup() {
  static constexpr OptionGroup kGroup{"Work", std::span<const Option>(kRun).last(2), Sharing::kShared};
  return kGroup;
}

const OptionGroup& SeedGroup() {
  static constexpr OptionGroup kGroup{
      "Random", kSeed, Sharing::kShared,
      "The draw for a token depends on the seed and the token's position in the sequence only."};
  return kGroup;
}

const OptionGroup& OutputGroup() {
  static constexpr OptionGroup kGroup{
      "Output", kOutput, Sharing::kShared,
      "`-o` puts the answer in place in full or not at all. Progress appears after 300 ms, on stderr only, and is gone "
      "before the answer: `bar` draws one line anew, with a bar where the end is known, `plain` writes a line in a "
      "while, `auto` is `bar` where stderr is a terminal. The environment variables of flags take 1, true, yes, on, 0, "
      "false, no, off."};
  return kGroup;
}

std::span<const OptionGroup* const> SharedGroups() {
  static const std::array kGroups = {&SamplingGroup(), &ModelGroup(), &ComputeGroup(), &CacheGroup(),
                                     &RunGroup(),      &SeedGroup(),  &OutputGroup()};
  return kGroups;
}

const OptionGroup& ReportGroup() {
  static constexpr OptionGroup kGroup{"Output", std::span<const Option>(kOutput).subspan(1), Sharing::kShared};
  return kGroup;
}

}  // namespace ekvi::cli
