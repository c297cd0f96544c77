// Which file a path means, told by content.
#include "ekvi/tokenizer.h"
#include "text/tokenizer.h"

namespace ekvi {

std::shared_ptr<const Tokenizer> Tokenizer::Load(const std::filesystem::path& path) {
  return text::LoadTokenizer(files::GgufFile::Open(path));
}

}  // namespace ekvi
