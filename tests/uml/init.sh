#!/bin/sh
# What a User-Mode Linux runs as its first process: IBEMU_RUN, a script, in
# IBEMU_ROOT.  Its root is the machine's own file system (hostfs); what the
# test should not share is covered.  The exit status goes to IBEMU_STATUS.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
for place in /tmp /run; do mount -t tmpfs -o mode=1777 tmpfs $place; done
mkdir -m 755 /dev/shm /dev/pts 2>/dev/null
ip link set lo up 2>/dev/null
for module in fuse/fuse fuse/cuse overlayfs/overlay; do
  busybox insmod "/usr/lib/uml/modules/$(uname -r)/kernel/fs/$module.ko" ||
    echo "uml: no module $module"
done
# A clone below /tmp was covered with it.
[ -d "$IBEMU_ROOT" ] || {
  mkdir -p "$IBEMU_ROOT"
  mount -t hostfs -o "$IBEMU_ROOT" none "$IBEMU_ROOT"
}
cd "$IBEMU_ROOT" || echo "uml: no $IBEMU_ROOT"
sh "$IBEMU_RUN" < /dev/null
echo $? > "$IBEMU_STATUS"
sync
echo o > /proc/sysrq-trigger
sleep 60
