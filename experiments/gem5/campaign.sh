#!/usr/bin/env bash
# Random clients on gem5, one log per client, then a batch over all of them.
#
#     GEM5=path/to/gem5 PROTOCOLS="MI_example MESI_Two_Level" SEEDS="1 2 3" experiments/gem5/campaign.sh runs/
#
# GEM5 is a checkout with build/RISCV_<PROTOCOL>/gem5.opt built for every protocol
# (scons build/RISCV_MI_example/gem5.opt PROTOCOL=MI_example ...). CPU, THREADS, OPERATIONS and LOCATIONS may be set too.
set -euo pipefail
runs=${1:?where to put the runs}
here=$(dirname "$0")
: "${GEM5:?a gem5 checkout}" "${PROTOCOLS:=MI_example}" "${SEEDS:=1 2 3 4 5}" "${CPU:=RiscvTimingSimpleCPU}"
: "${THREADS:=4}" "${OPERATIONS:=200}" "${LOCATIONS:=8}" "${CC:=riscv64-linux-gnu-gcc}" "${NM:=riscv64-linux-gnu-nm}"

# The address range of the shared array: what is worth checking in a log of the whole program.
range() {
  local start size
  read -r start size < <("$NM" -S "$1" | awk '$4 == "memory" { print $1, $2 }')
  printf '0x%x:0x%x\n' "$((16#$start))" "$((16#$start + 16#$size))"
}

for protocol in $PROTOCOLS; do
  mkdir -p "$runs/$protocol"
  for seed in $SEEDS; do
    client="$runs/$protocol/client-$seed"
    python "$here/client.py" --threads "$THREADS" --operations "$OPERATIONS" --locations "$LOCATIONS" --seed "$seed" \
      > "$client.c"
    "$CC" -O1 -static -pthread -o "$client" "$client.c"
    "$GEM5/build/RISCV_$protocol/gem5.opt" --outdir="$client.m5out" --debug-flags=Exec --debug-file=trace.out.gz \
      "$GEM5/configs/deprecated/example/se.py" --ruby --cpu-type="$CPU" -n $((THREADS + 1)) --mem-size=512MB -c "$client"
    gradual convert "$client.m5out/trace.out.gz" "$runs/$protocol/seed-$seed.csv" --addresses "$(range "$client")"
    rm -r "$client.m5out"
  done
done
gradual batch "$runs"/*/seed-*.csv --model sc --model tso --out "$runs/results.parquet"
gradual report "$runs/results.parquet" -o "$runs/report.html"
