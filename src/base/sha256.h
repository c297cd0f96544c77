// SHA-256 as lower-case hexadecimal digits (libmd does the work).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ekvi::base {

std::string Sha256(std::span<const std::byte> bytes);

}  // namespace ekvi::base
