// ekvi as a worker of the comparison: ekvi_worker MODEL. Commands and answers are those of worker.py.
//
// It goes through the engine's steps, as a session and a server do, with the settings that `ekvi generate` has: paged
// cache of the model's automatic type, automatic arithmetic. Steps are timed without sampling, as the peers' are.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/fpenv.h"
#include "bench/model_run.h"
#include "ekvi/dtype.h"
#include "ekvi/error.h"
#include "ekvi/model.h"

namespace ekvi::peers {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

constexpr int64_t kChunk = bench::ModelRun::kFillStep;  // tokens of a step at most: 512, as the peers have it

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Worker {
 public:
  explicit Worker(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  Json Greeting() const {
    const ModelInfo& info = model_->info();
    return {{"name", "ekvi"},
            {"version", info.weights + ", " + info.compute},
            {"kind", fmt::format("cache {}", DTypeName(info.auto_cache_type))}};
  }

  Json Answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "logits") return Logits(words);
    int64_t first = 0, second = 0;
    words >> first >> second;
    if (command == "threads") return SetThreads(static_cast<int>(first));
    if (command == "prefill") return Decode({.step = kChunk}, first);
    if (command == "decode") return Decode({.depth = first}, second);
    if (command == "batch") return Decode({.sequences = static_cast<int>(first)}, second);
    throw Error(ErrorCode::kInvalidArgument, "no such command: " + command);
  }

 private:
  struct Shape {
    int64_t depth = 0;
    int sequences = 1;
    int64_t step = 1;  // tokens of a sequence at once
  };

  Json SetThreads(int threads) {
    threads_ = threads;
    return Json::object();
  }

  bench::ModelRun& RunFor(int sequences, int64_t room) {
    auto& run = runs_[{sequences, room}];
    const bench::ModelRun::Size size{.threads = threads_, .sequences = sequences, .tokens = room};
    if (run == nullptr) run = std::make_unique<bench::ModelRun>(*model_, size);
    run->SetThreads(threads_);
    return *run;
  }

  Json Decode(const Shape& shape, int64_t tokens) {
    bench::ModelRun& run = RunFor(shape.sequences, shape.depth + tokens);
    run.Truncate(shape.depth);
    run.Fill(shape.depth);
    const auto start = std::chrono::steady_clock::now();
    const double processor = ProcessorSeconds();
    for (int64_t done = 0; done < tokens; done += shape.step) run.GoOn(std::min(shape.step, tokens - done));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return {{"tokens", tokens * shape.sequences},
            {"wall_s", wall.count()},
            {"cpu_s", ProcessorSeconds() - processor},
            {"settings", ""}};
  }

  Json Logits(std::istream& words) {
    std::string list;
    size_t column = 1;
    words >> list >> column;
    if (column == 0)
      throw Error(ErrorCode::kInvalidArgument, "no such column", "0", "every how many logits, from 1 on");
    std::istringstream ids(list);
    bench::ModelRun& run = RunFor(1, kChunk);
    run.Truncate(0);
    Json best = Json::array(), values = Json::array();
    for (std::string id; std::getline(ids, id, ',');) {
      run.Step(Ids{std::stoi(id)});
      const std::vector<float>& row = run.logits();
      best.push_back(std::ranges::max_element(row) - row.begin());
      Json some = Json::array();
      for (size_t i = 0; i < row.size(); i += column) some.push_back(row[i]);
      values.push_back(std::move(some));
    }
    return {{"best", best}, {"values", values}};
  }

  std::shared_ptr<const Model> model_;
  int threads_ = 1;
  std::map<std::pair<int, int64_t>, std::unique_ptr<bench::ModelRun>> runs_;
};

Json TryAnswer(Worker& worker, const std::string& line) {
  try {
    return worker.Answer(line);
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

int Serve(const std::filesystem::path& path) {
  const base::ScopedFpEnv environment;
  Worker worker(path.empty() ? Model::Embedded() : Model::Load(path));
  std::cout << worker.Greeting().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << TryAnswer(worker, line).dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace ekvi::peers

int main(int argc, char** argv) {
  try {
    return ekvi::peers::Serve(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 3;
  }
}
