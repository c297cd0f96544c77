// Faults on purpose: `ekvi verify --inject NAME` breaks the engine in one known way, to prove that verify sees it.
//
// Each place asks once per step or per call, never in a kernel. No fault is in force outside a verifier's run.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string_view>

namespace ekvi::base {

enum class Fault {
  kNone,
  kMaskOffByOne,       // attend: a token of a multi-token step sees one key too few
  kFutureLeak,         // attend: a token of a multi-token step sees its successor
  kPositionOffByOne,   // model: tokens after the first step of a row are rotated by one position too many
  kStaleBlock,         // cache: the last full block of a paged row is read from where the first one lies
  kSwappedHeads,       // cache: a paged read of the second block on takes KV heads in another order
  kSharedWrite,        // cache: the partial block of a fork is written without a copy
  kLostCommit,         // cache: a one-token append is committed but its keys are not written in the last layer
  kTruncateTooLittle,  // cache: truncation leaves one token too many
  kNeighbourRow,       // attend: in a step of several rows, the last row reads the cache of the first
  kChunkMerge,         // attend: split work merges its first two chunk states in the other order
  kThreadTail,         // model: with more than one thread, the last output column of a product is left out
  kTargetRounding,     // kernels: the AVX2 target rounds once more in a product
};

struct FaultName {
  Fault fault;
  std::string_view name;  // "mask-off-by-one"
  std::string_view what;
};
std::span<const FaultName> AllFaults();
std::optional<Fault> ParseFault(std::string_view name);

extern std::atomic<Fault> fault_in_force;
inline bool Injected(Fault fault) { return fault_in_force.load(std::memory_order_relaxed) == fault; }

// Puts a fault in force while it lives.
class ScopedFault {
 public:
  explicit ScopedFault(Fault fault) { fault_in_force.store(fault); }
  ~ScopedFault() { fault_in_force.store(Fault::kNone); }
  ScopedFault(const ScopedFault&) = delete;
  ScopedFault& operator=(const ScopedFault&) = delete;
};

}  // namespace ekvi::base
