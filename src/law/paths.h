// The list of paths that a proof walks.
#pragma once

#include <functional>
#include <vector>

#include "ekvi/verify.h"
#include "law/path.h"

namespace ekvi::law {

// Every path that is a matter of cutting, storing and computing, on this machine.
std::vector<Path> AllPaths(const Subject& subject, int64_t tokens);

// The whole proof: reference, all paths, forks, changed futures, no cache. `options.fault` is in force meanwhile.
VerifyReport Prove(const Subject& subject, const VerifyOptions& options,
                   const std::function<void(const PathResult&)>& on_path);

// The hash of the reference's logits alone, as VerifyReport has it.
std::string ReferenceSha256(const Subject& subject, const VerifyOptions& options);

}  // namespace ekvi::law
