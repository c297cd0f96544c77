// The numbers of math-inl.h and trig.cc.
//
// Every polynomial is a minimax fit of our own: a Remez exchange in 200-bit arithmetic for the weight named beside it;
// then the lowest coefficient was rounded to its type, the rest fitted again, and so on to the highest. The error given
// is the largest weighted error of the rounded polynomial, evaluation excluded.
#pragma once

namespace ekvi::numeric {

template <typename Lane>
struct MathTable;

template <>
struct MathTable<float> {
  static constexpr float kLowest = -0x1.fffffep127f;
  static constexpr float kLog2E = 0x1.715476p0f;
  // ln 2 = high + low; high has 15 bits, so that its product with an exponent is exact.
  static constexpr float kMinusLn2High = -0x1.62e4p-1f, kMinusLn2Low = -0x1.7f7d1cp-20f;
  // exp: beyond the clamps nothing changes any more; below the flush the result would be under 2^-126.
  static constexpr float kExpClampLow = -88, kExpClampHigh = 89, kExpFlush = -0x1.5d589ep6f, kExponentMax = 127;
  // (exp(r) - 1) / r, |r| ≤ ln 2 / 2, relative to exp(r): 9.3e-8.
  static constexpr float kExp[] = {0x1.fffff6p-1f, 0x1.fffdc2p-2f, 0x1.555a84p-3f, 0x1.573baap-5f, 0x1.0f9e2ep-7f};
  // (exp(r) - 1 - r) / r², same r, relative to exp(r) - 1: 1.5e-8.
  static constexpr float kExpm1[] = {0x1.fffffep-2f, 0x1.5554aap-3f, 0x1.55579ep-5f, 0x1.122cb0p-7f, 0x1.6ab1ecp-10f};
  // From here on tanh and erf are 1.
  static constexpr float kTanhOne = 10, kErfOne = 4;
  // -ln(1 - erf(a)) / a, 0 ≤ a ≤ 4, relative to erf(a): 5.3e-8.
  static constexpr float kErf[] = {0x1.20dd76p+0f,  0x1.45f266p-1f,   0x1.a534b8p-4f,  -0x1.3dfe08p-6f, 0x1.9b9c8ep-12f,
                                   0x1.112d44p-10f, -0x1.0b9762p-12f, 0x1.66be6ep-19f, 0x1.2ffd56p-18f};
  // 2 √(2/π), that times 0.044715, √(1/2).
  static constexpr float kGelu1 = 0x1.988454p0f, kGelu3 = 0x1.2444f2p-4f, kSqrtHalf = 0x1.6a09e6p-1f;
};

template <>
struct MathTable<double> {
  static constexpr double kLowest = -0x1.fffffffffffffp1023;
  static constexpr double kLog2E = 0x1.71547652b82fep0;
  // 42 bits in the high part.
  static constexpr double kMinusLn2High = -0x1.62e42fefa38p-1, kMinusLn2Low = -0x1.ef35793c7673p-45;
  static constexpr double kExpClampLow = -709, kExpClampHigh = 710, kExpFlush = -0x1.6232bdd7abcd2p9;
  static constexpr double kExponentMax = 1023;
  // As for float; errors 4.7e-18, 3.0e-19 and, on 0 … 6, 1.5e-17.
  static constexpr double kExp[] = {0x1p+0,
                                    0x1.000000000000fp-1,
                                    0x1.5555555555587p-3,
                                    0x1.555555554ed0bp-5,
                                    0x1.1111111100022p-7,
                                    0x1.6c16c1898fc04p-10,
                                    0x1.a01a0213280a8p-13,
                                    0x1.a0198cc4715d5p-16,
                                    0x1.71dd0236d4e78p-19,
                                    0x1.28b8a35663b1cp-22,
                                    0x1.b0fd3d5e33ef4p-26};
  static constexpr double kExpm1[] = {0x1p-1,
                                      0x1.5555555555559p-3,
                                      0x1.5555555555558p-5,
                                      0x1.111111110f713p-7,
                                      0x1.6c16c16c1787ap-10,
                                      0x1.a01a01af9fa9dp-13,
                                      0x1.a01a0197f18e8p-16,
                                      0x1.71ddf91d5fe16p-19,
                                      0x1.27e506f465a28p-22,
                                      0x1.af5d53fccd86p-26,
                                      0x1.1f23ba7f52e29p-29};
  static constexpr double kTanhOne = 20, kErfOne = 6;
  static constexpr double kErf[] = {
      0x1.20dd750429b6dp+0,   0x1.45f306dc9c8b9p-1,   0x1.a4f4e2a1adcc8p-4,   -0x1.396685922f1fdp-6,
      -0x1.b6b696d9df52p-13,  0x1.bca686baa8337p-10,  -0x1.3565c34967185p-11, 0x1.b2619a9ab670fp-16,
      0x1.0e5af10312139p-14,  -0x1.f182dec4a26f5p-16, 0x1.ba76a18c36265p-19,  0x1.8ede9e41b0f31p-19,
      -0x1.f756fb91acac9p-20, 0x1.d8e2431e12f9p-22,   0x1.3646420a113fep-24,  -0x1.d52941b1e77ep-24,
      0x1.c483084259321p-25,  -0x1.205f0e2ac574fp-26, 0x1.0edf189704d0cp-28,  -0x1.811010d25d2cfp-31,
      0x1.9c4304ce44586p-34,  -0x1.438b0534b2ef2p-37, 0x1.602a7599026c7p-41,  -0x1.dbada4cf0cd5ap-46,
      0x1.2c8663219af12p-51};
  static constexpr double kGelu1 = 0x1.9884533d43651p0, kGelu3 = 0x1.2444f2a4d8b4bp-4;
  static constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

  // For trig.cc alone. π/2 in pieces of 21, 22 and 22 bits and the rest: the product with a quadrant below 2^31 is
  // exact.
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  static constexpr double kMinusHalfPi[] = {-0x1.921fbp+0, -0x1.5110bp-22, -0x1.1846980000000p-44,
                                            -0x1.3198a2e037073p-69};
  // (sin(r) - r) / r³ and (cos(r) - 1 + r²/2) / r⁴ in r², |r| ≤ π/4: relative to r 3.5e-18, absolute 4.8e-20.
  static constexpr double kSin[] = {-0x1.5555555555549p-3, 0x1.111111110f8a6p-7,   -0x1.a01a019c16199p-13,
                                    0x1.71de357b1b81p-19,  -0x1.ae5e689e9488cp-26, 0x1.5d93a44eb236dp-33};
  static constexpr double kCos[] = {0x1.555555555554cp-5,   -0x1.6c16c16c1521fp-10, 0x1.a01a019cbf62bp-16,
                                    -0x1.27e4f812b68ecp-22, 0x1.1ee9f152a827fp-29,  -0x1.8fb131052beb1p-37};
  // (atanh(s) / s - 1) / s² in s², |s| ≤ (√2 - 1) / (√2 + 1), relative to atanh(s): 9.0e-21.
  static constexpr double kAtanh[] = {0x1.5555555555555p-2, 0x1.9999999999d11p-3, 0x1.24924924397f9p-3,
                                      0x1.c71c724b66c6ap-4, 0x1.745ce1c8d9df8p-4, 0x1.3b20247c47c1ep-4,
                                      0x1.0f6744aecb7a1p-4, 0x1.0f0dcdf45cdc9p-4};
  static constexpr double kSqrtTwo = 0x1.6a09e667f3bcdp0;
};

}  // namespace ekvi::numeric
