#!/bin/bash
# Slurm's Epilog: ends what prolog.sh has begun.
set -euo pipefail

: "${IBEMU_JOBS:=/run/ibemu-jobs}"
place=$IBEMU_JOBS/$SLURM_JOB_ID

if [ ! -e "$place" ]; then exit 0; fi  # the prolog has failed
as_user=()
if [ "$EUID" = 0 ]; then
  as_user=(setpriv "--reuid=$SLURM_JOB_UID" "--regid=$SLURM_JOB_GID" --init-groups)
fi
pid=$(cat "$place.pid" || true)
# Its user may have killed the daemon, or stopped it.
if ! "${as_user[@]}" timeout 5 ibemu stop "--fabric=$place/fabric.sock" &&
  [ "/proc/$pid/cwd" -ef "$place" ]; then
  kill -KILL "$pid"
fi
rm --recursive --force "$place" "$place.pid"
