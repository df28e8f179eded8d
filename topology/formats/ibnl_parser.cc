#include "topology/formats/ibnl_parser.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "topology/fault_list.h"
#include "topology/formats/text/lines.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

class IbnlParser {
 public:
  SystemFile Parse(std::string_view text, std::string_view file) {
    file_.name = file;
    ForEachLine(text, faults_.AddFile(file), file, NoProgress,
                [this](Place at, std::string_view line) {
                  at_ = at;
                  line = TrimSpace(line);
                  if (!line.empty() && !line.starts_with('#')) ReadLine(line);
                });
    if (file_.top_names.empty() && faults_.empty()) {
      faults_.Add({0, 1}, "there is no TOPSYSTEM in this file");
    }
    file_.status = faults_.ToStatus();
    return std::move(file_);
  }

 private:
  void ReadLine(std::string_view line) {
    if (HasArrow(line)) return ReadConnection(line);
    const std::vector<std::string_view> words = SplitWords(line, ",");
    if (words.empty()) return Fault("this line has no words");
    if (words[0] == "TOPSYSTEM" || words[0] == "SYSTEM") {
      ReadBoard(words);
    } else if (words[0] == "NODE") {
      ReadChip(words);
    } else if (words[0] == "SUBSYSTEM") {
      ReadSubsystem(line);
    } else if (words[0].starts_with("CFG:")) {
      ReadModifiers(line);
    } else if (line.find('=') == line.npos) {  // attributes are for ibdiagnet
      Fault(
          absl::StrFormat("\"%s\" begins nothing: SYSTEM, TOPSYSTEM, NODE "
                          "and SUBSYSTEM do",
                          words[0]));
    }
  }

  void ReadBoard(const std::vector<std::string_view>& words) {
    const bool is_top = words[0] == "TOPSYSTEM";
    part_ = nullptr;
    board_ = nullptr;
    if (words.size() < 2) {
      return Fault(absl::StrFormat("%s has no name", words[0]));
    }
    if (is_top && !file_.top_names.empty()) {
      return Fault("a file has one TOPSYSTEM");
    }
    const size_t index = file_.boards.size();
    file_.boards.emplace_back();
    board_ = &file_.boards.back();
    if (is_top) file_.top = index;
    for (size_t i = 1; i < words.size(); ++i) {
      if (is_top) {
        file_.top_names.emplace_back(words[i]);
      } else {
        file_.board_names.try_emplace(std::string(words[i]), index);
      }
    }
  }

  IbnlPart* AddPart(std::string_view name) {
    part_ = nullptr;
    if (board_ == nullptr) {
      Fault("no SYSTEM or TOPSYSTEM stands above this");
      return nullptr;
    }
    for (const IbnlPart& part : board_->parts) {
      if (part.name != name) continue;
      Fault(absl::StrFormat("this board has a \"%s\" already", name));
      return nullptr;
    }
    part_ = &board_->parts.emplace_back();
    part_->name = name;
    return part_;
  }

  void ReadChip(const std::vector<std::string_view>& words) {
    part_ = nullptr;
    int ports = 0;
    const bool is_switch = words.size() == 5 && words[1] == "SW";
    if (words.size() != 5 ||
        (!is_switch && words[1] != "CA" && words[1] != "HCA") ||
        !absl::SimpleAtoi(Absl(words[2]), &ports) || ports < 1 ||
        ports > kMaxPorts) {
      return Fault(absl::StrFormat(
          "NODE takes SW or CA, 1 to %d ports, a device and a name, as in "
          "NODE SW 24 MT47396 U1",
          kMaxPorts));
    }
    if (IbnlPart* part = AddPart(words[4])) {
      part->is_chip = true;
      part->type = is_switch ? NodeType::kSwitch : NodeType::kChannelAdapter;
      part->port_count = ports;
      part->kind = words[3];
    }
  }

  void ReadSubsystem(std::string_view line) {
    part_ = nullptr;
    std::string_view modifiers = line;
    const std::vector<std::string_view> words =
        SplitWords(CutBefore("CFG:", modifiers));
    if (words.size() != 3) {
      return Fault("SUBSYSTEM takes the name of a SYSTEM and one of its own");
    }
    if (IbnlPart* part = AddPart(words[2])) {
      part->kind = words[1];
      if (!ParseModifiers(modifiers, part->modifiers)) FaultyModifiers();
    }
  }

  void ReadModifiers(std::string_view line) {
    CutBefore("CFG:", line);
    if (part_ == nullptr || part_->is_chip) {
      return Fault("CFG: belongs to a SUBSYSTEM above it");
    }
    if (!ParseModifiers(line, part_->modifiers)) FaultyModifiers();
  }

  void FaultyModifiers() { Fault("CFG: takes BOARD=VARIANT, as in leaf1=12x"); }

  void ReadConnection(std::string_view line) {
    if (part_ == nullptr) {
      // The part may be missing because of a fault of its own.
      if (faults_.empty()) Fault("no NODE or SUBSYSTEM stands above this");
      return;
    }
    const absl::StatusOr<Arrow> arrow = ParseArrow(line);
    if (!arrow.ok()) return Fault(std::string(arrow.status().message()));
    const auto& words = arrow->words;
    int port = 0;
    if (part_->is_chip && (!absl::SimpleAtoi(Absl(arrow->port), &port) ||
                           port < 1 || port > part_->port_count)) {
      return Fault(absl::StrFormat("\"%s\" is no port of %s: it has %d",
                                   arrow->port, part_->name,
                                   part_->port_count));
    }
    if (words.size() > 2) {
      return Fault("an arrow leads to a part and its port, or to the panel");
    }
    IbnlConnection connection;
    connection.port = arrow->port;
    connection.rate = arrow->rate;
    if (words.size() == 2) connection.part = words[0];
    connection.part_port = words.back();
    part_->connections.push_back(std::move(connection));
  }

  void Fault(std::string what) { faults_.Add(at_, std::move(what)); }

  FaultList faults_;
  SystemFile file_;
  Place at_;
  IbnlBoard* board_ = nullptr;  // the current one
  IbnlPart* part_ = nullptr;    // the current one of that board
};

}  // namespace

SystemFile ParseIbnl(std::string_view text, std::string_view file) {
  return IbnlParser().Parse(text, file);
}

bool ParseModifiers(std::string_view text, Modifiers& modifiers) {
  for (std::string_view value : SplitWords(text, ",")) {
    if (value.find('=') == value.npos) return false;
    const std::string_view board = CutBefore("=", value);
    modifiers.insert_or_assign(std::string(board), std::string(value));
  }
  return true;
}

}  // namespace ibemu::topology
