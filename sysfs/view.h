// What one `ibemu run` (or the CUSE front end) shows: devices under one
// numbering.
#ifndef IBEMU_SYSFS_VIEW_H_
#define IBEMU_SYSFS_VIEW_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mad/host.h"

namespace ibemu::sysfs {

// What a device looks like to programs that look at more than its ports.
enum class Profile {
  kQib,  // QLogic QLE7322 (1077:7322): stock libibverbs drives it by write()
  kCx7,  // ConnectX-7 identity (15b3:1021), for tools that look at it
};

struct ViewDevice {
  std::string name;  // "ibemu0": at most 19 characters
  std::shared_ptr<mad::Host> host;
  int slot = 0;               // where it is plugged in: its PCI address
  std::vector<int> umads;     // of each port, the N of umadN and issmN
  std::optional<int> uverbs;  // the N of uverbsN; none: no verbs objects
};

struct DeviceNumber {
  int major_number = 0;
  int minor_number = 0;
};

struct View {
  Profile profile = Profile::kQib;
  std::string name_format = "ibemu%d";
  std::vector<ViewDevice> devices;  // by slot; a slot may be empty
  int cpu_count = 1;                // the machine's, for PCI's local_cpus
  bool verbs = false;               // adapters have a uverbs node
  // By node, where they are not Linux's own.
  std::map<std::string, DeviceNumber> numbers{};
};

// Linux's device numbers: IB_UMAD_MAJOR and the first minors in user_mad.c and
// uverbs_main.c.
inline constexpr int kMajor = 231;
inline constexpr int kFirstUmad = 0;
inline constexpr int kFirstIssm = 64;
inline constexpr int kFirstUverbs = 192;

// A node in /dev/infiniband that a port has for its management.
struct MadNode {
  std::string name;  // "umad0"
  int port = 0;
  bool is_issm = false;
  int minor_number = 0;  // Linux's own
};

std::vector<MadNode> MadNodesOf(const ViewDevice& device);

// libibumad 44 knows no more (UMAD_MAX_DEVICES, UMAD_MAX_PORTS) and has room
// for names of 19 characters (UMAD_CA_NAME_LEN).
inline constexpr int kMaxViewDevices = 32;
inline constexpr int kMaxViewPorts = 64;
inline constexpr int kMaxDeviceName = 19;

// Plugs `hosts` into slots 0, 1, ... of a machine without devices.  Names go
// after `name_format`; a single host may do without %d.  With `verbs`, those
// adapters have a uverbs node that stock libibverbs can drive.
//
// Errors: InvalidArgument when the format is not one or a name gets too long,
// ResourceExhausted past the limits above.
absl::StatusOr<View> MakeView(std::vector<std::shared_ptr<mad::Host>> hosts,
                              std::string_view name_format, Profile profile,
                              bool verbs = false);

// Whether `view` may have `more`, too.
//
// Errors: ResourceExhausted past the limits above.
absl::Status HasRoom(const View& view, const mad::Device& more);

// Adds a device, in a slot that must be empty.  As in Linux (alloc_name() in
// drivers/infiniband/core/device.c, umad_ida in user_mad.c, uverbs_ida in
// uverbs_main.c) it gets the lowest name that is free, each of its ports the
// lowest umad number, and the device the lowest uverbs number.
void PlugIn(View& view, int slot, std::shared_ptr<mad::Host> host);

// Takes the device in `slot` away, if there is one; the others keep their names
// and numbers.
void PullOut(View& view, int slot);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_VIEW_H_
