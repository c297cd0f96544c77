#include "law/golden.h"

#include <algorithm>

#include "ekvi/error.h"
#include "ekvi/verify.h"

namespace ekvi {
namespace {

std::vector<std::filesystem::path> FilesOf(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
    if (files.size() > before) continue;
    throw Error(ErrorCode::kNotFound, path.string() + ": no reference vectors in this folder", "0 files *.safetensors",
                "name the folder that holds them");
  }
  return files;
}

GoldenResult Replay(const std::filesystem::path& path) {
  const files::SafetensorsFile file = files::SafetensorsFile::Open(path);
  const std::string kind(file.Metadata("kind").value_or(""));
  GoldenResult result{.file = path.filename().string(), .kind = kind};
  if (kind == "gqa_attention")
    result.max_abs_error = law::ReplayAttention(file);
  else if (kind == "decoder")
    result.max_abs_error = law::ReplayDecoder(file);
  else
    throw Error(ErrorCode::kUnsupported, path.string() + ": no reference vectors of a known kind",
                "metadata kind = '" + kind + "'", "known are gqa_attention and decoder");
  return result;
}

}  // namespace

std::vector<GoldenResult> VerifyGolden(const std::vector<std::filesystem::path>& paths) {
  std::vector<GoldenResult> results;
  for (const std::filesystem::path& path : FilesOf(paths)) results.push_back(Replay(path));
  return results;
}

}  // namespace ekvi
