// The list of kernels that `ekvi bench kernels` measures: attention and products at the shapes of models in use.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/fpenv.h"
#include "bench/attention_subject.h"
#include "bench/ceilings.h"
#include "bench/place.h"
#include "bench/product_subject.h"
#include "ekvi/bench.h"
#include "ekvi/error.h"

namespace ekvi::bench {
namespace {

using model::BlockArithmetic;
using numeric::Format;

constexpr double kSeconds = 0.4;  // of a kernel and its ceilings

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// Of rows of several lengths "past" is what they hold on average, to the token; "past_min" and "past_max" stand beside.
Case AttentionCase(std::string kernel, const AttentionShape& shape, DType dtype) {
  const auto rows = static_cast<int64_t>(shape.past.size());
  const auto [least, most] = std::ranges::minmax(shape.past);
  const int64_t mean = std::accumulate(shape.past.begin(), shape.past.end(), int64_t{0}) / rows;
  Case result{.kernel = std::move(kernel),
              .dtype = std::string(DTypeName(dtype)),
              .compute = "f32",
              .shape = {{"q_heads", shape.q_heads},
                        {"kv_heads", shape.kv_heads},
                        {"head_dim", shape.head_dim},
                        {"new", shape.count},
                        {"past", mean},
                        {"rows", rows}},
              .shape_text = fmt::format("{}/{} heads of {} new {} past {}", shape.q_heads, shape.kv_heads,
                                        shape.head_dim, shape.count, least),
              .make = [=](const Place& place) { return MakeAttentionSubject(shape, dtype, place); }};
  if (least != most) result.shape.insert(result.shape.end(), {{"past_min", least}, {"past_max", most}});
  if (least != most) result.shape_text += fmt::format("-{}", most);
  if (rows > 1) result.shape_text += fmt::format(" rows {}", rows);
  return result;
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
             .dtype = Lower(numeric::FormatName(format)),
             .compute = blocks ? "int8" : "f32",
             .shape = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}},
             .shape_text = fmt::format("m {} n {} k {}", shape.m, shape.n, shape.k),
             .make = [=](const Place& place) { return MakeProductSubject(shape, format, arithmetic, place); }});
      }
    }
  }
}

std::vector<Case> KernelCases(const std::string& filter) {
  std::vector<Case> cases;
  AddAttention(cases);
  AddProducts(cases);
  const size_t all = cases.size();
  std::erase_if(cases, [&](const Case& c) { return Lower(c.Name()).find(Lower(filter)) == std::string::npos; });
  if (!cases.empty()) return cases;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("no kernel is named like '{}'", filter),
              fmt::format("{} kernels: attention_prefill, attention_decode, matmul …, each with type, arithmetic and "
                          "shape: matmul q8_0 int8 m 8 n 8192 k 2048",
                          all),
              "a part of such a name: attention_decode, q4_k, m 512");
}

KernelMeasurement MeasureCase(const Case& c, const Place& place, CeilingProbe& probe, double seconds) {
  const auto subject = c.make(place);
  subject->Check();
  KernelMeasurement row{.name = c.Name(),
                        .kernel = c.kernel,
                        .dtype = c.dtype,
                        .compute = c.compute,
                        .threads = place.pool->threads(),
                        .shape = c.shape};
  const Effort effort{subject->operations(), subject->bytes(), c.compute == "int8"};
  row.seconds = probe.Measure([&] { subject->Run(); }, effort, seconds > 0 ? seconds : kSeconds, row);
  return row;
}

}  // namespace

std::string Case::Name() const { return fmt::format("{} {} {} {}", kernel, dtype, compute, shape_text); }

}  // namespace ekvi::bench

namespace ekvi {

KernelReport BenchKernels(const BenchOptions& options, const BenchWatch& watch) {
  const base::ScopedFpEnv environment;
  const auto cases = bench::KernelCases(options.filter);
  KernelReport report{.ceilings = bench::MeasureCeilings(options, watch)};
  const auto threads = bench::ThreadCounts(options);
  const auto total = static_cast<int64_t>(cases.size() * threads.size());
  for (const int count : threads) {
    base::ThreadPool pool(count);
    const bench::Place place{kernels::ParseTarget(options.target), &pool};
    bench::CeilingProbe probe(place.target, pool);
    for (const bench::Case& c : cases) {
      if (watch.on_begin) watch.on_begin(c.Name(), static_cast<int64_t>(report.kernels.size()), total);
      report.kernels.push_back(bench::MeasureCase(c, place, probe, options.seconds));
      if (watch.on_kernel) watch.on_kernel(report.kernels.back());
    }
  }
  return report;
}

}  // namespace ekvi
