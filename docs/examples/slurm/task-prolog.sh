#!/bin/sh
# Slurm's TaskProlog: by this variable programs of ibemu find the host that
# prolog.sh has made of the node, if it has.
socket=${IBEMU_JOBS:-/run/ibemu-jobs}/$SLURM_JOB_ID/fabric.sock
if [ -S "$socket" ]; then echo "export IBEMU_FABRIC=$socket"; fi
