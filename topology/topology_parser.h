// TopologyParser: the parser of the text format of ibnetdiscover and ibsim.
#ifndef IBEMU_TOPOLOGY_TOPOLOGY_PARSER_H_
#define IBEMU_TOPOLOGY_TOPOLOGY_PARSER_H_

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/fault_list.h"
#include "topology/line_cursor.h"
#include "topology/link_options.h"
#include "topology/topology_draft.h"

namespace ibemu::topology {

// The parser, which works line by line.
class TopologyParser {
 public:
  explicit TopologyParser(Progress progress) : progress_(progress) {}

  // Parses one file and those that it includes.
  void Parse(std::string text, std::string_view file);

  // Returns the topology, or InvalidArgument with every fault that was found.
  // To be called once.
  absl::StatusOr<Topology> Finish();

 private:
  // The kind of record whose port lines may follow.
  enum class Record {
    kNone,
    kOpen,
    kFaulty,  // its header is faulty: its ports are skipped
  };

  // The data of a node that stands in lines above its header.
  struct Identity {
    std::optional<uint64_t> vendor_id, device_id, system_image_guid;
    std::optional<uint64_t> port_guid;  // of port 0 of a switch
    std::optional<Place> guid_at;       // the line that set next_guid_
  };

  void ParseLine(std::string_view line);
  void ParseKeyword(LineCursor line);
  void ParseAssignment(std::string_view keyword, LineCursor line);
  void ParseGuid(mad::NodeType type, std::string_view keyword, LineCursor line);
  void ParseModule(LineCursor line);
  void ParseInclude(LineCursor line);
  void ParseHeader(mad::NodeType type, std::string_view keyword,
                   LineCursor line);
  void ParsePort(LineCursor line);
  bool ParsePeer(LineCursor& line, DraftEnd& end);
  std::string_view TakeAddresses(std::string_view options, int port);

  std::string_view Qualified(std::string_view name);
  std::string_view Keep(std::string text);
  void Fault(std::string what) { faults_.Add(at_, std::move(what)); }

  Progress progress_;
  FaultList faults_;
  Draft draft_;

  Place at_;
  std::vector<std::filesystem::path> open_files_;  // the including files first

  Record record_ = Record::kNone;
  std::string_view record_name_;  // of the open record
  NodeId record_node_{};
  int record_ports_ = 0;  // number of port lines so far

  Identity identity_;
  std::string_view module_;
  LinkOptions link_defaults_;
  LinkRateReader rates_;
  // By node type: the GUID for the next node that does not give its own, and
  // the base of "caguid+5".  The initial values are those of ibsim.
  std::array<uint64_t, 4> next_guid_{0, 0x100000, 0x200000, 0x300000};
  std::array<uint64_t, 4> guid_base_ = next_guid_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TOPOLOGY_PARSER_H_
