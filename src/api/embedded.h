// The bytes of models/embedded.gguf, inside the library.
#pragma once

#include <cstddef>
#include <span>

namespace ekvi::api {

std::span<const std::byte> EmbeddedModelBytes();

}  // namespace ekvi::api
