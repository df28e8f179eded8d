#!/bin/sh
# one_host.sh DEVICE[,DEVICE]... COMMAND [ARG]...: runs COMMAND as on a host
# that has these devices and no others.  For a mount namespace of its own.
devices=,$1,
shift
stage=/media
mount -t tmpfs tmpfs $stage || exit 125
for class in infiniband infiniband_mad infiniband_verbs; do
  mkdir $stage/$class
  for entry in /sys/class/$class/*; do
    case $class/${entry##*/} in
      */abi_version) owner=${devices%,} owner=${owner##*,} ;;
      infiniband_mad/* | infiniband_verbs/*) owner=$(cat "$entry/ibdev") ;;
      *) owner=${entry##*/} ;;
    esac
    case $devices in
      *,$owner,*) cp -d "$entry" $stage/$class/ || exit 125 ;;
    esac
  done
  mount --bind $stage/$class /sys/class/$class || exit 125
done
exec "$@"
