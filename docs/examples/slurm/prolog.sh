#!/bin/bash
# Slurm's Prolog: makes this node a host of a fabric, until the epilog of the job.
# These may be in the environment, as README.md tells:
#
#   IBEMU_HEAD   the machine that has the subnet, and its port
#   IBEMU_HOST   which host the node is; else any that is free
#   IBEMU_CERTS  the certificates of this node
#   IBEMU_JOBS   where jobs have their sockets
set -euo pipefail

# Slurm gives none, and bash does not hand its own on to what it starts.
[[ ${PATH@a} = *x* ]] ||
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
: "${IBEMU_HEAD:=head:7471}" "${IBEMU_HOST:=any}"
: "${IBEMU_CERTS:=/etc/ibemu/certs}" "${IBEMU_JOBS:=/run/ibemu-jobs}"
place=$IBEMU_JOBS/$SLURM_JOB_ID
umask 022

# A daemon serves its own user alone, so it is that of the job's.
as_user=()
if [ "$EUID" = 0 ]; then
  as_user=(setpriv "--reuid=$SLURM_JOB_UID" "--regid=$SLURM_JOB_GID" --init-groups)
fi

daemon=
undo() {
  if [ -n "$daemon" ]; then kill -KILL "$daemon" 2>/dev/null || true; fi
  rm --recursive --force "$place" "$place.daemon"
}

# Nobody else may look into the place, and until it is complete not the user
# either: root must not follow links of his.
mkdir --parents "$IBEMU_JOBS"
mkdir --mode=0700 "$place"
trap undo EXIT
mkdir "$place/certs"
# Never the key of an authority, which may be beside them.
install --mode=0600 --target-directory="$place/certs" \
  "$IBEMU_CERTS/ca.crt" "$IBEMU_CERTS/tls.crt" "$IBEMU_CERTS/tls.key"
exec {log}>"$place/log"
chown --recursive "$SLURM_JOB_UID:$SLURM_JOB_GID" "$place"
cd "$place"

# Slurm waits for who has the prolog's output, and then kills its process group.
setsid "${as_user[@]}" ibemud "--join=$IBEMU_HEAD" "--host=$IBEMU_HOST" \
  "--certs=$place/certs" "--socket=$place/fabric.sock" >&"$log" 2>&1 &
daemon=$!
# For the epilog, outside of what the user can write: the process and when it
# began, the 20th word after its name, since another may get its number.
started=$(sed --null-data 's/.*) //' "/proc/$daemon/stat" 2>/dev/null |
  cut --delimiter=' ' --fields=20 || true)
echo "$daemon $started" >"$place.daemon"
until grep --quiet ' ready' "/dev/fd/$log"; do
  if ! kill -0 "$daemon" 2>/dev/null; then
    daemon=
    cat "/dev/fd/$log"  # for the log of slurmd
    exit 1
  fi
  sleep 0.1
done
trap - EXIT
