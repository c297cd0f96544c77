// The families that are known, each in a file of its own.
#pragma once

#include "model/family.h"

namespace ekvi::model {

extern const Family kLlama, kMistral, kMixtral;  // family_llama.cc
extern const Family kQwen2, kQwen3, kQwen3Moe;   // family_qwen.cc
extern const Family kGemma, kGemma2, kGemma3;    // family_gemma.cc
extern const Family kGpt2;                       // family_gpt2.cc
extern const Family kGptNeox;                    // family_gpt_neox.cc
extern const Family kGptOss;                     // family_gpt_oss.cc
extern const Family kOlmo2;                      // family_olmo2.cc
extern const Family kPhi3;                       // family_phi3.cc
extern const Family kSmolLm3;                    // family_smollm3.cc
extern const Family kStarcoder2;                 // family_starcoder2.cc

}  // namespace ekvi::model
