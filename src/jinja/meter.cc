#include "jinja/meter.h"

#include <fmt/format.h>

#include "jinja/failure.h"

namespace ekvi::jinja {
namespace {

thread_local Meter* current = nullptr;

}  // namespace

Meter* Meter::Current() noexcept { return current; }

MeterScope::MeterScope(Meter& meter) : before_(current) { current = &meter; }
MeterScope::~MeterScope() { current = before_; }

void Meter::CheckRoom(uint64_t bytes) const {
  if (bytes > limits_.live_bytes || live_bytes_ > limits_.live_bytes - bytes) {
    Refuse(fmt::format("the template's values take more than {} MiB", limits_.live_bytes >> 20));
  }
}

void Meter::Take(uint64_t bytes) {
  CheckRoom(bytes);
  live_bytes_ += bytes;
}

void Meter::CheckText(uint64_t bytes) const {
  if (bytes <= limits_.output_bytes) return;
  Refuse(fmt::format("the template makes a text of more than {} MiB", limits_.output_bytes >> 20));
}

void Meter::RefuseSteps() const {
  Refuse(fmt::format("the template takes more than {} million steps", limits_.steps / 1'000'000),
         "a shorter conversation, or a template that does less");
}

void Meter::RefuseDepth() const {
  Refuse(fmt::format("the template nests more than {} evaluations", limits_.depth),
         "a macro that calls itself must come to an end");
}

void Step(uint64_t count) {
  if (current != nullptr) current->Step(count);
}
void StepBytes(uint64_t bytes) {
  if (current != nullptr) current->StepBytes(bytes);
}
void CheckRoom(uint64_t bytes) {
  if (current != nullptr) current->CheckRoom(bytes);
}
void CheckText(uint64_t bytes) {
  if (current != nullptr) current->CheckText(bytes);
}

}  // namespace ekvi::jinja
