#!/bin/sh
# PID 1 of every guest: User Mode Linux runs it directly, QEMU's initramfs after a chroot into the
# host's root. The root is the host's, read-only; only the tmpfs on /run and the folder of jobs on
# /run/guest can be written.
#
# Environment, set by guests.py through the kernel's command line:
#   GUEST_KIND    uml or qemu
#   GUEST_NUMBER  host part of the addresses
#   GUEST_FOLDER  uml only: the guest's folder on the host
#   GUEST_MODULES uml only: the folder of its kernel's modules
#   GUEST_LIFE    seconds after which the guest powers itself off, whatever happens
#
# On the console "J <id>" runs jobs/<id>.cmd in the background, "K <id>" ends it, "Q" powers off. A job's results
# are files beside its .cmd: .out, .err, and .status last.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run/tmp
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
busybox=$(command -v busybox)
die() { echo "guest: $*"; "$busybox" poweroff -f; }

if [ "$GUEST_KIND" = uml ]; then
	mount -t proc proc /proc; mount -t sysfs sys /sys
	mount -t tmpfs tmpfs /run
	mkdir -p /run/guest /run/m/lib
	mount -t hostfs -o "$GUEST_FOLDER" none /run/guest || die "cannot mount the folder of jobs"
	ln -s "$GUEST_MODULES" /run/m/lib/modules      # modprobe -d wants DIR/lib/modules/VERSION
	modprobe -q -a -d /run/m ipv6 dccp_ipv4 dccp_ipv6 sch_netem sch_tbf sch_ingress cls_matchall act_mirred
	modprobe -q -d /run/m ifb numifbs=1
fi
mkdir -p /run/tmp
stty -echo 2>/dev/null
[ -d /proc/sys/net/dccp ] || die "no DCCP in this kernel"

# One ip process for all: in QEMU without KVM it takes a while to start a program.
[ -e /sys/class/net/vec0 ] && ip link set vec0 name eth0
for f in accept_dad accept_ra; do echo 0 >/proc/sys/net/ipv6/conf/eth0/$f; done 2>/dev/null
{ cat <<END
link set lo up
link set eth0 up
link set ifb0 up
addr add 10.33.0.$GUEST_NUMBER/24 dev eth0
addr add fd33::$GUEST_NUMBER/64 dev eth0 nodad
END
for n in 1 2 3 4 5; do                 # no ARP: an emulated path would delay and lose it
	for a in 10.33.0.$n fd33::$n; do
		[ $n = "$GUEST_NUMBER" ] || echo "neigh add $a lladdr 02:33:00:00:00:0$n dev eth0"
	done
done; } | ip -force -batch -
tc qdisc replace dev eth0 root pfifo limit 1000        # no fq_codel: no marks or drops by surprise

{ sleep "$GUEST_LIFE"; echo "guest: life is over"; "$busybox" poweroff -f; } </dev/null &

cd /run/guest/jobs || die "no folder of jobs"
uname -r >../ready.new
mv ../ready.new ../ready
while read -r verb id; do
	case $verb in
	J) (
		timeout -k 8 "$(cat "$id.limit")" sh "./$id.cmd" >"$id.out" 2>"$id.err" &
		echo $! >"/run/$id.pid"
		wait $!
		echo $? >"$id.status.new"; mv "$id.status.new" "$id.status"
	   ) </dev/null & ;;
	K) [ -e "$id.status" ] || kill "$(cat "/run/$id.pid")" ;;
	Q) break ;;
	esac
done
sync
"$busybox" poweroff -f
