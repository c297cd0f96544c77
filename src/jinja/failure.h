// An error of a template while its place is not yet known: whoever walks the template adds name and line.
#pragma once

#include <string>
#include <utility>

#include "ekvi/error.h"

namespace ekvi::jinja {

struct Failure {
  ErrorCode code = ErrorCode::kCorrupt;
  std::string message;
  int line = 0;         // 0: where the rendering stands
  bool raised = false;  // by raise_exception: the message is the template's own
  std::string hint = {};
};

// What Python calls TypeError, ValueError, UndefinedError and so on: the template and its input do not fit together.
[[noreturn]] void Fail(std::string message);
// A limit of this interpreter, or a part of the language that it does not have.
[[noreturn]] void Refuse(std::string message, std::string hint = "");

}  // namespace ekvi::jinja
