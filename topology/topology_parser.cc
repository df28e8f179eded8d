#include "topology/topology_parser.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/read_file.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

constexpr size_t kMaxIncludes = 9;  // as in ibsim

struct HeaderWord {
  std::string_view word;
  NodeType type;
};
constexpr HeaderWord kHeaders[] = {
    {"Switch", NodeType::kSwitch},      {"Ca", NodeType::kChannelAdapter},
    {"Hca", NodeType::kChannelAdapter}, {"Rt", NodeType::kRouter},
    {"Router", NodeType::kRouter},
};
constexpr HeaderWord kGuids[] = {
    {"switchguid", NodeType::kSwitch},
    {"caguid", NodeType::kChannelAdapter},
    {"hcaguid", NodeType::kChannelAdapter},
    {"hcaguids", NodeType::kChannelAdapter},
    {"rtguid", NodeType::kRouter},
};
struct Assignment {
  std::string_view word;
  uint64_t low, high;
};
constexpr Assignment kAssignments[] = {
    {"vendid", 0, 0xffffff}, {"devid", 0, 0xffff}, {"sysimgguid", 0, ~0ull},
    {"width", 1, 31},        {"speed", 1, 7},      {"extspeed", 0, 31},
};
// Keywords of `ibnetdiscover -g` that say nothing about nodes and cables.
constexpr std::string_view kPassedOver[] = {"Chassis", "Hostname",
                                            "Non-Chassis", "pdebug"};

template <typename Words>
auto FindWord(const Words& words, std::string_view word) {
  const auto* found = std::ranges::find(
      words, word, [](const auto& entry) { return entry.word; });
  return found == std::end(words) ? nullptr : found;
}

std::string Suggestion(std::string_view word) {
  DidYouMean words(word, {"module", "include"});
  for (const HeaderWord& header : kHeaders) words.Offer(header.word);
  for (const HeaderWord& guid : kGuids) words.Offer(guid.word);
  for (const Assignment& known : kAssignments) words.Offer(known.word);
  return words.Question();
}

std::string_view Trim(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kSpace) + 1 - begin);
}

// A number may be followed only by "(guid)" and a comment.
bool AtEndOfValue(LineCursor& line) { return line.AtEnd() || line.Eat('#'); }

// Returns the GUID in a name such as "S-0002c90000000001", which ibnetdiscover
// gives nodes; zero for other names.
uint64_t GuidInName(std::string_view name) {
  uint64_t guid = 0;
  if (name.size() != 18 || name[1] != '-' ||
      std::string_view("SHR").find(name[0]) == std::string_view::npos ||
      !absl::SimpleHexAtoi(Absl(name.substr(2)), &guid)) {
    return 0;
  }
  return guid;
}

// Takes the description off the front of the text behind a header's '#':
// `"leaf-1" base port 0 lid 4 lmc 0`.  Quotes within it are not escaped.
std::string_view TakeDescription(std::string_view& comment) {
  std::string_view description = Trim(comment);
  if (description.starts_with('"')) {
    description.remove_prefix(1);
    const size_t end = description.rfind('"');
    comment = end == description.npos ? "" : description.substr(end + 1);
    return description.substr(0, end);
  }
  size_t end = comment.size();
  for (std::string_view word :
       {" enhanced port ", " base port ", " lid ", " lmc "}) {
    end = std::min(end, comment.find(word));
  }
  description = Trim(comment.substr(0, end));
  comment.remove_prefix(end);
  return description;
}

}  // namespace

void TopologyParser::Parse(std::string text, std::string_view file) {
  const std::string_view all = Keep(std::move(text));
  const std::string phase = absl::StrFormat("reading %s", file);
  const Place back = std::exchange(at_, {faults_.AddFile(file), 0});
  open_files_.emplace_back(file);

  const size_t step = std::max<size_t>(1 << 16, all.size() / 256);
  size_t next_report = 0;
  for (size_t begin = 0; begin < all.size();) {
    if (begin >= next_report) {
      progress_(phase, begin, all.size());
      next_report = begin + step;
    }
    const size_t end = std::min(all.find('\n', begin), all.size());
    ++at_.line;
    ParseLine(Trim(all.substr(begin, end - begin)));
    begin = end + 1;
  }

  record_ = Record::kNone;
  open_files_.pop_back();
  at_ = back;
}

