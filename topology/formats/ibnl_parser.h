// SystemFile: one .ibnl file, with boards ("SYSTEM") and the box that they form
// ("TOPSYSTEM").
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

// A connection from a port of a chip or a board to a port of another, or to the
// panel of the board that they are on.
struct IbnlConnection {
  std::string port;
  ArrowRate rate;
  std::string part;  // empty: to the panel
  std::string part_port;
};

// A chip on a board, or a board on another.
struct IbnlPart {
  bool is_chip = false;
  mad::NodeType type = mad::NodeType::kSwitch;  // of a chip
  int port_count = 0;                           // likewise
  std::string kind;  // a chip's device, or the name of a board
  std::string name;
  Modifiers modifiers;  // for the boards on this board
  std::vector<IbnlConnection> connections;
};

// A board, or the box: the parts on it, with their connections.
struct IbnlBoard {
  std::vector<IbnlPart> parts;
};

// The contents of a file.
struct SystemFile {
  std::string name;
  std::vector<IbnlBoard> boards;
  std::map<std::string, size_t, std::less<>> board_names;
  std::vector<std::string> top_names;
  size_t top = 0;  // the index of the box in `boards`
  absl::Status status;
};

// Parses a file.  Faults are returned in `status` of the result.
SystemFile ParseIbnl(std::string_view text, std::string_view file);

// Parses "leaf1=12x,spine2=R"; blanks separate as well.  Returns false if an
// item has no equals sign.
bool ParseModifiers(std::string_view text, Modifiers& modifiers);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_IBNL_PARSER_H_
