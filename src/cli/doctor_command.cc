// What this machine grants, what ekvi chooses, and why.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/doctor_text.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/report.h"

namespace ekvi::cli {
namespace {

int Run(const Arguments& arguments, Console& console) {
  const Machine machine = DescribeMachine();
  if (console.json()) {
    Json report = ReportFor(arguments, nullptr);
    report["results"] = {
        {"target", BestTarget(machine)}, {"threads", machine.threads}, {"threads_reason", ThreadsReason(machine)}};
    report["warnings"] = Warnings(machine);
    console.Answer(JsonText(report));
  } else {
    console.Answer(DoctorText(machine));
  }
  console.Finish();
  return kOk;
}

}  // namespace

const Command& DoctorCommand() {
  static const Command kCommand = {
      .name = "doctor",
      .summary = "what this machine grants, what ekvi chooses, and why",
      .usage = "",
      .details =
          "Prints the processor and its vector instructions, the target chosen, the cores this process may use and the "
          "threads "
          "that follow (the cores of its affinity, or its cgroup quota rounded down where that is less), memory and "
          "huge "
          "pages, and what is worth changing.\n\n"
          "`--json`: the machine is under `machine`; results: `target`, `threads`, `threads_reason`; `warnings`.",
      .example = "ekvi doctor",
      .groups = {OutputGroup()},
      .arguments_max = 0,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
