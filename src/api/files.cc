#include <fmt/format.h>

#include <vector>

#include "base/fpenv.h"
#include "base/output_file.h"
#include "ekvi/error.h"
#include "ekvi/logits_file.h"
#include "ekvi/write_file.h"
#include "files/safetensors_writer.h"

namespace ekvi {

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  base::OutputFile file(path);
  file.Write(std::as_bytes(std::span(bytes)));
  file.Finish();
}

void WriteLogitsFile(const std::filesystem::path& path, std::span<const int32_t> tokens, std::span<const double> logits,
                     DType type) {
  if (type != DType::kF32 && type != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument, "logits are written in f32 or f64", fmt::format("not {}", DTypeName(type)),
                "one of the two");
  }
  if (tokens.empty() ? !logits.empty() : logits.size() % tokens.size() != 0) {
    throw Error(ErrorCode::kInvalidArgument, "logits and tokens do not fit together",
                fmt::format("{} logits, {} tokens", logits.size(), tokens.size()), "give the logits of every token");
  }
  const std::vector<int64_t> ids(tokens.begin(), tokens.end());
  const base::ScopedFpEnv environment;
  std::vector<float> narrow;
  if (type == DType::kF32) narrow.assign(logits.begin(), logits.end());
  const uint64_t rows = tokens.size(), columns = rows == 0 ? 0 : logits.size() / rows;
  files::SafetensorsWriter writer;
  writer.Add("tokens", {rows}, std::span<const int64_t>(ids));
  if (type == DType::kF32)
    writer.Add("logits", {rows, columns}, std::span<const float>(narrow));
  else
    writer.Add("logits", {rows, columns}, logits);
  writer.Write(path);
}

}  // namespace ekvi
