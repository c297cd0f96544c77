#include "base/sha256.h"

#include <sha2.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace ekvi::base {

std::string Sha256(std::span<const std::byte> bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits;
  SHA256Data(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), digits.data());
  return digits.data();
}

}  // namespace ekvi::base
