#!/bin/bash
# Slurm's Prolog: makes this node a host of a fabric, until the epilog of the job.
# These may be in the environment, as README.md tells:
#
#   IBEMU_HEAD   the machine that has the subnet, and its port
#   IBEMU_HOST   which host the node is; else any that is free
#   IBEMU_CERTS  the certificates of this node
#   IBEMU_JOBS   where jobs have their sockets
set -euo pipefail

: "${IBEMU_HEAD:=head:7471}" "${IBEMU_HOST:=any}"
: "${IBEMU_CERTS:=/etc/ibemu/certs}" "${IBEMU_JOBS:=/run/ibemu-jobs}"
place=$IBEMU_JOBS/$SLURM_JOB_ID

# A daemon serves its own user alone, so it is that of the job's.
as_user=()
if [ "$EUID" = 0 ]; then
  as_user=(setpriv "--reuid=$SLURM_JOB_UID" "--regid=$SLURM_JOB_GID" --init-groups)
fi

# Nobody else may look into the place, and until it is complete not the user
# either: root must not follow links of his.
mkdir --parents "$IBEMU_JOBS"
mkdir --mode=0700 "$place"
cp --recursive --dereference "$IBEMU_CERTS" "$place/certs"
exec {log}>"$place/log"
chown --recursive "$SLURM_JOB_UID:$SLURM_JOB_GID" "$place"
cd "$place"

# Slurm waits for who has the prolog's output, and then kills its process group.
setsid "${as_user[@]}" ibemud "--join=$IBEMU_HEAD" "--host=$IBEMU_HOST" \
  "--certs=$place/certs" "--socket=$place/fabric.sock" >&"$log" 2>&1 &
echo $! >"$place.pid"
until grep --quiet ' ready' "/dev/fd/$log"; do
  if ! kill -0 $! 2>/dev/null; then
    cat "/dev/fd/$log"  # for the log of slurmd
    rm --recursive "$place" "$place.pid"
    exit 1
  fi
  sleep 0.1
done