absl::StatusOr<Topology> TopologyParser::Finish() {
  if (draft_.nodes.empty() && faults_.empty()) {
    faults_.Add({0, 1},
                "there is no node in this file: a node begins with "
                "\"Switch\", \"Ca\" or \"Rt\"");
  }
  Topology topology = ResolveDraft(std::move(draft_), faults_, progress_);
  absl::Status status = faults_.ToStatus();
  if (!status.ok()) return status;
  return topology;
}

void TopologyParser::ParseLine(std::string_view line) {
  if (line.empty()) {
    record_ = Record::kNone;
    return;
  }
  switch (line.front()) {
    case '#':
      return;
    case '[':
    case '@':
      return ParsePort(LineCursor(line));
    default:
      return ParseKeyword(LineCursor(line));
  }
}

void TopologyParser::ParseKeyword(LineCursor line) {
  const std::string_view whole = line.rest();
  const std::string_view word = line.Word();
  if (record_ == Record::kOpen &&
      record_ports_ < draft_.nodes.back().spec.port_count) {
    Fault(
        absl::StrFormat("a blank line is missing above \"%s\": it ends the "
                        "ports of \"%s\"",
                        word.empty() ? whole : word, record_name_));
  }
  record_ = Record::kNone;

  if (const HeaderWord* header = FindWord(kHeaders, word)) {
    ParseHeader(header->type, word, line);
  } else if (const HeaderWord* guid = FindWord(kGuids, word)) {
    ParseGuid(guid->type, word, line);
  } else if (FindWord(kAssignments, word) != nullptr) {
    ParseAssignment(word, line);
  } else if (word == "module") {
    ParseModule(line);
  } else if (word == "include") {
    ParseInclude(line);
  } else if (word == "do") {
    Fault(
        "\"do\" runs a command of ibsim's console, which does not exist "
        "here: give it to \"ibemu console\" once the fabric runs");
  } else if (std::ranges::find(kPassedOver, word) == std::end(kPassedOver)) {
    Fault(absl::StrFormat("unknown keyword \"%s\"%s",
                          word.empty() ? whole : word, Suggestion(word)));
    // The line may have been meant as a node: its ports are skipped, and
    // references to it are not reported.
    record_ = Record::kFaulty;
    const bool has_ports = line.Number().has_value();
    const std::optional<std::string_view> name = line.Quoted();
    if (has_ports && name) draft_.faulty.insert(Absl(Qualified(*name)));
  }
}

void TopologyParser::ParseAssignment(std::string_view keyword,
                                     LineCursor line) {
  const Assignment& known = *FindWord(kAssignments, keyword);
  const bool has_sign = line.Eat('=');
  const std::string_view text = Trim(line.rest());
  const std::optional<uint64_t> value = line.Number();
  if (!has_sign || !value || !AtEndOfValue(line) || *value < known.low ||
      *value > known.high) {
    Fault(absl::StrFormat(
        "%s is followed by \"%s%s\": it takes \"=\" and a "
        "number from %d to 0x%x",
        keyword, has_sign ? "=" : "", text, known.low, known.high));
    return;
  }
  if (keyword == "vendid") identity_.vendor_id = value;
  if (keyword == "devid") identity_.device_id = value;
  if (keyword == "sysimgguid") identity_.system_image_guid = value;
  if (keyword == "width") link_defaults_.width = value;
  if (keyword == "speed") link_defaults_.speed = value;
  if (keyword == "extspeed") link_defaults_.speed_ext = value;
}

void TopologyParser::ParseGuid(NodeType type, std::string_view keyword,
                               LineCursor line) {
  const bool is_relative = line.Eat('+');
  const bool has_sign = is_relative || line.Eat('=');
  const std::string_view text = Trim(line.rest());
  const std::optional<uint64_t> value = line.Number();
  identity_.port_guid = line.GuidInParentheses();
  const auto index = static_cast<size_t>(type);
  const uint64_t guid =
      value.value_or(0) + (is_relative ? guid_base_[index] : 0);
  if (!has_sign || !value || guid == 0 || !AtEndOfValue(line)) {
    Fault(
        absl::StrFormat("%s is followed by \"%s\": it takes \"=\" and a "
                        "GUID other than 0",
                        keyword, text));
    return;
  }
  if (!is_relative) guid_base_[index] = guid;
  next_guid_[index] = guid;
  identity_.guid_at = at_;
}

void TopologyParser::ParseModule(LineCursor line) {
  const bool has_sign = line.Eat('=');
  const std::optional<std::string_view> name = line.Quoted();
  if (!has_sign || !name || name->find_first_of("#@") != name->npos) {
    Fault("module takes = and a name in quotes without # and @");
    return;
  }
  module_ = *name;
}

