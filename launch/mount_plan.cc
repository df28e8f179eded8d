#include "launch/mount_plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::launch {
namespace {

using Kind = MountStep::Kind;

// The prefix of sysfs classes that show RDMA devices.  A real adapter's are
// hidden.
constexpr std::string_view kRdmaPrefix = "infiniband";

// Where rdma_cm is, beside other devices of the machine.
constexpr std::string_view kVirtual = "virtual";
constexpr std::string_view kMisc = "misc";
constexpr std::string_view kNet = "net";

// opensm's log may grow without end.
constexpr char kStateSize[] = "256m";

std::string InStage(const std::string& name) {
  return absl::StrCat(kStage, "/", name);
}

std::string Served(const std::string& path) {
  return absl::StrCat(kFuseMount, "/", path);
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds what makes the entry `from` of a directory appear as `to`.
void Repeat(const DirectoryEntry& entry, const std::string& from,
            const std::string& to, MountPlan& plan) {
  if (entry.kind == DirectoryEntry::Kind::kLink) {
    plan.push_back({Kind::kLink, entry.target, to});
    return;
  }
  const bool directory = entry.kind == DirectoryEntry::Kind::kDirectory;
  plan.push_back({directory ? Kind::kDirectory : Kind::kFile, "", to});
  plan.push_back({Kind::kBind, from, to});
}

// A /dev with one directory more.  Built aside, then moved into place.
// Overlayfs can't do it: it refuses /dev.
void PlanDev(const MachineFacts& machine, MountPlan& plan) {
  const std::string made = InStage("new");
  plan.push_back({Kind::kTmpfs, "", made});
  plan.push_back({Kind::kDirectory, "", made + "/.host"});
  plan.push_back({Kind::kBind, "/dev", made + "/.host"});
  plan.push_back({Kind::kDirectory, "", made + "/infiniband"});
  for (const DirectoryEntry& entry : machine.dev) {
    const std::string to = absl::StrCat(made, "/", entry.name);
    if (entry.name == "ptmx" && entry.kind == DirectoryEntry::Kind::kOther) {
      // Opening it looks for its sibling `pts`, which a bound file has not.
      plan.push_back({Kind::kLink, ".host/ptmx", to});
    } else {
      Repeat(entry, "/dev/" + entry.name, to, plan);
    }
  }
  plan.push_back({Kind::kMove, made, "/dev"});
}

void PlanCover(const std::string& source, const std::string& target,
               MountPlan& plan) {
  plan.push_back({Kind::kDirectory, "", WorkDirectory(source)});
  plan.push_back({Kind::kCover, source, target});
}

// Binds and no overlay: files of real devices stay sysfs files, writable and
// recognised as such by libudev.  Only among virtual devices ours has siblings,
// the miscellaneous ones, which have nothing to write to.
void PlanDevices(const MachineFacts& machine, const ServedFacts& served,
                 MountPlan& plan) {
  const std::string made = InStage("new");
  plan.push_back({Kind::kTmpfs, "", made});
  for (const DirectoryEntry& entry : machine.devices) {
    if (entry.name != kVirtual && Contains(served.devices, entry.name)) {
      continue;
    }
    Repeat(entry, InStage("devices/" + entry.name),
           absl::StrCat(made, "/", entry.name), plan);
  }
  for (const std::string& name : served.devices) {
    if (name == kVirtual) continue;
    const std::string to = absl::StrCat(made, "/", name);
    plan.push_back({Kind::kDirectory, "", to});
    plan.push_back({Kind::kBind, Served("sys/devices/" + name), to});
  }
  plan.push_back({Kind::kMove, made, "/sys/devices"});
  if (!Contains(served.devices, kVirtual)) return;
  const std::string misc =
      absl::StrCat("devices/", Absl(kVirtual), "/", Absl(kMisc));
  plan.push_back({Kind::kOverlay,
                  absl::StrCat(Served("sys/" + misc), ":", InStage(misc)),
                  "/sys/" + misc});
}

// Binds the RDMA classes of `served` below `from` over those of /sys/class.
void BindClasses(const std::vector<std::string>& served,
                 const std::string& from, MountPlan& plan) {
  for (const std::string& name : served) {
    if (!name.starts_with(kRdmaPrefix)) continue;
    plan.push_back({Kind::kBind, absl::StrCat(from, "/", name),
                    absl::StrCat(kSysClass, "/", name)});
  }
}

// An overlay merges directories and is read-only.  So it only adds what the
// machine lacks, and the RDMA classes are bound over it.
void PlanClasses(const MachineFacts& machine, const ServedFacts& served,
                 MountPlan& plan) {
  plan.push_back({Kind::kOverlay,
                  absl::StrCat(Served("sys/class"), ":", InStage("class")),
                  kSysClass});
  BindClasses(served.classes, Served("sys/class"), plan);
  // A run with a network of its own has none of the machine's interfaces.
  if (Contains(served.classes, kNet)) {
    plan.push_back({Kind::kBind, Served("sys/class/net"),
                    absl::StrCat(kSysClass, "/", Absl(kNet))});
  }
  for (const DirectoryEntry& entry : machine.classes) {
    if (!entry.name.starts_with(kRdmaPrefix)) continue;
    if (Contains(served.classes, entry.name)) continue;
    plan.push_back({Kind::kBind, InStage("empty"),
                    absl::StrCat(kSysClass, "/", entry.name)});
  }
}

}  // namespace

MountPlan PlanStage(const MachineFacts& machine) {
  MountPlan plan;
  if (machine.nested) return plan;
  plan.push_back({Kind::kTmpfs, "", kStage});
  if (!machine.boot_id.empty()) {
    plan.push_back({Kind::kText, machine.boot_id + "\n", kMachineBootId});
  }
  for (const char* name :
       {"fuse", "new", "empty", "host", "resolver", "state"}) {
    plan.push_back({Kind::kDirectory, "", InStage(name)});
  }
  for (const char* name : {"class", "bus", "devices"}) {
    plan.push_back({Kind::kDirectory, "", InStage(name)});
    plan.push_back({Kind::kBind, absl::StrCat("/sys/", name), InStage(name)});
  }
  return plan;
}

MountPlan PlanView(const MachineFacts& machine, const ServedFacts& served) {
  MountPlan plan;
  if (!machine.has_dev_infiniband) PlanDev(machine, plan);
  plan.push_back({Kind::kBind, Served("dev"), "/dev/infiniband"});
  PlanClasses(machine, served, plan);
  plan.push_back({Kind::kOverlay,
                  absl::StrCat(Served("sys/bus"), ":", InStage("bus")),
                  "/sys/bus"});
  PlanDevices(machine, served, plan);
  return plan;
}

MountPlan PlanNoAdapter(bool has_dev_infiniband,
                        const std::vector<std::string>& classes) {
  MountPlan plan;
  if (has_dev_infiniband) plan.push_back({Kind::kTmpfs, "", "/dev/infiniband"});
  for (const std::string& name : classes) {
    if (!name.starts_with(kRdmaPrefix)) continue;
    plan.push_back({Kind::kTmpfs, "", absl::StrCat(kSysClass, "/", name)});
  }
  return plan;
}

std::string WorkDirectory(const std::string& source) {
  const size_t name = source.rfind('/') + 1;
  return absl::StrCat(source.substr(0, name), ".", source.substr(name));
}

MountPlan PlanState(const StateFacts& state,
                    const std::optional<std::string>& directory) {
  const auto is_wanted = [&directory](const StateDirectory& place) {
    return directory || !place.writable;
  };
  const std::string made = InStage("state");
  MountPlan wanted;
  bool missing = false;
  for (const StateDirectory& place : state.caches) {
    if (!is_wanted(place)) continue;
    wanted.push_back({Kind::kDirectory, "", made + "/cache/" + place.name});
    missing = missing || !place.exists;
  }
  if (!wanted.empty()) {
    wanted.insert(wanted.begin(), {Kind::kDirectory, "", made + "/cache"});
    if (missing) PlanCover(made + "/cache", "/var/cache", wanted);
  }
  for (const StateDirectory& place : state.caches) {
    if (!is_wanted(place) || !place.exists) continue;
    wanted.push_back({Kind::kBind, made + "/cache/" + place.name,
                      "/var/cache/" + place.name});
  }
  if (state.log.exists && is_wanted(state.log)) {
    const std::string log = made + "/log";
    wanted.push_back({Kind::kDirectory, "", log});
    for (const std::string& name : state.locked_logs) {
      wanted.push_back({Kind::kFile, "", absl::StrCat(log, "/", name)});
    }
    PlanCover(log, "/var/log", wanted);
  }
  if (wanted.empty()) return wanted;
  wanted.insert(wanted.begin(),
                directory ? MountStep{Kind::kBind, *directory, made}
                          : MountStep{Kind::kTmpfs, kStateSize, made});
  return wanted;
}

MountPlan PlanHost(const std::string& boot_id,
                   const std::optional<std::string>& hosts) {
  const std::string made = InStage("host");
  MountPlan plan;
  plan.push_back({Kind::kTmpfs, "", made});  // an outer run's stays what it is
  if (!boot_id.empty()) {
    plan.push_back({Kind::kText, boot_id + "\n", made + "/boot_id"});
    plan.push_back({Kind::kBind, made + "/boot_id", kBootId});
  }
  if (hosts) {
    plan.push_back({Kind::kText, *hosts, made + "/hosts"});
    plan.push_back({Kind::kBind, made + "/hosts", kHosts});
  }
  return plan;
}

MountPlan PlanResolver(const std::string& text) {
  const std::string made = InStage("resolver");
  return {{Kind::kTmpfs, "", made},  // an outer run's stays what it is
          {Kind::kText, text, made + "/resolv.conf"},
          {Kind::kBind, made + "/resolv.conf", kResolver}};
}

MountPlan PlanSystemView(const std::vector<std::string>& served_classes,
                         const std::vector<std::string>& machine_classes) {
  MountPlan plan;
  const std::string served = absl::StrCat(kSystemMount, kSysClass);
  const bool all_there = std::all_of(
      served_classes.begin(), served_classes.end(), [&](const auto& name) {
        return !name.starts_with(kRdmaPrefix) ||
               Contains(machine_classes, name);
      });
  // sysfs takes no new directory; an overlay supplies the places to bind to.
  if (!all_there) {
    plan.push_back(
        {Kind::kOverlay, absl::StrCat(served, ":", kSysClass), kSysClass});
  } else if (Contains(served_classes, kMisc)) {
    const std::string misc = absl::StrCat("/", Absl(kMisc));
    plan.push_back({Kind::kOverlay,
                    absl::StrCat(served, misc, ":", kSysClass, misc),
                    kSysClass + misc});
  }
  BindClasses(served_classes, served, plan);
  return plan;
}

std::string ToString(const MountStep& step) {
  switch (step.kind) {
    case Kind::kTmpfs:
      return absl::StrCat("tmpfs on ", step.target);
    case Kind::kDirectory:
      return absl::StrCat("mkdir ", step.target);
    case Kind::kFile:
      return absl::StrCat("create ", step.target);
    case Kind::kText:
      return absl::StrCat("write ", step.target);
    case Kind::kLink:
      return absl::StrCat("link ", step.target, " to ", step.source);
    case Kind::kBind:
      return absl::StrCat("bind ", step.source, " on ", step.target);
    case Kind::kMove:
      return absl::StrCat("move ", step.source, " to ", step.target);
    case Kind::kOverlay:
      return absl::StrCat("overlay ", step.source, " on ", step.target);
    case Kind::kCover:
      return absl::StrCat("cover ", step.target, " with ", step.source);
  }
  return "";
}

std::ostream& operator<<(std::ostream& out, const MountStep& step) {
  return out << ToString(step);
}

}  // namespace ibemu::launch
