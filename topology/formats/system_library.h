// ibdm's definitions of systems (*.ibnl): the switch boxes and adapters whose
// names a .topo file uses, down to their chips and the wires between them.
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

// A system taken apart: chips, wires, and where its front panel leads.
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
  struct Wire {
    ChipPort a, b;
    ArrowRate rate;
  };

  std::vector<Chip> chips;
  std::vector<Wire> wires;
  std::map<std::string, ChipPort, std::less<>> panel;
};

// What replaces a board: "leaf1" → "12x"; "R": it is not there.
using Modifiers = std::map<std::string, std::string, std::less<>>;

class SystemLibrary {
 public:
  SystemLibrary();
  ~SystemLibrary();
  SystemLibrary(SystemLibrary&&) noexcept;

  // Of systems with the same name the one that was added first counts.  What
  // is wrong with a file is told when one of its systems is asked for.
  //
  // *.ibnl of `directories`; one that cannot be read is passed over.
  void AddDirectories(const std::vector<std::string>& directories);
  void AddText(std::string_view text, std::string_view file);
  // Those of one chip that the examples of ibutils use.
  void AddSmallSystems();

  // Errors:
  //   NotFound         no file defines `type`; with what is alike
  //   InvalidArgument  every fault of the file that does, one a line, or why
  //                    the system cannot be put together
  absl::StatusOr<ExpandedSystem> Expand(std::string_view type,
                                        const Modifiers& modifiers);

  // True if the two are names of one system.
  bool AreSame(std::string_view a, std::string_view b) const;

 private:
  // By name and alias.
  std::map<std::string, std::shared_ptr<SystemFile>, std::less<>> files_;
};

// Where ibdm looks: `directory`, then IBDM_IBNL_PATH (names separated by
// colons, commas or blanks), then where ibutils is installed.
std::vector<std::string> SystemDirectories(const std::string& directory);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SYSTEM_LIBRARY_H_
