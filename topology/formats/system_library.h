// SystemLibrary: ibdm's definitions of systems (*.ibnl).  These are the switch
// boxes and adapters that .topo files name, down to their chips and the
// connections between them.
#ifndef IBEMU_TOPOLOGY_FORMATS_SYSTEM_LIBRARY_H_
#define IBEMU_TOPOLOGY_FORMATS_SYSTEM_LIBRARY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "topology/formats/text/ibdm_arrow.h"
#include "topology/topology.h"

namespace ibemu::topology {

struct SystemFile;

// A system in parts: its chips, its connections, and the chip ports behind its
// front panel.
struct ExpandedSystem {
  struct Chip {
    std::string path;  // "leaf1/U1"
    mad::NodeType type = mad::NodeType::kChannelAdapter;
    int port_count = 0;
    std::string device;  // "MT47396"
  };
  struct ChipPort {
    size_t chip = 0;  // index into chips
    int port = 0;
    ArrowRate rate;
  };
  struct Connection {
    ChipPort a, b;
    ArrowRate rate;
  };

  std::vector<Chip> chips;
  std::vector<Connection> connections;
  std::map<std::string, ChipPort, std::less<>> panel;
};

// Variants that replace boards: "leaf1" → "12x".  The variant "R" removes the
// board.
using Modifiers = std::map<std::string, std::string, std::less<>>;

// All known systems, by name.
class SystemLibrary {
 public:
  SystemLibrary();
  ~SystemLibrary();
  SystemLibrary(SystemLibrary&&) noexcept;

  // Add systems.  Of several with the same name, the first one added counts.
  // Faults of a file are reported when one of its systems is asked for.
  //
  // AddDirectories() reads *.ibnl in `directories`, and skips those that it
  // can't read.
  void AddDirectories(const std::vector<std::string>& directories);
  void AddText(std::string_view text, std::string_view file);
  // Adds the systems of one chip that the examples of ibutils use.
  void AddSmallSystems();

  // Returns the parts of a system.
  //
  // Errors:
  //   NotFound         no file defines `type`; the message names similar ones
  //   InvalidArgument  every fault of the file that does, one per line, or the
  //                    reason why the system cannot be put together
  absl::StatusOr<ExpandedSystem> Expand(std::string_view type,
                                        const Modifiers& modifiers);

  // Returns true if both are names of the same system.
  bool AreSame(std::string_view a, std::string_view b) const;

 private:
  // By name and alias.
  std::map<std::string, std::shared_ptr<SystemFile>, std::less<>> files_;
};

// Returns the directories that ibdm searches: `directory`, then IBDM_IBNL_PATH
// (names separated by colons, commas or blanks), then where ibutils is
// installed.
std::vector<std::string> SystemDirectories(const std::string& directory);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SYSTEM_LIBRARY_H_