void TopologyParser::ParseInclude(LineCursor line) {
  const std::optional<std::string_view> name = line.Quoted();
  if (!name || name->empty()) {
    Fault("include takes a file name in quotes");
    return;
  }
  const auto path = (std::filesystem::path(open_files_.back()).parent_path() /
                     std::filesystem::path(*name))
                        .lexically_normal();
  if (std::ranges::find(open_files_, path) != open_files_.end()) {
    Fault(absl::StrFormat("include \"%s\" goes round in a circle", *name));
    return;
  }
  if (open_files_.size() > kMaxIncludes) {
    Fault(absl::StrFormat("include goes deeper than %d files", kMaxIncludes));
    return;
  }
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored)) {
    Fault(absl::StrFormat("\"%s\" is no regular file", path.string()));
    return;
  }
  absl::StatusOr<std::string> text = ReadFile(path.string());
  if (!text.ok()) {
    Fault(std::string(text.status().message()));
    return;
  }
  Parse(*std::move(text), path.string());
}

std::string_view TopologyParser::Keep(std::string text) {
  return draft_.texts.emplace_back(std::move(text));
}

std::string_view TopologyParser::Qualified(std::string_view name) {
  if (module_.empty() || name.find('#') != name.npos) return name;
  return Keep(absl::StrFormat("%s#%s", module_, name));
}

void TopologyParser::ParseHeader(NodeType type, std::string_view keyword,
                                 LineCursor line) {
  record_ = Record::kFaulty;
  const Identity identity = std::exchange(identity_, {});

  const std::optional<uint64_t> ports = line.Number();
  const std::optional<std::string_view> base = line.Quoted();
  if (!base || base->empty()) {
    Fault(
        absl::StrFormat("%s takes the number of its ports and a name, as in "
                        "%s 8 \"sw1\"",
                        keyword, keyword));
    return;
  }
  const std::string_view name = Qualified(*base);
  if (base->find_first_of("#@") != base->npos) {
    draft_.faulty.insert(Absl(name));
    Fault(
        absl::StrFormat("\"%s\" is no name: # and @ belong to modules and "
                        "aliases",
                        *base));
    return;
  }
  if (!ports || *ports < 1 || *ports > kMaxPorts) {
    draft_.faulty.insert(Absl(name));
    Fault(
        absl::StrFormat("\"%s\" has no proper number of ports: it is from 1 "
                        "to %d",
                        name, kMaxPorts));
    return;
  }
  std::string_view comment;
  if (line.Eat('#')) comment = line.rest();
  std::string_view description = TakeDescription(comment);
  if (description.empty()) description = name;
  if (description.size() > kMaxDescription) {
    draft_.faulty.insert(Absl(name));
    Fault(
        absl::StrFormat("the description of \"%s\" has %d bytes: at most %d "
                        "fit",
                        name, description.size(), kMaxDescription));
    return;
  }
  const NodeId id{static_cast<uint32_t>(draft_.nodes.size())};
  const auto [known, is_new] = draft_.names.try_emplace(Absl(name), id);
  if (!is_new) {
    draft_.faulty.insert(Absl(name));
    const Place first = draft_.nodes[static_cast<size_t>(known->second)].at;
    Fault(absl::StrFormat("\"%s\" is defined twice: first on %s", name,
                          faults_.Refer(at_, first)));
    return;
  }

  NodeSpec node;
  node.type = type;
  node.name = name;
  node.description = description;
  node.port_count = static_cast<int>(*ports);
  node.line = at_.line;
  node.enhanced_port_0 = type == NodeType::kSwitch &&
                         comment.find(" enhanced port 0") != comment.npos;
  node.vendor_id =
      static_cast<uint32_t>(identity.vendor_id.value_or(kGeneratedVendorId));
  node.device_id = static_cast<uint16_t>(identity.device_id.value_or(
      type == NodeType::kSwitch ? kGeneratedSwitchDeviceId
                                : kGeneratedHostDeviceId));
  node.system_image_guid = wire::Guid{identity.system_image_guid.value_or(0)};

  uint64_t& next = next_guid_[static_cast<size_t>(type)];
  const uint64_t in_name = identity.guid_at ? 0 : GuidInName(*base);
  node.node_guid = wire::Guid{in_name != 0 ? in_name : next};
  if (type == NodeType::kSwitch) {
    node.port_guids.push_back(wire::Guid{
        identity.port_guid.value_or(static_cast<uint64_t>(node.node_guid))});
  }
  if (in_name == 0) next += type == NodeType::kSwitch ? 1 : *ports + 1;

  draft_.nodes.push_back(
      {std::move(node), at_, identity.guid_at.value_or(at_)});
  record_ = Record::kOpen;
  record_name_ = name;
  record_node_ = id;
  record_ports_ = 0;
}

