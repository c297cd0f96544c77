#include "cli/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/format.h"
#include "ekvi/machine.h"

namespace ekvi::cli {
namespace {

#ifdef __clang__
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "gcc " __VERSION__;
#endif

Json MachineJson() {
  const Machine machine = DescribeMachine();
  return {{"cpu", machine.cpu},
          {"cores_online", machine.cores_online},
          {"cores_affinity", machine.cores_affinity},
          {"cores_quota", machine.cores_quota},
          {"threads", machine.threads},
          {"memory_bytes", machine.memory_bytes},
          {"memory_available_bytes", machine.memory_available},
          {"huge_pages", machine.huge_pages},
          {"targets", machine.targets},
          {"features", machine.features}};
}

Json ModelJson(const ModelInfo& info) {
  return {{"name", info.name},
          {"path", info.path},
          {"architecture", info.architecture},
          {"weights", info.weights},
          {"compute", info.compute},
          {"parameters", info.parameters},
          {"file_bytes", info.file_bytes},
          {"weight_bytes", info.weight_bytes},
          {"layers", info.layers.size()},
          {"ctx", info.context},
          {"vocabulary", info.vocabulary}};
}

Json ValueJson(const Arguments& arguments, const Option& option) {
  if (option.kind == ValueKind::kFlag) return arguments.Flag(option.name);
  if (option.repeat == Repeat::kEach) return arguments.All(option.name);
  const std::string text = arguments.Text(option.name);
  if (option.kind == ValueKind::kNumber) return arguments.Number(option.name);
  if (const auto value = arguments.Integer(option.name); option.kind == ValueKind::kInteger && value) return *value;
  return text;
}

}  // namespace

Json ReportFor(const Arguments& arguments, const Model* model) {
  Json report;
  report["schema"] = fmt::format("ekvi.{}/1", arguments.command().name);
  report["version"] = Version();
  report["build"] = Build();
  report["machine"] = MachineJson();
  if (model != nullptr) report["model"] = ModelJson(model->info());
  Json& params = report["params"] = Json::object();
  for (const OptionGroup& group : arguments.command().groups) {
    for (const Option& option : group.options) {
      const bool has_value =
          option.kind == ValueKind::kFlag || arguments.Given(option.name) || !option.fallback.empty();
      if (has_value && option.name != "help") params[JsonName(option)] = ValueJson(arguments, option);
    }
  }
  return report;
}

void RepeatAtTop(Json& report, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    Json copy = report["results"][name];
    report[name] = std::move(copy);
  }
}

Json GivenJson(std::string_view text) {
  static constexpr int kDepth = 32;
  bool fine = text.find('\0') == std::string_view::npos;  // the library would end there quietly
  const auto watch = [&](int depth, Json::parse_event_t, Json&) { return fine = fine && depth <= kDepth; };
  Json json = fine ? Json::parse(text, watch, false) : Json();
  return fine ? json : Json(Json::value_t::discarded);
}

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

std::string_view Version() { return EKVI_VERSION; }

std::string_view Build() { return kCompiler; }

}  // namespace ekvi::cli
