#!/usr/bin/env bash
# Goal: ./dev keeps answers and chatter apart and refuses what it does not know. Method: call it with commands that
# build nothing, from another folder. Usage: dev_test.sh PATH_OF_DEV
set -euo pipefail
dev=$1
cd /

expect() {  # WHAT COMMAND…: the command must succeed
  local what=$1
  shift
  "$@" || { echo "not so: $what" >&2; exit 1; }
}

help=$("$dev" help 2>/dev/null)
for command in run ekvi test model build fuzz fmt tidy bench peers clean; do
  expect "help names $command" grep -q "^./dev $command" <<<"$help"
done
expect "help fits a screen" test "$(wc -l <<<"$help")" -le 24
expect "no command means help" test "$("$dev" 2>/dev/null)" = "$help"

status=0
output=$("$dev" rum 2>/dev/null) || status=$?
expect "an unknown command exits with 2" test "$status" -eq 2
expect "and prints nothing to stdout" test -z "$output"

for arguments in "no-such 5" "utf8 soon" "utf8 0"; do
  status=0
  read -ra words <<<"$arguments"
  error=$("$dev" fuzz "${words[@]}" 2>&1 >/dev/null) || status=$?
  expect "./dev fuzz $arguments is refused" test "$status" -eq 1
  expect "in three parts, before anything is built" test "$(wc -l <<<"$error")" -eq 3
done

status=0
output=$("$dev" model no-such 2>/dev/null) || status=$?
expect "an unknown model is refused" test "$status" -eq 1
expect "without a path on stdout" test -z "$output"
