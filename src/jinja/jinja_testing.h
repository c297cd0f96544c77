// What tests of the template language share: the variables of their tables, and how a table is checked.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace ekvi::jinja::testing {

// A JSON object with a variable of each kind.
std::string_view Variables();

// The text of a template for `variables`; strftime_now gives "26 Jul 2026". Throws as ChatTemplate.
std::string Render(std::string_view source, std::string_view variables = Variables());

struct Pair {
  std::string_view source, expected;
};
// {{ source }} gives `expected`, and inside a list its repr does not fail.
void ExpectAll(std::initializer_list<Pair> cases);
void ExpectAllTemplates(std::initializer_list<Pair> cases);
// Each is an Error of a code that blames template or input.
void ExpectFailures(std::initializer_list<std::string_view> expressions);
void ExpectFailingTemplates(std::initializer_list<std::string_view> templates);

}  // namespace ekvi::jinja::testing
