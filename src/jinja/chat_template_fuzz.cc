// What must hold: any text is no template, or it renders a conversation in bounded time and memory to the same valid
// text each time, or fails with an Error. Input: a template, then, behind a NUL byte, the variables as JSON.
#include "base/utf8.h"
#include "ekvi/chat_template.h"
#include "ekvi/error.h"
#include "fuzzing.h"
#include "jinja/meter.h"

namespace ekvi::fuzzing {
namespace {

constexpr std::string_view kConversation = R"json({
  "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true, "n": null, "x": 2.5, "i": -7,
  "u": "h\u00E9llo \u2603 \u65E5", "d": {"b": 1, "a": ["x", {"c": "deep"}]}, "l": [3, 1, 2],
  "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "<b>Hi & bye</b>"},
               {"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function":
                  {"name": "f", "arguments": {"k": [1, 2.5, true]}}}]},
               {"role": "tool", "name": "f", "content": "{\"r\": 1}"}],
  "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object",
              "properties": {"k": {"type": "array", "description": "numbers"}}, "required": ["k"]}}}]})json";

struct Result {
  std::string text, error;
  bool operator==(const Result&) const = default;
};

Result Rendered(const ChatTemplate& chat, std::string_view variables) {
  try {
    const TemplateOptions options{.strftime_now = [](std::string_view) { return std::string("26 Jul 2026"); },
                                  .defaults = {}};
    return {chat.Render(variables, options), ""};
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

}  // namespace

void TryInput(std::string_view input) {
  const size_t nul = input.find('\0');
  const std::string_view variables = nul == input.npos ? kConversation : input.substr(nul + 1);
  const ChatTemplate chat = ChatTemplate::Parse(input.substr(0, nul), "input");
  const Result result = Rendered(chat, variables);
  EKVI_CHECK(base::IsUtf8(result.text));
  EKVI_CHECK(base::IsUtf8(result.error));
  EKVI_CHECK_OP(<=, result.text.size(), jinja::Limits().output_bytes);
  EKVI_CHECK(Rendered(chat, variables) == result);
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("templates", ".jinja", 2500);
  for (const char* source :
       {"{%- for m in messages %}{{ m.role ~ ': ' ~ (m.content or '-')|trim }}\n{% else %}{{ x }}{%- endfor -%}",
        "{% macro f(a, b=1) %}{{ caller(a) }}{% endmacro %}{% call(v) f('q') %}{{ v|upper }}{% endcall %}",
        "{% set ns = namespace(n=0) %}{% for k, v in d|dictsort %}{% set ns.n = ns.n + loop.index %}{% endfor %}",
        "{{ l|sort|join(', ') }}{{ l[::-1] }}{{ u[1:3] }}{{ '%5.2f|%-4s' % (x, i) }}{{ '{:>8}'.format(u) }}",
        "{{ tools|tojson(indent=2) }}{{ messages|map(attribute='role')|list }}{{ l|select('odd')|sum }}",
        "{% if i is odd and x is not none %}{{ i // 2 }}{{ i % 3 }}{{ i ** 2 }}{% elif n %}a{% endif %}",
        "{{ messages|selectattr('role', 'equalto', 'user')|list|length }}{{ u.split('l')|batch(2)|list }}",
        "{% filter upper %}{% generation %}{{ strftime_now('%d') }}{% endgeneration %}{% endfilter %}",
        "{{ raise_exception('no: ' ~ u) }}", "{%- raw %}{{ x }}{% endraw -%}{# c #}{{ range(3)|list }}"})
    seeds.emplace_back(source);
  seeds.push_back(std::string("{{ a }}{{ b|tojson }}") + '\0' + R"({"a": [1, "\ud83e\udd99"], "b": {"c": 1e3}})");
  return seeds;
}

}  // namespace ekvi::fuzzing
