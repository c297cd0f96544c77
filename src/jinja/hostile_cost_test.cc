// Goal: whatever a template builds, a rendering takes no more than 256 MiB and little time. Method: templates that look
// for memory that nothing counts (texts in the making, copies of lists, messages, keys, variables) and for work that
// steps do not pay for, each in a process of its own with the kernel's mark of its most resident memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "jinja/failure.h"
#include "jinja/parser.h"
#include "jinja/renderer.h"

namespace ekvi::jinja {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::string Times(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

struct Cost {
  double megabytes = 0, seconds = 0;  // of processor time
  bool ended = false;                 // with a text or a Failure
};

Cost CostOf(const std::string& source, const Limits& limits) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const Program program = ParseTemplate(source);
      Renderer(program, {.strftime_now = [](std::string_view) { return "26 Jul 2026"; }, .limits = limits}).Run({});
    } catch (const Failure&) {
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
  return {static_cast<double>(usage.ru_maxrss) / 1024, seconds(usage.ru_utime) + seconds(usage.ru_stime),
          WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

// A second for all steps on a machine that does nothing else; twice that is let pass.
void ExpectCheap(const std::vector<std::string>& sources, const Limits& limits = {}) {
  const double before = CostOf("", limits).megabytes;
  const double seconds_max = 2. * static_cast<double>(limits.steps) / static_cast<double>(Limits{}.steps);
  for (const std::string& source : sources) {
    const Cost cost = CostOf(source, limits);
    EXPECT_TRUE(cost.ended) << source.substr(0, 200);
    if (kSanitized) continue;
    EXPECT_LT(cost.megabytes - before, 256) << source.substr(0, 200);
    EXPECT_LT(cost.seconds, seconds_max) << source.substr(0, 200);
    std::printf("%.2f s %.0f MB %s\n", cost.seconds, cost.megabytes,
                source.substr(source.size() > 90 ? source.size() - 90 : 0).c_str());
  }
}

const std::string kLoop = "{% for x in range(100000) %}", kEnd = "{% endfor %}";
const std::string kLoops = kLoop + "{% for y in range(1000) %}", kEnds = kEnd + kEnd;

TEST(HostileCost, TextsInTheMaking_AreCounted) {
  const std::string big = "{% set b = 'a' * 15000000 %}";
  ExpectCheap({
      big + Times("{% set x %}{{ b }}", 100) + Times("{% endset %}", 100),
      big + "{% macro m(n) %}{{ b }}{% if n %}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(90)|length }}",
      big + "{% macro m() %}{{ b }}{{ caller() }}{% endmacro %}" + Times("{% call m() %}", 60) +
          Times("{% endcall %}", 60),
      big + Times("{% filter upper %}{{ b }}", 60) + Times("{% endfilter %}", 60),
      big + "{% for x in [1] recursive %}{{ b }}{{ loop([1]) }}{% endfor %}",
      "{{ ('\"' * 15000000)|escape|length }}",
      "{{ ('\"' * 15000000)|urlencode|length }}",
      "{{ ('\\u0001' * 15000000)|tojson|length }}",
      "{{ ['\\u0001' * 15000000]|string|length }}",
      "{{ ('\\n' * 1000000)|indent(60, blank=true)|length }}",
      "{{ '%1000000d' * 90 % ((1,) * 90) }}",
      "{{ ('a' * 1000000).replace('a', 'b' * 1000)|length }}",
      "{{ (['a' * 1000000] * 1000)|join('b' * 1000000)|length }}",
      "{{ ('a' * 1000000)|center(99999999)|length }}",
  });
}

TEST(HostileCost, CopiesOfLists_AreCounted) {
  ExpectCheap({
      "{{ ([0] * 9000000 + [0] * 9000000)|length }}",
      "{% set a = [0] * 5000000 %}{{ (a + a)|length }}",
      "{% set a = [0] * 3000000 %}" + Times("{% for x in a %}", 60) + Times("{% break %}{% endfor %}", 60),
      "{{ ('a' * 15000000)|list|length }}",
      "{{ ('a ' * 7000000).split()|length }}",
      "{{ ('a,' * 7000000).rsplit(',')|length }}",
      "{{ ('\\n' * 15000000).splitlines()|length }}",
      "{{ [1]|slice(9000000)|list|length }}",
      "{{ [1]|batch(9000000, 0)|list|length }}",
      "{{ ('a' * 15000000)[::-1]|length }}",
      "{{ (('[' ~ '1,' * 7000000 ~ '1]')|from_json)|length }}",
  });
}

TEST(HostileCost, KeysMessagesAndVariables_AreCounted) {
  const std::string big = "{% set b = 'a' * 4000000 %}{% set n = namespace(l=[], d={}) %}";
  ExpectCheap({
      big + "{% for i in range(300) %}{% set n.l = n.l + [{}[b]] %}{% endfor %}{{ n.l|length }}",
      big + "{% for i in range(300) %}{% set n.d = dict(n.d, **{b ~ i: 1}) %}{% endfor %}{{ n.d|length }}",
      big + "{% for i in range(300) %}{% set n.l = n.l + [(b, i)] %}{% endfor %}{{ n.l|unique|list|length }}",
      big + "{% for i in range(300) %}{% set n.d = dict(n.d, **{'k' ~ i: 1}) %}{% endfor %}{% for i in range(20000) %}"
            "{% set n.l = namespace(n.d, x=n.l) %}{% endfor %}",
      "{% set n = namespace(k=0) %}" + kLoop + "{% macro m() %}{% endmacro %}" +
          [] {
            std::string sets;
            for (int i = 0; i < 40; ++i) sets += "{% set v" + std::to_string(i) + " = 1 %}";
            return sets;
          }() +
          "{% set n.k = m %}" + kEnd,
  });
}

TEST(HostileCost, WorkOfEveryKind_IsPaidForBySteps) {
  std::vector<std::string> sources;
  for (const char* call :
       {"'{:.300f}'.format(1.5e300)", "'%.9000f' % 1.5", "1.5e300|round(300)", "'1.5e-300'|float", "strftime_now('%Y')",
        "namespace(a=1, b=2, c=3)", "'a'|upper|lower|trim|title", "'[1, {\"a\": 1}]'|from_json", "'a b'.split()",
        "{'a': 1, 'b': 2}|tojson", "[3, 1, 2]|sort", "range(99)|sum", "'{}{}'.format(1, 2)"}) {
    sources.push_back(kLoops + "{% set _ = " + call + " %}" + kEnds);
  }
  const std::string texts = "{% set s = 'é ' * 1000000 %}{% set p = 'a' * 1000000 ~ 'b' %}{% set t = 'ab' * 4000000 %}";
  for (const char* call : {"t.find(p)", "t.rfind(p)", "t.count('ab')", "t.replace('ab', 'c')", "s[5:]", "s[999999]",
                           "s|reverse", "s.split()", "s|wordcount", "s.isupper()", "s|upper", "s|title", "s.strip(s)",
                           "s|escape", "s == t", "p in t", "s.center(9)"}) {
    sources.push_back(texts + kLoop + "{% set _ = " + call + " %}" + kEnd);
  }
  sources.push_back("{% set n = namespace(s={}) %}" + kLoop + "{% set n.s = dict(n.s, **{x|string: 'a' * 999}) %}" +
                    kEnd);
  sources.push_back(
      "{% set n = namespace(s=(1,)) %}{% for i in range(90) %}{% set n.s = (n.s, n.s) %}{% endfor %}"
      "{{ {n.s: 1} }}");
  // Of a quarter of the steps what a step costs can be told as well, four times as soon.
  ExpectCheap(sources, {.steps = Limits{}.steps / 4});
  ExpectCheap({sources.front()});  // the dearest
}

}  // namespace
}  // namespace ekvi::jinja
