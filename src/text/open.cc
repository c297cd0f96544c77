// Which kind of file a path means, told by content: "GGUF", a brace, or a folder.
#include <filesystem>

#include "base/mapped_file.h"
#include "ekvi/tokenizer.h"
#include "files/gguf_parts.h"
#include "text/hf/hf_tokenizer.h"
#include "text/tokenizer.h"

namespace ekvi {

std::shared_ptr<const Tokenizer> Tokenizer::Load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return text::LoadTokenizerFolder(path);
  {
    const base::MappedFile file(path);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    const size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string_view::npos && text[first] == '{';
    if (json) return text::LoadTokenizerJson(text, path.string());
  }
  return text::LoadTokenizer(files::GgufParts::Open(path)->first());
}

}  // namespace ekvi
