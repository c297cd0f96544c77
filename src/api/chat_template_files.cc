#include <filesystem>
#include <system_error>

#include "ekvi/chat_template.h"
#include "text/chat_template_source.h"

namespace ekvi {

ModelTemplate FindChatTemplate(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? text::HfChatTemplate(path) : text::GgufChatTemplate(path);
}

}  // namespace ekvi
