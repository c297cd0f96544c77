// Measurements of this machine: its ceilings, and what share of them the kernels and a whole model reach.
//
// Every result is checked before it is timed. Ceilings and kernels take turns in one run, so that what slows the
// machine slows both: a share says more than a rate. One thread is timed by its own processor time, which others on the
// machine do not lengthen; several are timed by the clock. No rights beyond a user's are needed.
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
  std::string filter;  // only kernels whose name holds it, in capitals or not: "attention", "q8_0", "m 512"; empty: all
  double seconds = 0;  // of each measurement, which has at least 5 rounds however short; 0: what each deserves
};

// What `threads` threads reach together when nothing holds them up, on the target that is measured.
struct BenchCeilings {
  int threads = 1;
  std::string target;         // "avx512_vnni"
  double fma_f32_gflops = 0;  // multiply-adds in registers, 10^9 operations a second
  double int8_gops = 0;       // products of bytes with 32-bit sums in registers, likewise
  double read_l2_gbps = 0, read_l3_gbps = 0, read_dram_gbps = 0;  // plain reading, 10^9 bytes a second
};

struct KernelMeasurement {
  std::string name;     // all that follows in one line, as the filter sees it: "matmul q8_0 int8 m 8 n 2048 k 8192"
  std::string kernel;   // "attention_prefill", "attention_decode", "attention_decode_groups", "matmul" …
  std::string dtype;    // of cache or weights: "f16", "q4_k"
  std::string compute;  // "f32", "int8"
  int threads = 1;
  // What of it: q_heads, kv_heads, head_dim, new, past, rows; m, n, k. Where rows have several lengths, past is their
  // mean, and past_min and past_max follow.
  std::vector<std::pair<std::string, int64_t>> shape;
  double seconds = 0;           // median
  double gflops = 0, gbps = 0;  // operations, and bytes that must be read at least
  double share = 0;             // of the limit: the least time that operations and bytes allow / the median
  std::string limit;            // which of them: "fma", "int8", "read"
  double spread = 0;            // (slowest − fastest) / median, without the tenth at either end
};

// tokens: of a prompt, at once. depth: tokens in the cache before `tokens` are generated one by one.
struct ModelMeasurement {
  std::string suite;  // "prefill", "decode", "batch"
  int64_t tokens = 0, depth = 0, sequences = 1;
  int threads = 1;
  double tok_s = 0;             // of all sequences together
  double gflops = 0, gbps = 0;  // of the weights used for a token, and of weights and cache that are read
  double share = 0;             // of the limit, as above
  std::string limit;
  double spread = 0;
};

// Decoding alone, and beside a process that keeps one of the processors busy. Both by the clock, taking turns.
struct NeighbourMeasurement {
  int threads = 1;
  int64_t tokens = 0;  // generated one by one from an empty cache
  int processor = 0;   // where the neighbour is
  double tok_s_alone = 0, tok_s_beside = 0;
  double share = 0;  // that is left: beside / alone
};

// Told of the course of it, by the thread that measures. Each may be empty.
struct BenchWatch {
  std::function<void(const BenchCeilings&)> on_ceilings;  // all of them before any row
  // What is measured next; `done` of `total` measurements are over.
  std::function<void(const std::string& what, int64_t done, int64_t total)> on_begin;
  std::function<void(const KernelMeasurement&)> on_kernel;
  std::function<void(const ModelMeasurement&)> on_model;
  std::function<void(const NeighbourMeasurement&)> on_neighbour;
};

struct KernelReport {
  std::vector<BenchCeilings> ceilings;  // one for each number of threads
  std::vector<KernelMeasurement> kernels;
};

// Measures all kernels, which takes minutes. Holds up to 1 GiB. Errors: kInvalidArgument where the filter leaves none,
// and for threads and target as Session; kCorrupt where a result is wrong: then nothing of the build is to be trusted.
KernelReport BenchKernels(const BenchOptions& options, const BenchWatch& watch = {});

struct ModelReport {
  std::vector<BenchCeilings> ceilings;
  std::vector<ModelMeasurement> rows;
};

// Prompts of 512 tokens, 64 tokens from depth 0 and from depth 4,096 (where the context has room), and batches of 1 and
// 8 sequences, on a paged cache of the model's automatic type. kUnsupported for a model in float64, which is an oracle
// and has no ceiling here.
ModelReport BenchModel(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                       const BenchWatch& watch = {});

// Forks a child that spins on the last processor that this process may use, and lives no longer than the caller's
// thread. Without `options.threads`: all that are granted. kUnsupported as BenchModel; kIo where the system refuses a
// process.
std::vector<NeighbourMeasurement> BenchNeighbour(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                                                 const BenchWatch& watch = {});

}  // namespace ekvi
