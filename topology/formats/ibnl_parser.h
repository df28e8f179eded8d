// One .ibnl file: boards ("SYSTEM") and the box that they make ("TOPSYSTEM").
#ifndef IBEMU_TOPOLOGY_FORMATS_IBNL_PARSER_H_
#define IBEMU_TOPOLOGY_FORMATS_IBNL_PARSER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "mad/wire/node_info.h"
#include "topology/formats/system_library.h"
#include "topology/formats/text/ibdm_arrow.h"

namespace ibemu::topology {

// From a port of a chip or a board to that of another, or to the panel of the
// board that they are on.
struct IbnlWire {
  std::string port;
  ArrowRate rate;
  std::string part;  // empty: to the panel
  std::string part_port;
};

struct IbnlPart {
  bool is_chip = false;
  mad::NodeType type = mad::NodeType::kSwitch;  // of a chip
  int port_count = 0;                           // likewise
  std::string kind;  // of a chip: its device; else the name of a board
  std::string name;
  Modifiers modifiers;  // of boards on the board
  std::vector<IbnlWire> wires;
};

struct IbnlBoard {
  std::vector<IbnlPart> parts;
};

struct SystemFile {
  std::string name;
  std::vector<IbnlBoard> boards;
  std::map<std::string, size_t, std::less<>> board_names;
  std::vector<std::string> top_names;
  size_t top = 0;  // the board that is the box
  absl::Status status;
};

// Faults are kept in `status` of the result.
SystemFile ParseIbnl(std::string_view text, std::string_view file);

// "leaf1=12x,spine2=R"; blanks separate, too.  False: something has no sign.
bool ParseModifiers(std::string_view text, Modifiers& modifiers);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_IBNL_PARSER_H_
