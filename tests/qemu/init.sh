#!/bin/sh
# What the guest of tools/qemu runs when systemd is up: DIRECTORY/run, a script.
# The exit status goes to DIRECTORY/status.
# Usage: init.sh DIRECTORY
out=/dev/virtio-ports/out
udevadm settle --exit-if-exists=$out
exec > $out 2>&1 < /dev/null
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /ibemu || exit
sh "$1/run"
echo $? > "$1/status"
