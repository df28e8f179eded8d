#include "cli/console/node_dump.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr size_t kEntriesInLine = 16;

std::string Text(const json& value) { return value.get<std::string>(); }

// "0x0002c90300000001" -> "2c90300000001"
std::string ShortGuid(const json& guid) {
  const std::string text = Text(guid);
  return text.substr(std::min(text.find_first_not_of("0x"), text.size() - 1));
}

// "active" -> "Active"
std::string Capital(const json& value) {
  std::string text = Text(value);
  text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

std::string DumpTable(const json& tables) {
  std::string text =
      absl::StrFormat("#\tlinearcap %d FDBtop %d portchange %d\n",
                      tables["capacity"].get<int>(), tables["top"].get<int>(),
                      tables["port_change"].get<bool>() ? 1 : 0);
  const json& entries = tables["forwarding"];
  for (size_t first = 0; first < entries.size(); first += kEntriesInLine) {
    const size_t end = std::min(first + kEntriesInLine, entries.size());
    absl::StrAppendFormat(&text, "#\tForwarding table %d-%d:", first, end - 1);
    for (size_t lid = first; lid < end; ++lid) {
      absl::StrAppendFormat(&text, " [%d]%X", lid, entries[lid].get<int>());
    }
    text += '\n';
  }
  return text;
}

std::string DumpPort(const json& port, bool is_switch) {
  const bool down = Text(port["state"]) == "down";
  std::string text =
      absl::StrCat(ShortGuid(port["guid"]), "\t[", port["port"].dump(), "]\t");
  if (down) {
    text += '\t';
  } else if (port["peer"].is_null()) {
    text += "\"Sma Port\"[0]";
  } else {
    absl::StrAppend(&text, "\"", Text(port["peer"]["node"]), "\"[",
                    port["peer"]["port"].dump(), "]");
  }
  text += '\t';
  if (!is_switch || port["port"] == 0) {
    absl::StrAppend(&text, " lid ", port["lid"].dump(), " lmc ",
                    port["lmc"].dump(), " smlid ", port["sm_lid"].dump());
  }
  absl::StrAppend(&text, " ", port["rate"].is_null() ? "-" : Text(port["rate"]),
                  " ", Capital(port["state"]), "/",
                  port["physical_state"] == "linkup"
                      ? "LinkUp"
                      : Capital(port["physical_state"]),
                  "\n");
  return text;
}

// Returns the line "From" or "To" (`which`), with the port that packets enter
// through, or, where they start, leave through.
std::string DumpEnd(const char* which, const json& hop, int lid) {
  const json& port = hop[hop["entry"].is_null() ? "exit" : "entry"];
  return absl::StrFormat("%s node \"%s\" port %d lid %d\n", which,
                         Text(hop["name"]), port.get<int>(), lid);
}

}  // namespace

std::string DumpNode(const json& node) {
  const bool is_switch = node["type"] == "switch";
  std::string text =
      absl::StrFormat("\n%s %d \"%s\"\tnodeguid %s\tsysimgguid %s\n",
                      node["type"] == "ca" ? "Ca" : Capital(node["type"]),
                      node["port_count"].get<int>(), Text(node["name"]),
                      ShortGuid(node["guid"]), ShortGuid(node["system_guid"]));
  if (is_switch) text += DumpTable(node["switch"]);
  for (const json& port : node["ports"]) text += DumpPort(port, is_switch);
  return text;
}

std::string DumpPath(const json& path, int from_lid) {
  const json& hops = path["hops"];
  std::string text = DumpEnd("From", hops.front(), from_lid);
  for (size_t i = 1; i < hops.size(); ++i) {
    absl::StrAppendFormat(&text, "[%d] -> \"%s\"[%d]\n",
                          hops[i - 1]["exit"].get<int>(), Text(hops[i]["name"]),
                          hops[i]["entry"].get<int>());
  }
  if (path["end"].is_null()) {
    text += DumpEnd("To", hops.back(), path["lid"].get<int>());
  }
  return text;
}

}  // namespace ibemu::cli
