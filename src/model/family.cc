#include "model/family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/reader_error.h"
#include "model/llama.h"

namespace ekvi::model {
namespace {

constexpr Family kFamilies[] = {
    {"llama", ReadLlama},
};

}  // namespace

const Family& FamilyOf(const files::GgufFile& file) {
  const std::string_view architecture = file.RequireString("general.architecture");
  std::vector<std::string_view> supported;
  for (const Family& family : kFamilies) {
    if (family.architecture == architecture) return family;
    supported.push_back(family.architecture);
  }
  throw file.KeyError(ErrorCode::kUnsupported, "general.architecture",
                      fmt::format("{} is not computed here", files::Quote(architecture)),
                      fmt::format("supported: {}", fmt::join(supported, ", ")));
}

}  // namespace ekvi::model
