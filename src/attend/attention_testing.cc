#include "attend/attention_testing.h"

#include <algorithm>
#include <numeric>

#include "attend/attention_ref.h"
#include "numeric/convert.h"

namespace ekvi::attend {
namespace {

std::vector<double> RandomValues(int64_t count, double sigma, base::Random& random) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double& x : values) x = static_cast<float>(sigma * random.Normal());
  return values;
}

// Tokens each row receives in the next step.
std::vector<int64_t> NextCounts(const Problem& problem, const KvCache& cache, const Path& path, base::Random& random) {
  std::vector<int64_t> counts;
  for (int r = 0; r < problem.rows(); ++r) {
    const int64_t rest = problem.lengths[r] - cache.length(r);
    const int64_t drawn = path.chunk_max == 0 ? rest : static_cast<int64_t>(random.Below(path.chunk_max + 1));
    counts.push_back(std::min(rest, path.chunk_max == 1 ? 1 : drawn));
  }
  return counts;
}

template <typename T>
std::vector<std::vector<T>> Cast(const std::vector<std::vector<double>>& rows) {
  std::vector<std::vector<T>> result;
  for (const std::vector<double>& row : rows) result.emplace_back(row.begin(), row.end());
  return result;
}

// One step: all rows' next tokens appended, attended, committed. Each row has arrays of its own, so a step runs row
// offsets against the first row's array.
template <typename T>
class Stepper {
 public:
  Stepper(const Problem& problem, KvCache& cache, const Path& path)
      : p_(problem), cache_(cache), attention_(cache.layout(), {problem.layer}, {path.threads, path.target}) {
    const auto flatten = [&](const std::vector<std::vector<double>>& rows) {
      std::vector<T> flat;
      for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
      return flat;
    };
    q_ = flatten(p_.q);
    k_ = Cast<T>(p_.k);
    v_ = Cast<T>(p_.v);
    int64_t tokens = 0;
    for (const int64_t length : p_.lengths) {
      row_first_.push_back(tokens);
      tokens += length;
    }
    out_.resize(static_cast<size_t>(tokens * OutWidth()));
  }

  void Step(const std::vector<int64_t>& counts) {
    Append append = cache_.BeginAppend(counts);
    std::vector<int64_t> q_offset, out_offset;
    for (int r = 0; r < p_.rows(); ++r) {
      const int64_t token = row_first_[r] + append.past(r);
      q_offset.push_back(token * QWidth());
      out_offset.push_back(token * OutWidth());
      const int64_t kw = p_.shape.kv_heads * p_.shape.head_dim_k, vw = p_.shape.kv_heads * p_.shape.head_dim_v;
      append.Write<T>(0, r,
                      {k_[r].data() + append.past(r) * kw, v_[r].data() + append.past(r) * vw, kw, p_.shape.head_dim_k,
                       vw, p_.shape.head_dim_v});
    }
    attention_.Plan(append, q_offset, out_offset);
    attention_.Run(0, HeadArray<const T>{q_.data(), QWidth(), p_.shape.head_dim_k},
                   HeadArray<T>{out_.data(), OutWidth(), p_.shape.head_dim_v});
    append.Commit();
  }

  std::vector<std::vector<T>> Outputs() const {
    std::vector<std::vector<T>> rows;
    for (int r = 0; r < p_.rows(); ++r) {
      const auto first = out_.begin() + row_first_[r] * OutWidth();
      rows.emplace_back(first, first + p_.lengths[r] * OutWidth());
    }
    return rows;
  }

 private:
  int64_t QWidth() const { return static_cast<int64_t>(p_.layer.q_heads) * p_.shape.head_dim_k; }
  int64_t OutWidth() const { return static_cast<int64_t>(p_.layer.q_heads) * p_.shape.head_dim_v; }

  const Problem& p_;
  KvCache& cache_;
  Attention attention_;
  std::vector<T> q_, out_;
  std::vector<std::vector<T>> k_, v_;
  std::vector<int64_t> row_first_;
};

}  // namespace

int64_t Problem::max_length() const { return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end()); }

Problem MakeProblem(LayerShape shape, AttentionLayer layer, std::vector<int64_t> lengths, base::Random& random,
                    double sigma) {
  Problem problem{.shape = shape, .layer = std::move(layer), .lengths = std::move(lengths), .q = {}, .k = {}, .v = {}};
  for (const int64_t length : problem.lengths) {
    problem.q.push_back(RandomValues(length * problem.layer.q_heads * shape.head_dim_k, sigma, random));
    problem.k.push_back(RandomValues(length * shape.kv_heads * shape.head_dim_k, 1, random));
    problem.v.push_back(RandomValues(length * shape.kv_heads * shape.head_dim_v, 1, random));
  }
  return problem;
}

std::unique_ptr<KvCache> MakeCache(const Problem& problem, DType dtype, const Path& path) {
  CacheLayout layout = CacheLayout::Uniform(1, problem.shape, dtype);
  const int64_t max_len = std::max<int64_t>(1, problem.max_length());
  const int rows = std::max(1, problem.rows());
  if (!path.paged) return std::make_unique<ContiguousCache>(layout, ContiguousShape{rows, max_len});
  auto paged = std::make_unique<PagedCache>(
      layout, PagedShape{rows, max_len, path.block_tokens, rows * BlocksFor(max_len, path.block_tokens)});
  if (path.shuffle != 0) paged->ShuffleFreeBlocks(path.shuffle);
  return paged;
}

template <typename T>
std::vector<std::vector<T>> RunPath(const Problem& problem, DType dtype, const Path& path) {
  const std::unique_ptr<KvCache> cache = MakeCache(problem, dtype, path);
  Stepper<T> stepper(problem, *cache, path);
  base::Random random(path.seed);
  const auto done = [&] {
    for (int r = 0; r < problem.rows(); ++r) {
      if (cache->length(r) < problem.lengths[r]) return false;
    }
    return true;
  };
  while (!done()) stepper.Step(NextCounts(problem, *cache, path, random));
  return stepper.Outputs();
}

double Stored(double value, DType dtype) {
  std::byte bytes[8];
  double back;
  numeric::Narrow(dtype, &value, bytes, 1);
  numeric::Widen(dtype, bytes, &back, 1);
  return back;
}

std::vector<std::vector<double>> RunRef(const Problem& problem, DType dtype) {
  std::vector<std::vector<double>> rows;
  const int64_t dk = problem.shape.head_dim_k, dv = problem.shape.head_dim_v, heads = problem.layer.q_heads;
  for (int r = 0; r < problem.rows(); ++r) {
    std::vector<double> k = problem.k[r], v = problem.v[r], out(static_cast<size_t>(problem.lengths[r] * heads * dv));
    for (double& x : k) x = Stored(x, dtype);
    for (double& x : v) x = Stored(x, dtype);
    for (int64_t t = 0; t < problem.lengths[r]; ++t) {
      for (int h = 0; h < heads; ++h) {
        const std::span<const double> q(problem.q[r].data() + (t * heads + h) * dk, static_cast<size_t>(dk));
        AttendRef({&problem.layer, problem.shape, h, t, q, k, v},
                  {out.data() + (t * heads + h) * dv, static_cast<size_t>(dv)});
      }
    }
    rows.push_back(std::move(out));
  }
  return rows;
}

template std::vector<std::vector<float>> RunPath<float>(const Problem&, DType, const Path&);
template std::vector<std::vector<double>> RunPath<double>(const Problem&, DType, const Path&);

}  // namespace ekvi::attend
