#!/bin/sh
# Compile picoquic's DualPI2 with the driver into DIRECTORY.
# usage: run.sh PICOQUIC_TREE PICOTLS_TREE DIRECTORY   (../build.sh has the commits)
# Two programs: dualq_published is dualq_aqm.c as it is; dualq_corrected has two lines changed to what
# RFC 9332 says (line 5 of Figure 8 and line 7 of Figure 7), on a copy.
set -e
picoquic=$1
picotls=$2
work=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
cp "$picoquic/picoquic/dualq_aqm.c" "$work/dualq_published.c"
sed -e 's/dualq->p_C = dualq->pprime \* dualq->pprime_L;/dualq->p_C = dualq->pprime * dualq->pprime;/' \
    -e 's/if (dualq_recur(&dualq->lq, dualq->pprime_L)) {/if (dualq_recur(\&dualq->lq, dualq->p_L)) {/' \
    "$work/dualq_published.c" >"$work/dualq_corrected.c"
[ "$(diff "$work/dualq_published.c" "$work/dualq_corrected.c" | grep -c '^>')" = 2 ]
for variant in published corrected; do
    cc -O2 -Wall -o "$work/dualq_$variant" -I"$picoquic/picoquic" -I"$picotls/include" \
        "$here/driver.c" "$work/dualq_$variant.c" "$picoquic/picoquic/sim_link.c"
done
