#include "base/fault.h"

namespace ekvi::base {
namespace {

constexpr FaultName kFaults[] = {
    {Fault::kMaskOffByOne, "mask-off-by-one", "a token of a multi-token step sees one key too few"},
    {Fault::kFutureLeak, "future-leak", "a token of a multi-token step sees its successor"},
    {Fault::kPositionOffByOne, "position-off-by-one",
     "tokens after the first step of a row are rotated by one position too many"},
    {Fault::kStaleBlock, "stale-block", "the last full block of a paged row is read from where the first one lies"},
    {Fault::kSwappedHeads, "swapped-heads", "a paged read of the second block on takes KV heads in another order"},
    {Fault::kSharedWrite, "shared-write", "the partial block of a fork is written without a copy"},
    {Fault::kLostCommit, "lost-commit",
     "a one-token append is committed but its keys are not written in the last layer"},
    {Fault::kTruncateTooLittle, "truncate-too-little", "truncation leaves one token too many"},
    {Fault::kNeighbourRow, "neighbour-row", "in a step of several rows, the last row reads the cache of the first"},
    {Fault::kChunkMerge, "chunk-merge", "split work merges its first two chunk states in the other order"},
    {Fault::kThreadTail, "thread-tail", "with more than one thread, the last output column of a product is left out"},
    {Fault::kTargetRounding, "target-rounding", "the AVX2 target rounds once more in a product"},
};

}  // namespace

std::atomic<Fault> fault_in_force{Fault::kNone};

std::span<const FaultName> AllFaults() { return kFaults; }

std::optional<Fault> ParseFault(std::string_view name) {
  for (const FaultName& entry : kFaults) {
    if (entry.name == name) return entry.fault;
  }
  return std::nullopt;
}

}  // namespace ekvi::base
