#!/bin/bash
# Slurm's Epilog: ends what prolog.sh has begun, whatever the job's user has done
# to it meanwhile.  Nothing of that may drain the node.
set -euo pipefail

# As in prolog.sh.
[[ ${PATH@a} = *x* ]] ||
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
: "${IBEMU_JOBS:=/run/ibemu-jobs}"
place=$IBEMU_JOBS/$SLURM_JOB_ID

if [ ! -e "$place" ]; then exit 0; fi  # the prolog has failed
as_user=()
if [ "$EUID" = 0 ]; then
  as_user=(setpriv "--reuid=$SLURM_JOB_UID" "--regid=$SLURM_JOB_GID" --init-groups)
fi

# Who is asked ends in good order.  But another may listen there by now, or
# nobody, or one that never answers.
timeout --signal=KILL 5 "${as_user[@]}" ibemu stop "--fabric=$place/fabric.sock" ||
  true

# The daemon itself, unless its number is that of another process by now.
pid='' noted=''
read -r pid noted 2>/dev/null <"$place.daemon" || true
started=$(sed --null-data 's/.*) //' "/proc/$pid/stat" 2>/dev/null |
  cut --delimiter=' ' --fields=20 || true)
if [ -n "$noted" ] && [ "$started" = "$noted" ]; then
  kill -KILL "$pid" 2>/dev/null || true  # it may just have ended
fi

# A process of the user may make files in it as long as it finds it.
ended=$place.ended.$$
mv --no-target-directory "$place" "$ended"
rm --recursive --force "$ended" "$place.daemon" ||
  echo "$ended: a process of the user may still write there: remove it" >&2
