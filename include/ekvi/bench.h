// Measurements of this machine: its ceilings, and what share of them the kernels and a whole model reach.
//
// Every result is checked before it is timed. Ceilings and kernels take turns in one run, so that what slows the
// machine slows both: a share says more than a rate. One thread is timed by its own processor time, several by the
// clock. No rights beyond a user's are needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ekvi/model.h"

namespace ekvi {

struct BenchOptions {
  std::vector<int> threads;  // empty: 1, and all that this process is granted
  std::string target;        // "scalar", "avx2" …; empty: the machine's best
  std::string filter;        // only kernels whose description holds it: "attention", "q8_0", "512"; empty: all
};

// What `threads` threads reach together when nothing holds them up.
struct BenchCeilings {
  int threads = 1;
  double fma_f32_gflops = 0;  // multiply-adds in registers, 10^9 operations a second
  double int8_gops = 0;       // products of bytes with 32-bit sums in registers, likewise
  double read_l2_gbps = 0, read_l3_gbps = 0, read_dram_gbps = 0;  // plain reading, 10^9 bytes a second
};

struct KernelMeasurement {
  std::string kernel;   // "attention_prefill", "attention_decode", "attention_decode_groups", "matmul" …
  std::string dtype;    // of cache or weights: "f16", "q4_k"
  std::string compute;  // "f32", "int8"
  int threads = 1;
  std::vector<std::pair<std::string, int64_t>> shape;  // what of it: q_heads, kv_heads, head_dim, new, past; m, n, k
  double seconds = 0;                                  // median
  double gflops = 0, gbps = 0;                         // operations, and bytes that must be read at least
  double share = 0;   // of the limit: the least time that operations and bytes allow / the median
  std::string limit;  // which of them: "fma", "int8", "read"
  double spread = 0;  // (slowest − fastest) / median, without the tenth at either end
};

struct KernelReport {
  std::vector<BenchCeilings> ceilings;  // one for each number of threads
  std::vector<KernelMeasurement> kernels;
};

// Measures all kernels; `on_row` sees each as it is done. Takes minutes. Errors: as Session for target and threads;
// kCorrupt where a result is wrong: then nothing of the build is to be trusted.
KernelReport BenchKernels(const BenchOptions& options,
                          const std::function<void(const KernelMeasurement&)>& on_row = {});

// tokens: of a prompt, at once. depth: tokens in the cache before `tokens` are generated one by one.
struct ModelMeasurement {
  std::string suite;  // "prefill", "decode", "batch"
  int64_t tokens = 0, depth = 0, sequences = 1;
  int threads = 1;
  double tok_s = 0;  // of all sequences together
  double gflops = 0, gbps = 0;  // of the weights used for a token, and of weights and cache that are read
  double share = 0;             // of the limit, as above
  std::string limit;
  double spread = 0;
};

struct ModelReport {
  std::vector<BenchCeilings> ceilings;
  std::vector<ModelMeasurement> rows;
};

// Prompts of 512 tokens, 64 tokens from depth 0 and from depth 4,096 (where the context has room), and batches of 1 and
// 8 sequences, on a paged cache of the model's automatic type.
ModelReport BenchModel(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                       const std::function<void(const ModelMeasurement&)>& on_row = {});

}  // namespace ekvi
