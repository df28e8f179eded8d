#include "sysfs/port_tree.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sysfs/cm_counters.h"
#include "sysfs/counters.h"
#include "sysfs/entries.h"
#include "sysfs/format.h"
#include "sysfs/live.h"
#include "sysfs/local_mad.h"
#include "verbs/hw_counters.h"

namespace ibemu::sysfs {
namespace {

using Text = absl::StatusOr<std::string>;

// Adds a file with a line that is made from PortInfo at each read.
void AddInfo(Entry& directory, std::string_view name, const ViewDevice& device,
             mad::Port& port, Text (*line)(const mad::PortInfo&)) {
  AddLive(directory, name, device, [&port, line] { return line(port.Info()); });
}

void AddPortInfo(Entry& directory, const ViewDevice& device, int number,
                 mad::Port& port) {
  using Info = const mad::PortInfo&;
  AddInfo(directory, "state", device, port, [](Info info) -> Text {
    return FormatState(static_cast<int>(info.port_state));
  });
  AddInfo(directory, "phys_state", device, port, [](Info info) -> Text {
    return FormatPhysicalState(static_cast<int>(info.port_physical_state));
  });
  AddInfo(directory, "lid", device, port, [](Info info) -> Text {
    return absl::StrFormat("0x%x", static_cast<int>(info.lid));
  });
  AddInfo(directory, "lid_mask_count", device, port,
          [](Info info) -> Text { return absl::StrCat(info.lmc); });
  AddInfo(directory, "sm_lid", device, port, [](Info info) -> Text {
    return absl::StrFormat("0x%x", static_cast<int>(info.master_sm_lid));
  });
  AddInfo(directory, "sm_sl", device, port,
          [](Info info) -> Text { return absl::StrCat(info.master_sm_sl); });
  AddInfo(directory, "cap_mask", device, port, [](Info info) -> Text {
    return absl::StrFormat("0x%08x", info.capability_mask);
  });
  AddLive(directory, "rate", device, [&port, number] {
    return FormatRate(port.Info(), IsFdr10(port, number));
  });
  AddLine(directory, "link_layer", "InfiniBand");
}

void AddTables(Entry& directory, const ViewDevice& device, mad::Port& port) {
  Entry& gids = Directory(directory, "gids");
  Entry& types = Directory(directory, "gid_attrs/types");
  Entry& ndevs = Directory(directory, "gid_attrs/ndevs");
  for (int i = 0; i < port.GidCount(); ++i) {
    const std::string name = absl::StrCat(i);
    AddLive(gids, name, device,
            [&port, i]() -> Text { return FormatGid(port.GidAt(i)); });
    AddLive(types, name, device, [&port, i]() -> Text {
      if (port.GidAt(i) == wire::Gid{}) {
        return absl::InvalidArgumentError(absl::StrCat("GID ", i, " is empty"));
      }
      return "IB/RoCE v1";
    });
    AddLive(ndevs, name, device, [i]() -> Text {
      return absl::InvalidArgumentError(
          absl::StrCat("GID ", i, " has no network device"));
    });
  }

  Entry& pkeys = Directory(directory, "pkeys");
  for (int i = 0; i < port.PKeyCount(); ++i) {
    AddLive(pkeys, absl::StrCat(i), device, [&port, i]() -> Text {
      return absl::StrFormat("0x%04x", port.PKeyAt(i));
    });
  }
}

// The counters of mlx5.  They count events of reliable queue pairs and are not
// touched by management datagrams.
void AddHardwareCounters(Entry& directory, const View& view,
                         const ViewDevice& device, int number) {
  constexpr int kDefaultLifespan = 10, kMaxLifespan = 10000;  // milliseconds
  for (const verbs::HwCounterName& one : verbs::kHwCounters) {
    AddLive(directory, one.name, device,
            [&host = *device.host, number, read = view.hw_counters,
             counter = one.counter]() -> Text {
              const verbs::HwCounters all =
                  read ? read(host, number) : verbs::HwCounters();
              return absl::StrCat(all.*counter);
            });
  }
  AddLine(directory, "rx_dct_connect", "0");  // there is no such transport

  auto milliseconds = std::make_shared<int>(kDefaultLifespan);
  Entry& lifespan = AddText(directory, "lifespan", [milliseconds] {
    return absl::StrCat(*milliseconds, "\n");
  });
  lifespan.mode = 0644;
  lifespan.write = [milliseconds](std::string_view text) -> absl::Status {
    int wanted = 0;
    if (!absl::SimpleAtoi(std::string(text), &wanted) || wanted < 0 ||
        wanted > kMaxLifespan) {
      return absl::InvalidArgumentError(absl::StrCat(
          "lifespan is a number of milliseconds up to ", kMaxLifespan));
    }
    *milliseconds = wanted;
    return absl::OkStatus();
  };
}

}  // namespace

void AddPort(Entry& directory, const View& view, const ViewDevice& device,
             int number) {
  mad::Port& port = device.host->device().port(number);
  AddPortInfo(directory, device, number, port);
  AddTables(directory, device, port);
  AddCounters(Directory(directory, "counters"), device, number);
  AddHardwareCounters(Directory(directory, "hw_counters"), view, device,
                      number);
  if (view.rdma_cm) AddCmCounters(directory, view, device, number);
}

}  // namespace ibemu::sysfs
