// What a journal says of a subnet, whatever it is: either it is refused, and
// the fabric is as it was, or the fabric is what it says.  A file that begins
// as a database is opened as one, too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/journal/journal_file.h"
#include "daemon/journal/restore_subnet.h"
#include "daemon/subnet/fault_methods.h"
#include "fabric/fabric.h"
#include "fabric/subnet/subnet.h"
#include "testing/fuzz_input.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"

namespace ibemu::daemon {
namespace {

using Input = testing::FuzzInput;
using fabric::NodePort, fabric::PortId, fabric::Subnet;

// A directory for the file, as long as the fuzzer runs.
class Scratch {
 public:
  Scratch() {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Scratch() { std::filesystem::remove_all(path_); }

  std::string Put(std::string_view bytes) const {
    const std::string file = path_ + "/journal";
    std::error_code error;
    for (const char* end : {"", "-wal", "-journal"}) {
      std::filesystem::remove(file + end, error);
    }
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::string path_ = "/tmp/ibemu-fuzz-XXXXXX";
};

// Few nodes and ports, most of which are there: host-1 - sw1 - host-2.
JournalPlace PlaceFrom(Input& input) {
  const uint8_t byte = input.Byte();
  return {.node = topology::NodeId{byte % 4u}, .port = byte / 4 % 10};
}

JournalContent ContentFrom(Input& input) {
  JournalContent content;
  while (!input.empty()) {
    const uint8_t kind = input.Byte();
    if (kind % 4 == 0) {
      content.nodes.push_back({.node = topology::NodeId{input.Byte() % 4u},
                               .guid = wire::Guid{input.Short()},
                               .on = (kind & 4) != 0,
                               .plugged = (kind & 8) != 0,
                               .joined = (kind & 16) != 0});
    } else if (kind % 4 == 1) {
      content.reverts.push_back({.place = PlaceFrom(input),
                                 .up = (kind & 4) != 0,
                                 .at_unix = input.Short()});
    } else if (kind % 4 == 2) {
      const size_t size = input.Byte();
      const mad::Bytes bytes = input.Take(size);
      const std::string text(reinterpret_cast<const char*>(bytes.data()),
                             bytes.size());
      content.faults.push_back({.name = "fault",
                                .words = absl::StrSplit(text, ' '),
                                .seed = std::nullopt,
                                .node = topology::NodeId{kind / 4u % 4u}});
    } else {
      JournalPort port{.place = PlaceFrom(input),
                       .peer = std::nullopt,
                       .cut = (kind & 4) != 0,
                       .guid = wire::Guid{input.Short()},
                       .lid = input.Short() % 0xc000,
                       .lmc = kind / 32,
                       .disabled = false};
      port.disabled = (static_cast<uint64_t>(port.guid) & 0x8000) != 0;
      if ((kind & 8) != 0) port.peer = PlaceFrom(input);
      // Most cables have two ends.
      if ((kind & 16) != 0 && port.peer) {
        JournalPort other = port;
        std::swap(other.place, *other.peer);
        content.ports.push_back(other);
      }
      content.ports.push_back(port);
    }
  }
  return content;
}

std::vector<PortId> PeersIn(const Subnet& subnet) {
  std::vector<PortId> peers;
  for (const NodePort& port : subnet.ports()) peers.push_back(port.peer);
  return peers;
}

// Cables have two ends, which are where the journal has them.
void CheckCables(const JournalContent& content, const Subnet& subnet) {
  for (const NodePort& port : subnet.ports()) {
    if (port.peer == fabric::kNoPort) continue;
    const NodePort& peer = subnet.port(port.peer);
    if (peer.peer != subnet.id_of(port) || peer.cable_up != port.cable_up) {
      std::abort();
    }
  }
  for (const JournalPort& row : content.ports) {
    const NodePort& port =
        subnet.port(subnet.port_id(row.place.node, row.place.port));
    if (row.peer.has_value() != (port.peer != fabric::kNoPort)) std::abort();
    if (row.peer && port.cable_up == row.cut) std::abort();
    if (row.disabled && subnet.NodeOf(subnet.id_of(port)).up &&
        port.info.port_physical_state != mad::PortPhysicalState::kDisabled) {
      std::abort();
    }
  }
}

void Restore(const JournalContent& content) {
  testing::VirtualTimers timers;
  fabric::Fabric fabric(testing::Chain(1), timers, {.seed = 1});
  const std::vector<PortId> before = PeersIn(fabric.subnet());
  if (!RestoreSubnet(content, fabric).ok()) {
    if (PeersIn(fabric.subnet()) != before) std::abort();
    return;
  }
  CheckCables(content, fabric.subnet());
  FabricEventLog events(timers, fabric, absl::ZeroDuration());
  FaultMethods faults(timers, fabric, events);
  for (const StoredFault& fault : content.faults) {
    // All have one name, so one of them stays.
    if (!faults.Restore(fault).ok()) continue;
    if (faults.Stored() != std::vector<StoredFault>{fault}) std::abort();
  }
  timers.RunFor(absl::Seconds(1));
}

void OpenImage(std::string_view bytes) {
  static const Scratch scratch;
  const auto file = JournalFile::Open(scratch.Put(bytes));
  if (!file.ok()) return;
  const auto content = (*file)->Read();
  if (!content.ok()) return;
  Restore(*content);
  // Whatever its version was, it says the same in this one.
  const JournalSubnet subnet =
      content->subnet.value_or(JournalSubnet{.topology = "chain"});
  if (!(*file)->Accept(subnet).ok()) return;
  const auto again = (*file)->Read();
  if (!again.ok() || again->ports != content->ports) std::abort();
}

}  // namespace
}  // namespace ibemu::daemon

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("SQLite format 3")) {
    daemon::OpenImage(bytes);
    return 0;
  }
  testing::FuzzInput input(data, size);
  daemon::Restore(daemon::ContentFrom(input));
  return 0;
}
