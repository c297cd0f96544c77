// The list of kernels that `ekvi bench kernels` measures: attention and products at the shapes of models in use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/fpenv.h"
#include "bench/attention_subject.h"
#include "bench/ceilings.h"
#include "bench/place.h"
#include "bench/product_subject.h"
#include "bench/rounds.h"
#include "ekvi/bench.h"

namespace ekvi::bench {
namespace {

using model::BlockArithmetic;
using numeric::Format;

Case AttentionCase(std::string kernel, const AttentionShape& shape, DType dtype) {
  return {.kernel = std::move(kernel),
          .dtype = std::string(DTypeName(dtype)),
          .compute = "f32",
          .shape = {{"q_heads", shape.q_heads},
                    {"kv_heads", shape.kv_heads},
                    {"head_dim", shape.head_dim},
                    {"new", shape.count},
                    {"past", shape.past.back()},
                    {"rows", static_cast<int64_t>(shape.past.size())}},
          .make = [=](const Place& place) { return MakeAttentionSubject(shape, dtype, place); }};
}

void AddAttention(std::vector<Case>& cases) {
  const AttentionShape prefills[] = {{32, 8, 128, {4096}, 512}, {32, 8, 128, {0}, 2048}, {9, 3, 64, {4096}, 512}};
  for (const AttentionShape& shape : prefills) {
    for (const DType dtype : {DType::kF32, DType::kF16})
      cases.push_back(AttentionCase("attention_prefill", shape, dtype));
  }
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    cases.push_back(AttentionCase("attention_decode", {32, 8, 128, {16384}, 1}, dtype));
  }
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    const AttentionShape ragged{32, 8, 128, {100, 400, 900, 1700, 2800, 4200, 6000, 8000}, 1};
    cases.push_back(AttentionCase("attention_decode_ragged", ragged, dtype));
  }
  for (const int group : {1, 3, 7, 71}) {
    cases.push_back(AttentionCase("attention_decode_groups", {8 * group, 8, 128, {8192}, 1}, DType::kF16));
  }
}

void AddProducts(std::vector<Case>& cases) {
  constexpr ProductShape kMatrices[] = {{0, 1536, 576}, {0, 8192, 2048}, {0, 14336, 4096}};
  constexpr Format kFormats[] = {Format::kF32,  Format::kF16,  Format::kBF16, Format::kQ8_0, Format::kQ4_0,
                                 Format::kQ4_1, Format::kQ4_K, Format::kQ5_K, Format::kQ6_K};
  for (const Format format : kFormats) {
    for (ProductShape shape : kMatrices) {
      if (shape.k % numeric::ShapeOf(format).values != 0) continue;
      for (shape.m = 1; shape.m <= 512; shape.m = shape.m == 1 ? 8 : 64 * shape.m) {
        const bool blocks = numeric::IsBlocks(format);
        const auto arithmetic = blocks ? BlockArithmetic::kInt8 : BlockArithmetic::kFloat;
        cases.push_back(
            {.kernel = "matmul",
             .dtype = std::string(numeric::FormatName(format)),
             .compute = blocks ? "int8" : "f32",
             .shape = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}},
             .make = [=](const Place& place) { return MakeProductSubject(shape, format, arithmetic, place); }});
      }
    }
  }
}

std::vector<Case> KernelCases(const std::string& filter) {
  std::vector<Case> cases;
  AddAttention(cases);
  AddProducts(cases);
  std::erase_if(cases, [&](const Case& c) { return c.Description().find(filter) == std::string::npos; });
  return cases;
}

KernelMeasurement Measure(const Case& c, const Place& place, CeilingProbe& probe) {
  const auto subject = c.make(place);
  subject->Check();
  const bool int8 = c.compute == "int8";
  const std::array works{std::function<void()>([&] { subject->Run(); }), int8 ? probe.Int8() : probe.Fma(),
                         probe.Read()};
  const auto timings = InRounds(works, {.threads = place.pool->threads()});
  const double computing =
      subject->operations() / (int8 ? probe.int8_operations() : probe.fma_operations()) * timings[1].seconds;
  const double reading = subject->bytes() / probe.read_bytes() * timings[2].seconds;
  return {.kernel = c.kernel,
          .dtype = c.dtype,
          .compute = c.compute,
          .threads = place.pool->threads(),
          .shape = c.shape,
          .seconds = timings[0].seconds,
          .gflops = 1e-9 * subject->operations() / timings[0].seconds,
          .gbps = 1e-9 * subject->bytes() / timings[0].seconds,
          .share = std::max(computing, reading) / timings[0].seconds,
          .limit = reading > computing ? "read"
                   : int8              ? "int8"
                                       : "fma",
          .spread = timings[0].spread};
}

}  // namespace

std::string Case::Description() const {
  std::string text = fmt::format("{} {} {}", kernel, dtype, compute);
  for (const auto& [name, value] : shape) text += fmt::format(" {} {}", name, value);
  return text;
}

}  // namespace ekvi::bench

namespace ekvi {

KernelReport BenchKernels(const BenchOptions& options, const std::function<void(const KernelMeasurement&)>& on_row) {
  const base::ScopedFpEnv environment;
  KernelReport report;
  const auto cases = bench::KernelCases(options.filter);
  for (const int threads : bench::ThreadCounts(options)) {
    base::ThreadPool pool(threads);
    const bench::Place place{kernels::ParseTarget(options.target), &pool};
    bench::CeilingProbe probe(place.target, pool);
    report.ceilings.push_back(probe.MeasureAll());
    for (const bench::Case& c : cases) {
      report.kernels.push_back(bench::Measure(c, place, probe));
      if (on_row) on_row(report.kernels.back());
    }
  }
  return report;
}

}  // namespace ekvi
