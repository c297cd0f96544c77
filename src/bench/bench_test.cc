// Goal: what bench.h promises of filters, order and errors, and that a neighbour changes no bit. Method: the smallest
// kernels and the embedded model, measured as shortly as can be.
#include "ekvi/bench.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "bench/model_run.h"
#include "bench/neighbour.h"
#include "ekvi/error.h"

namespace ekvi::bench {
namespace {

constexpr double kShort = 0.001;

TEST(Bench, Filter_FindsNamesInCapitalsOrNot) {
  const KernelReport report = BenchKernels({.threads = {1}, .filter = "Q8_0 INT8 m 1 n 1536", .seconds = kShort});
  ASSERT_EQ(report.kernels.size(), 1);
  const KernelMeasurement& row = report.kernels[0];
  EXPECT_EQ(row.name, "matmul q8_0 int8 m 1 n 1536 k 576");
  EXPECT_EQ(row.shape, (std::vector<std::pair<std::string, int64_t>>{{"m", 1}, {"n", 1536}, {"k", 576}}));
  EXPECT_GT(row.gflops, 0);
  EXPECT_GT(row.share, 0);
}

TEST(Bench, Filter_ThatLeavesNothingIsRefusedBeforeAnythingIsMeasured) {
  const BenchWatch watch{.on_begin = [](const std::string& what, int64_t, int64_t) { ADD_FAILURE() << what; }};
  try {
    BenchKernels({.filter = "q9_9"}, watch);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error.hint(), "");
  }
}

TEST(Bench, Watch_SeesCeilingsFirstThenEveryRow) {
  std::string order;
  BenchWatch watch;
  watch.on_begin = [&](const std::string&, int64_t done, int64_t total) {
    order += '.';
    EXPECT_LT(done, total);
  };
  watch.on_ceilings = [&](const BenchCeilings&) { order += 'c'; };
  watch.on_kernel = [&](const KernelMeasurement&) { order += 'k'; };
  BenchKernels({.threads = {1, 2}, .filter = "q4_0 int8 m 1 n 1536", .seconds = kShort}, watch);
  EXPECT_EQ(order, ".c.c.k.k");
}

TEST(Bench, Model_IsMeasuredInEveryWayItsContextHasRoomFor) {
  const ModelReport report = BenchModel(Model::Embedded(), {.threads = {2}, .seconds = kShort});
  std::multiset<std::string> suites;
  for (const ModelMeasurement& row : report.rows) {
    suites.insert(row.suite);
    EXPECT_GT(row.tok_s, 0);
    EXPECT_GT(row.share, 0);
    EXPECT_EQ(row.threads, 2);
    EXPECT_EQ(row.depth, 0) << "its context is 1,024";
  }
  EXPECT_EQ(suites, (std::multiset<std::string>{"prefill", "decode", "batch", "batch"}));
}

TEST(Bench, TheOracle_IsRefused) {
  const auto oracle = Model::Embedded({.compute = Compute::kF64});
  EXPECT_THROW(BenchModel(oracle, {.seconds = kShort}), Error);
  EXPECT_THROW(BenchNeighbour(oracle, {.seconds = kShort}), Error);
}

// 'R', 'T' …; 0 where there is no such process.
char StateOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t end = text.rfind(')');
  return end == std::string::npos ? '\0' : text.at(end + 2);
}

TEST(Neighbour, SpinsOnOneProcessorUntilItIsGone) {
  pid_t pid = 0;
  {
    Neighbour neighbour;
    pid = neighbour.pid();
    EXPECT_EQ(StateOf(pid), 'T');
    neighbour.Resume();
    neighbour.Resume();
    EXPECT_EQ(StateOf(pid), 'R');
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(pid, sizeof(set), &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(neighbour.processor(), &set));
    neighbour.Pause();
    EXPECT_EQ(StateOf(pid), 'T');
    neighbour.Resume();
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// As after Ctrl-C or a crash: nothing of ours runs any more.
TEST(Neighbour, DiesWithTheProcessThatMadeIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Neighbour neighbour;
    neighbour.Resume();
    const pid_t pid = neighbour.pid();
    if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    for (;;) pause();
  }
  pid_t pid = 0;
  ASSERT_EQ(read(ends[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
  EXPECT_EQ(StateOf(pid), 'R');
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  char state = 'R';
  for (int i = 0; i < 1000 && state == 'R'; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    state = StateOf(pid);
  }
  EXPECT_TRUE(state == '\0' || state == 'Z' || state == 'X') << state;
  close(ends[0]);
  close(ends[1]);
}

TEST(Neighbour, Beside_EveryLogitHasTheSameBits) {
  Neighbour neighbour;
  const auto model = Model::Embedded();
  for (const int threads : {1, 2, 3}) {
    ModelRun run(*model, {.threads = threads, .sequences = 2, .tokens = 400});
    run.GoOn(200);
    run.Decode(50);
    const std::vector<float> alone = run.logits();
    neighbour.Resume();
    for (int again = 0; again < 5; ++again) {
      run.Truncate(0);
      run.GoOn(200);
      run.Decode(50);
      ASSERT_EQ(run.logits(), alone) << threads << " threads";
    }
    neighbour.Pause();
  }
}

TEST(Neighbour, IsMeasuredInTurns) {
  const auto rows = BenchNeighbour(Model::Embedded(), {.threads = {1, 2}, .seconds = kShort});
  ASSERT_EQ(rows.size(), 2);
  for (const NeighbourMeasurement& row : rows) {
    EXPECT_GT(row.tok_s_beside, 0);
    EXPECT_DOUBLE_EQ(row.share, row.tok_s_beside / row.tok_s_alone);
  }
}

}  // namespace
}  // namespace ekvi::bench
