#!/usr/bin/env bash
# Runs an emulator with TraceGen once per seed, converts each log to axe's format, and has axe check it. With the drop-in
# of `gradual axe --install` on PATH, or with axe itself.
#
#   experiments/tracegen/check.sh [-m MODEL] [-s SEEDS] [-k FOLDER] EMULATOR [ARGUMENT...]
#
# The emulator is called with the seed behind its arguments. Exit status: 0 all OK, 1 some NO, 2 a run failed.
set -uo pipefail
model=WMO seeds=10 keep=
while getopts m:s:k: option; do
  case $option in
    m) model=$OPTARG ;;
    s) seeds=$OPTARG ;;
    k) keep=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n 's/^# \{0,1\}//p' "$0" | head -8 >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
for seed in $(seq "$seeds"); do
  "$@" "$seed" > "$folder/log" || { echo "seed $seed: the emulator failed"; exit 2; }
  grep -q FINISHED "$folder/log" || { echo "seed $seed: the emulator did not finish"; exit 2; }
  gradual convert --from tracegen --to axe "$folder/log" "$folder/trace" || exit 2
  answer=$(axe check "$model" "$folder/trace") || { echo "seed $seed: axe could not read the trace"; exit 2; }
  echo "seed $seed: $answer"
  if [ "$answer" != OK ]; then
    status=1
    [ -z "$keep" ] || { mkdir -p "$keep" && cp "$folder/log" "$keep/$seed.log"; }
  fi
done
exit $status
