// The assembler takes the file in as it is: no source text of a megabyte, no copy at run time, pages shared among
// processes.
#include "api/embedded.h"

asm(R"(
  .section .rodata
  .balign 64
  .globl ekvi_embedded_model_begin
  .globl ekvi_embedded_model_end
ekvi_embedded_model_begin:
  .incbin ")" EKVI_EMBEDDED_MODEL R"("
ekvi_embedded_model_end:
  .byte 0
  .text
)");

extern "C" const std::byte ekvi_embedded_model_begin[];
extern "C" const std::byte ekvi_embedded_model_end[];

namespace ekvi::api {

std::span<const std::byte> EmbeddedModelBytes() { return {ekvi_embedded_model_begin, ekvi_embedded_model_end}; }

}  // namespace ekvi::api
