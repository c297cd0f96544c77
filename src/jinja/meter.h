// What one rendering may take: steps, bytes alive, depth. A template comes with a model file from anywhere; whatever it
// says, rendering ends within about a second and in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ekvi::jinja {

struct Limits {
  // A step is one node of the tree, one item of a list, one character that is looked at, or 64 bytes that are copied:
  // 10 to 100 ns. This is at most a second; a conversation of 1,000 messages takes a few hundred thousand.
  int64_t steps = 10'000'000;
  // Values and texts in the making at one time. What is made of them before it is on the account (a list, some texts)
  // is about as much again at most, so that 256 MiB hold it all.
  uint64_t live_bytes = uint64_t{128} << 20;
  uint64_t output_bytes = uint64_t{16} << 20;  // one text: the output, or a string value
  // Nested evaluations: 10 or so for one call of a macro. Some 400 bytes of stack each.
  int depth = 1500;
};

// Nested lists and dicts: destroyed, printed and compared by recursion.
inline constexpr int kMaxValueDepth = 200;

// One rendering's account, of one thread. Values that are made while it is current are on it until they are gone.
class Meter {
 public:
  explicit Meter(const Limits& limits) : limits_(limits) {}
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Throw Failure(kUnsupported) past the limit.
  void Step(uint64_t count = 1) {
    steps_ += count;
    if (steps_ > static_cast<uint64_t>(limits_.steps)) [[unlikely]]
      RefuseSteps();
  }
  void StepBytes(uint64_t bytes) { Step(bytes / 64 + 1); }
  // Of memory that is about to be taken and soon given back, or charged by what it is for.
  void CheckRoom(uint64_t bytes) const;
  void Take(uint64_t bytes);
  void Give(uint64_t bytes) noexcept { live_bytes_ -= bytes; }
  // Of a text that is about to be made.
  void CheckText(uint64_t bytes) const;

  void Enter() {
    if (++depth_ > limits_.depth) [[unlikely]]
      RefuseDepth();
  }
  void Leave() noexcept { --depth_; }

  // The one of this thread; null outside of renderings.
  static Meter* Current() noexcept;

 private:
  friend class MeterScope;
  [[noreturn]] void RefuseSteps() const;
  [[noreturn]] void RefuseDepth() const;

  Limits limits_;
  uint64_t steps_ = 0, live_bytes_ = 0;
  int depth_ = 0;
};

// Makes a meter current for this thread.
class MeterScope {
 public:
  explicit MeterScope(Meter& meter);
  ~MeterScope();
  MeterScope(const MeterScope&) = delete;
  MeterScope& operator=(const MeterScope&) = delete;

 private:
  Meter* before_;
};

// Bytes on the current meter for as long as it lives; on none outside of renderings.
class Charge {
 public:
  explicit Charge(uint64_t bytes) : meter_(Meter::Current()), bytes_(bytes) {
    if (meter_ != nullptr) meter_->Take(bytes_);
  }
  ~Charge() {
    if (meter_ != nullptr) meter_->Give(bytes_);
  }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  void Add(uint64_t bytes) {
    if (meter_ != nullptr) meter_->Take(bytes);
    bytes_ += bytes;
  }

 private:
  Meter* meter_;
  uint64_t bytes_;
};

// The current meter's Step, StepBytes, CheckRoom and CheckText, or nothing outside of renderings.
void Step(uint64_t count = 1);
void StepBytes(uint64_t bytes);
void CheckRoom(uint64_t bytes);
void CheckText(uint64_t bytes);

}  // namespace ekvi::jinja
