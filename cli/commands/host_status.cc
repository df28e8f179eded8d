#include "cli/commands/host_status.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

const json& List(const json& object, const char* key) {
  static const json kNone = json::array();
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? kNone : *found;
}

// "198.18.0.1:7174", "[fd1b:e000:0:1::1]:7174".
std::string AddressText(const json& end) {
  const std::string address = Text(end, "address");
  const bool is_ipv4 = address.find(':') == address.npos;
  return absl::StrCat(is_ipv4 ? "" : "[", address,
                      is_ipv4 ? ":" : "]:", Text(end, "port"));
}

// The addresses of a port's interface, and whether they answer.
std::string InterfaceText(const json& port) {
  std::vector<std::string> addresses;
  for (const json& address : List(port, "addresses")) {
    if (address.is_string()) addresses.push_back(address);
  }
  if (addresses.empty()) return "no address";
  const std::string state = Text(port, "interface");
  return absl::StrCat(absl::StrJoin(addresses, ", "),
                      state == "up"     ? " (answers)"
                      : state == "down" ? " (does not answer yet)"
                                        : " (nobody has opened rdma_cm)");
}

std::string PortsText(const json& adapter) {
  std::string text;
  for (const json& port : List(adapter, "ports")) {
    absl::StrAppend(&text, "port ", Text(port, "port"), "    ",
                    InterfaceText(port), "\n");
    for (const json& further : List(port, "partitions")) {
      absl::StrAppend(&text, "  ", Text(further, "p_key"), "  ",
                      InterfaceText(further), "\n");
    }
  }
  return text;
}

// What an answer left out.
std::string More(const json& adapter, const char* count, const json& shown) {
  const auto found = adapter.find(count);
  if (found == adapter.end() || !found->is_number_unsigned()) return "";
  const uint64_t all = *found;
  if (all <= shown.size()) return "";
  return absl::StrCat("(and ", all - shown.size(), " more)\n");
}

std::string ListenersText(const json& adapter) {
  const json& listeners = List(adapter, "listeners");
  if (listeners.empty()) return "listeners none\n";
  Table table({"LISTENS AT", "SPACE", "SERVICE ID", "PROCESS"});
  for (const json& listener : listeners) {
    table.Add({AddressText(listener), Text(listener, "space"),
               Text(listener, "service_id"), Text(listener, "pid")});
  }
  return absl::StrCat("\n", table.Text(),
                      More(adapter, "listener_count", listeners));
}

std::string ConnectionsText(const json& adapter) {
  const json& connections = List(adapter, "connections");
  if (connections.empty()) return "";
  Table table(
      {"LOCAL", "QPN", "NODE", "REMOTE", "QPN", "SPACE", "STATE", "PROCESS"});
  for (const json& connection : connections) {
    const json local = connection.value("local", json::object());
    const json remote = connection.value("remote", json::object());
    table.Add({AddressText(local), Text(local, "qpn"), Text(remote, "node"),
               AddressText(remote), Text(remote, "qpn"),
               Text(connection, "space"), Text(connection, "state"),
               Text(connection, "pid")});
  }
  return absl::StrCat("\n", table.Text(),
                      More(adapter, "connection_count", connections));
}

// Returns the text for people of an answer.  A daemon of another version may
// tell less, or more.
std::string HostText(const json& status) {
  std::string text;
  for (const json& adapter : List(status, "adapters")) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "node      ",
                    Text(adapter, "node"), ", ", Text(adapter, "guid"), "\n",
                    PortsText(adapter), ListenersText(adapter),
                    ConnectionsText(adapter));
  }
  return text;
}

}  // namespace

absl::Status ShowHost(control::Client& client, const std::string& node,
                      bool as_json) {
  IBEMU_ASSIGN_OR_RETURN(const json status,
                         client.Call("node.status", {{"node", node}}));
  Print(as_json ? control::DumpForPeople(status) : HostText(status));
  return absl::OkStatus();
}

}  // namespace ibemu::cli
