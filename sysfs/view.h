// The devices that one `ibemu run`, or the CUSE front end, shows.
#ifndef IBEMU_SYSFS_VIEW_H_
#define IBEMU_SYSFS_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cm/connection_manager.h"
#include "mad/host.h"
#include "verbs/hw_counters.h"

namespace ibemu::sysfs {

// The kind of adapter that devices appear to be, to programs that look at more
// than their ports.
enum class Profile {
  kQib,   // QLogic QLE7322 (1077:7322): ipathverbs drives it by write()
  kHfi1,  // Intel Omni-Path 100 (8086:24f0): hfi1verbs does the same
  kCx7,   // ConnectX-7 identity (15b3:1021), for tools that look at it
};

// The attributes of a network interface as they are now.
struct NetworkFacts {
  std::string address{}, broadcast{};  // hardware's: "80:00:00:48:fe:80:..."
  uint16_t pkey = 0;
  size_t mtu = 0;  // 0: not known yet
  bool carrier = false;
  bool connected = false;  // the mode of an interface of IPoIB
  uint64_t rx_packets = 0, rx_bytes = 0;
  uint64_t tx_packets = 0, tx_bytes = 0, tx_dropped = 0;
};

// A network interface of a port: a device of IPoIB or of Ethernet.
struct NetworkInterface {
  std::string name;      // "ib0", "ib0.8001", "blue"
  std::string parent{};  // of a further partition's: "ib0"; else empty
  int port = 0;
  bool is_ethernet = false;
  // Called at each read; nothing: it is gone.
  std::function<std::optional<NetworkFacts>()> facts;
};

// One device of a view, with its name and numbers there.
struct ViewDevice {
  std::string name;  // "ibemu0": at most 19 characters
  std::shared_ptr<mad::Host> host;
  int slot = 0;               // where it is plugged in: its PCI address
  std::vector<int> umads;     // of each port, the N of umadN and issmN
  std::optional<int> uverbs;  // the N of uverbsN; none: no verbs objects
  std::vector<NetworkInterface> networks{};  // that are in this view
};

// A DeviceNumber is the number of a character device, which sysfs shows in the
// file `dev` as "231:192".  0:0: the kernel chooses one.
struct DeviceNumber {
  int major_number = 0;
  int minor_number = 0;

  bool operator==(const DeviceNumber&) const = default;
};

// A View is a set of devices under one numbering, as one Linux machine has
// them.
struct View {
  Profile profile = Profile::kQib;
  std::string name_format = "ibemu%d";
  std::vector<ViewDevice> devices;  // by slot; a slot may be empty
  int cpu_count = 1;                // of the machine, for PCI's local_cpus
  bool verbs = false;               // adapters have a uverbs node
  bool rdma_cm = false;             // there is the node rdma_cm
  // Returns the counters of the communication manager of `host`, at each read;
  // empty: all are 0.
  std::function<cm::CmCounters(const mad::Host& host, int port)> cm_counters{};
  // The same of the transport of queue pairs.
  std::function<verbs::HwCounters(const mad::Host& host, int port)>
      hw_counters{};
  // The device numbers, by node, of nodes that do not have Linux's own.
  std::map<std::string, DeviceNumber> numbers{};
};

// Linux's device numbers: IB_UMAD_MAJOR and the first minors in user_mad.c and
// uverbs_main.c.
inline constexpr int kMajor = 231;
inline constexpr int kFirstUmad = 0;
inline constexpr int kFirstIssm = 64;
inline constexpr int kFirstUverbs = 192;

// The node of rdma_cm, one for all devices of a view; a miscellaneous device
// (MISC_MAJOR), whose minor Linux chooses when it loads rdma_ucm.
inline constexpr char kRdmaCmNode[] = "rdma_cm";
inline constexpr DeviceNumber kRdmaCm = {.major_number = 10,
                                         .minor_number = 122};

// A device node in /dev/infiniband for the management of a port: umadN or
// issmN.
struct MadNode {
  std::string name;  // "umad0"
  int port = 0;
  bool is_issm = false;
  int minor_number = 0;  // Linux's own
};

// Returns the nodes of all ports of `device`, the issm nodes first.
std::vector<MadNode> MadNodesOf(const ViewDevice& device);

// The limits of libibumad 44: UMAD_MAX_DEVICES, UMAD_MAX_PORTS, and room for
// names of 19 characters (UMAD_CA_NAME_LEN).
inline constexpr int kMaxViewDevices = 32;
inline constexpr int kMaxViewPorts = 64;
inline constexpr int kMaxDeviceName = 19;

// Returns a view with `hosts` in slots 0, 1, ... of a machine without other
// devices.  Names follow `name_format`; the %d may be missing if there is only
// one host.  With `verbs`, adapters that stock libibverbs can drive have a
// uverbs node.
//
// Errors: InvalidArgument if the format is not one or a name gets too long,
// ResourceExhausted past the limits above.
absl::StatusOr<View> MakeView(std::vector<std::shared_ptr<mad::Host>> hosts,
                              std::string_view name_format, Profile profile,
                              bool verbs = false);

// Checks that there is room in `view` for `more`, too.
//
// Errors: ResourceExhausted past the limits above.
absl::Status HasRoom(const View& view, const mad::Device& more);

// Adds a device in `slot`, which must be empty.  As in Linux (alloc_name() in
// drivers/infiniband/core/device.c, umad_ida in user_mad.c, uverbs_ida in
// uverbs_main.c), it gets the lowest free name, each of its ports the lowest
// free umad number, and the device the lowest free uverbs number.
void PlugIn(View& view, int slot, std::shared_ptr<mad::Host> host);

// Removes the device in `slot`, if there is one.  The others keep their names
// and numbers.
void PullOut(View& view, int slot);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_VIEW_H_
