// The content of a journal's file: what it says of a subnet.
#ifndef IBEMU_DAEMON_JOURNAL_JOURNAL_CONTENT_H_
#define IBEMU_DAEMON_JOURNAL_JOURNAL_CONTENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/subnet/fault_methods.h"
#include "topology/topology.h"
#include "wire/types.h"

namespace ibemu::daemon {

// The names of a subnet, by which its journal knows it again.
struct JournalSubnet {
  std::string topology;  // as the command line has it, for people
  uint64_t digest = 0;   // of the topology: DigestOf()
  uint64_t seed = 0;     // of the fabric

  bool operator==(const JournalSubnet&) const = default;
};

// A node as it is, whatever the topology says.
struct JournalNode {
  topology::NodeId node{};
  wire::Guid guid{};
  bool on = true;
  bool plugged = true;
  bool joined = false;  // its adapter is elsewhere

  bool operator==(const JournalNode&) const = default;
};

// The place of a port.
struct JournalPlace {
  topology::NodeId node{};
  int port = 0;

  bool operator==(const JournalPlace&) const = default;
};

// A port as it is.
struct JournalPort {
  JournalPlace place;
  std::optional<JournalPlace> peer;  // the other end of its cable
  bool cut = false;
  wire::Guid guid{};
  int lid = 0;
  int lmc = 0;
  bool disabled = false;  // by a Set(PortInfo), as ibportstate's

  bool operator==(const JournalPort&) const = default;
};

// A link that will be cut or restored.
struct JournalRevert {
  JournalPlace place;
  bool up = false;      // then
  int64_t at_unix = 0;  // milliseconds since 1970

  bool operator==(const JournalRevert&) const = default;
};

// A JournalContent is all that is in a file.  Nodes and ports that are not
// there are as the topology says.
struct JournalContent {
  std::optional<JournalSubnet> subnet;  // none: the file is new
  std::vector<JournalNode> nodes;
  std::vector<JournalPort> ports;
  std::vector<StoredFault> faults;  // in the order in which they were added
  std::vector<JournalRevert> reverts;
};

// A JournalChange is what one transaction writes: the nodes and ports that have
// changed, and all faults and reverts if any of them have.
struct JournalChange {
  std::vector<JournalNode> nodes;
  std::vector<JournalPort> ports;
  std::optional<std::vector<StoredFault>> faults;
  std::optional<std::vector<JournalRevert>> reverts;

  bool empty() const {
    return nodes.empty() && ports.empty() && !faults && !reverts;
  }
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_JOURNAL_CONTENT_H_
