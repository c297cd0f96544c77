// Python's `format % values`.
#pragma once

#include "jinja/value.h"

namespace ekvi::jinja {

// `values` is a tuple, a dict (for %(name)s), or the only value. `format` is a text.
Value PercentFormat(const Value& format, const Value& values);

}  // namespace ekvi::jinja