void TopologyParser::ParsePort(LineCursor line) {
  if (record_ == Record::kFaulty) return;
  if (record_ == Record::kNone) {
    Fault(
        "this port belongs to no node: no \"Switch\", \"Ca\" or \"Rt\" line "
        "stands right above");
    return;
  }
  ++record_ports_;
  DraftEnd end;
  end.node = record_node_;
  end.at = at_;
  end.is_alias = line.Eat('@');
  const std::optional<int> port = line.Bracketed();
  if (!port) {
    Fault("a port line begins with the port's number, as in [1] \"sw1\"[8]");
    return;
  }
  end.port = *port;
  line.SkipExternalPort();
  end.own_guid = wire::Guid{line.GuidInParentheses().value_or(0)};
  if (ParsePeer(line, end)) {
    const std::string_view rest = line.rest();
    const size_t comment = std::min(rest.find('#'), rest.size());
    const absl::StatusOr<LinkRate> rate = rates_.Read(
        TakeAddresses(rest.substr(0, comment), end.port),
        comment < rest.size() ? rest.substr(comment + 1) : "", link_defaults_);
    if (rate.ok()) {
      end.rate = *rate;
    } else {
      Fault(std::string(rate.status().message()));
      end.peer = {};
    }
  }
  draft_.ends.push_back(end);
}

// Takes the addresses of the port ("a=10.1.0.1/16,fd00::1/64"), which come
// last, from the options of its line; returns the others.
std::string_view TopologyParser::TakeAddresses(std::string_view options,
                                               int port) {
  constexpr std::string_view kSpace = " \t";
  size_t begin = options.find("a=");
  while (begin != 0 && begin != options.npos &&
         kSpace.find(options[begin - 1]) == kSpace.npos) {
    begin = options.find("a=", begin + 1);
  }
  if (begin == options.npos) return options;
  LineCursor line(options.substr(begin + 2));
  std::string_view list = line.Token();
  if (!line.AtEnd()) {
    Fault(absl::StrFormat("\"%s\" stands behind a=, which is the last option",
                          line.rest()));
  }
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    draft_.addresses.push_back(
        {at_, record_node_, port, list.substr(0, comma)});
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return options.substr(0, begin);
}

bool TopologyParser::ParsePeer(LineCursor& line, DraftEnd& end) {
  const std::optional<std::string_view> name = line.Quoted();
  if (!name || name->empty()) {
    Fault(
        absl::StrFormat("port %d of \"%s\" leads nowhere: a name in quotes "
                        "follows its number",
                        end.port, record_name_));
    return false;
  }
  if (end.is_alias) {
    if (name->find_first_of("#@") != name->npos) {
      Fault(absl::StrFormat("\"%s\" is no alias: # and @ belong to modules",
                            *name));
      return false;
    }
    const std::string_view alias =
        Keep(absl::StrFormat("%s@%s", module_, *name));
    if (!draft_.aliases.try_emplace(Absl(alias), DraftPort{end.node, end.port})
             .second) {
      Fault(absl::StrFormat("the alias \"%s\" is taken: another port has it",
                            *name));
    }
    return true;
  }
  if (name->find('@') != name->npos) {
    end.peer = name->front() == '@'
                   ? Keep(absl::StrFormat("%s%s", module_, *name))
                   : *name;
  } else {
    end.peer = Qualified(*name);
  }

  // As in ibsim, a link that does not name a port leads to port 1.
  end.peer_port = 1;
  if (line.IsNext('[')) {
    const std::optional<int> port = line.Bracketed();
    if (!port) {
      Fault(
          absl::StrFormat("port %d of \"%s\" leads to no proper port of "
                          "\"%s\": it is a number in brackets",
                          end.port, record_name_, *name));
      end.peer = {};
      return false;
    }
    end.peer_port = *port;
  }
  line.SkipExternalPort();
  end.peer_guid = wire::Guid{line.GuidInParentheses().value_or(0)};
  return true;
}

}  // namespace ibemu::topology
