// Which vector targets of ekvi run on this machine: the instructions are there and the operating system saves the
// registers.
#pragma once

namespace ekvi::base {

// AVX2, FMA and F16C.
bool CpuHasAvx2();
// AVX-VNNI: dot products of bytes in the encoding of AVX2, beside all of CpuHasAvx2.
bool CpuHasAvxVnni();
// AVX-512 F, BW, DQ and VL, beside all of CpuHasAvx2.
bool CpuHasAvx512();
// AVX-512 VNNI, beside all of CpuHasAvx512.
bool CpuHasAvx512Vnni();
// Dot products of bytes on 256 bits, in either encoding: CpuHasAvxVnni or CpuHasAvx512Vnni.
bool CpuHasAvx2Vnni();
// All always false off x86. Asked once, then remembered.

}  // namespace ekvi::base
