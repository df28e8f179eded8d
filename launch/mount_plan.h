// MountPlan: the mounts of `ibemu run` and of system mode, as data.
#ifndef IBEMU_LAUNCH_MOUNT_PLAN_H_
#define IBEMU_LAUNCH_MOUNT_PLAN_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace ibemu::launch {

// The one place of a run that is no place of the machine: a tmpfs that holds
// the FUSE mount and the machine's own /sys/{class,bus,devices}, which a nested
// run needs again.  The directory exists wherever FUSE does, and unlike /tmp or
// /run nobody else writes there.
inline constexpr char kStage[] = "/sys/fs/fuse/connections";
inline constexpr char kFuseMount[] = "/sys/fs/fuse/connections/fuse";

// The place of the FUSE file system with the devices' sysfs entries in system
// mode.
inline constexpr char kSystemMount[] = "/run/ibemu/sys";

inline constexpr char kSysClass[] = "/sys/class";
inline constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";
// The machine's own, for nested runs.
inline constexpr char kMachineBootId[] = "/sys/fs/fuse/connections/boot_id";
inline constexpr char kHosts[] = "/etc/hosts";
inline constexpr char kResolver[] = "/etc/resolv.conf";

// A DirectoryEntry is one name in a directory; of a link, `target` is what it
// says, not where that leads.
struct DirectoryEntry {
  enum class Kind { kDirectory, kLink, kOther };
  std::string name;
  Kind kind = Kind::kDirectory;
  std::string target;  // kLink
};

// The machine as the launcher sees it, in its new mount namespace.
struct MachineFacts {
  bool nested = false;  // the stage of an outer run is there
  bool has_dev_infiniband = false;
  std::string boot_id;                  // the machine's own; empty: none
  std::vector<DirectoryEntry> dev;      // of /dev; not used when it has
  std::vector<DirectoryEntry> devices;  // of the machine's own /sys/devices
  std::vector<DirectoryEntry> classes;  // of the machine's own /sys/class
};

// The directories that the daemon serves below kFuseMount.
struct ServedFacts {
  std::vector<std::string> classes;  // of sys/class
  std::vector<std::string> devices;  // of sys/devices: "pci1b1b:00"
};

// A directory that opensm and its kind write to.
struct StateDirectory {
  std::string name;  // "opensm" of /var/cache; "log" of /var
  bool exists = false;
  bool writable = false;  // by the user of the run
};

// A StateFacts tells of the directories and files below /var that opensm and
// its kind write to, as the user of the run finds them.
struct StateFacts {
  std::vector<StateDirectory> caches;  // of /var/cache
  StateDirectory log;                  // /var/log
  // Files there that they write, and the user may not.
  std::vector<std::string> locked_logs;
};

// One step; steps are taken in order and each must succeed.
struct MountStep {
  enum class Kind {
    kTmpfs,      // a new, empty one on `target`; `source` is its size
    kDirectory,  // a directory, unless it is there
    kFile,       // an empty file: something to bind on
    kText,       // a file with `source` in it
    kLink,       // symlink(source, target)
    kBind,       // `source` with all mounts below it, on `target`
    kMove,       // the mount at `source` to `target`
    kOverlay,    // read-only, of `source` (colon separated), on `target`
    kCover,      // `source`, and what `target` has below it, on `target`; where
                 // the kernel can't do that, `source` alone
  };
  Kind kind;
  std::string source;  // empty where there is none
  std::string target;

  bool operator==(const MountStep&) const = default;
};

using MountPlan = std::vector<MountStep>;

// Before the FUSE file system is mounted on kFuseMount.
MountPlan PlanStage(const MachineFacts& machine);

// After it answers: makes its directories appear in /dev and /sys.  No overlay
// is ever stacked on another one: a nested run covers all of the outer one's
// with mounts of the machine's own directories.
MountPlan PlanView(const MachineFacts& machine, const ServedFacts& served);

// Hides whatever adapters there are: empties /dev/infiniband, if it is there,
// and the RDMA classes among `classes`, those that /sys/class shows.
MountPlan PlanNoAdapter(bool has_dev_infiniband,
                        const std::vector<std::string>& classes);

// Covers the directories of `state` that the user may not write to with private
// ones, or, if there is a `directory` to keep them, all of them with what is in
// there: its "cache" and "log".  Other files of /var/log stay to be seen.
MountPlan PlanState(const StateFacts& state,
                    const std::optional<std::string>& directory);

// The work directory of an overlay whose upper directory is `source`.
std::string WorkDirectory(const std::string& source);

// Gives a host its boot id, unless that is empty, and, if there is one, its
// /etc/hosts.
MountPlan PlanHost(const std::string& boot_id,
                   const std::optional<std::string>& hosts);

// Gives a run its /etc/resolv.conf, which has to be there.
MountPlan PlanResolver(const std::string& text);

// After the FUSE file system on kSystemMount answers: lets its RDMA classes
// appear in /sys/class, whose entries are `machine_classes`.  What a real
// adapter has there is hidden.  Nothing is mounted over /sys/devices, which
// systemd's libudev would refuse.
MountPlan PlanSystemView(const std::vector<std::string>& served_classes,
                         const std::vector<std::string>& machine_classes);

// For messages and tests: "bind /a on /b".
std::string ToString(const MountStep& step);
std::ostream& operator<<(std::ostream& out, const MountStep& step);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_MOUNT_PLAN_H_
