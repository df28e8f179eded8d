#!/bin/busybox sh
# The guest's first process: carries out the commands that come by the second
# serial line, one a line, and tells output and exit status there.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
ip link set lo up
line=/dev/ttyS1
stty -F $line raw -echo
exec 3<$line 4>$line
echo '=== ready' >&4
while IFS= read -r command <&3; do
  sh -c "$command" >/tmp/.output 2>&1 </dev/null 3<&- 4>&-
  status=$?
  cat /tmp/.output >&4
  echo >&4
  echo "=== $status" >&4
done
poweroff -f
