#include "cli/commands/network_status.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/command_line/table.h"

namespace ibemu::cli {
namespace {

using nlohmann::json;

// "node-1/1"
std::string PortOf(const json& network) {
  return absl::StrCat(network.value("node", "-"), "/",
                      network.value("port", 0));
}

std::string Count(const json& network, const char* key) {
  return absl::StrCat(network.value(key, uint64_t{0}));
}

std::string InterfacesText(const json& networks) {
  Table table({"PROCESS", "NETWORK", "NODE", "STATE", "ADDRESSES"});
  for (const json& network : networks) {
    const std::vector<std::string> addresses =
        network.value("addresses", std::vector<std::string>());
    table.Add({absl::StrCat(network.value("pid", 0)),
               network.value("name", "-"), PortOf(network),
               network.value("up", false) ? "up" : "down",
               absl::StrJoin(addresses, ", ")});
  }
  return "\n" + table.Text();
}

// What the ports on virtual switches count.
std::string SwitchPortsText(const std::vector<json>& ports) {
  if (ports.empty()) return "";
  Table table(
      {"SWITCH", "NODE", "MAC", "SENT", "FLOODED", "RECEIVED", "DROPPED"});
  for (const json& port : ports) {
    table.Add({port.value("ethernet", ""), PortOf(port), port.value("mac", "-"),
               Count(port, "sent"), Count(port, "flooded"),
               Count(port, "received"), Count(port, "dropped")});
  }
  return "\n" + table.Text();
}

// What they have learnt.
std::string StationsText(const std::vector<json>& ports) {
  Table table({"SWITCH", "NODE", "STATION", "LID", "QPN", "HEARD"});
  bool any = false;
  for (const json& port : ports) {
    for (const json& station : port.value("stations", json::array())) {
      any = true;
      table.Add({port.value("ethernet", ""), PortOf(port),
                 station.value("mac", "-"), Count(station, "lid"),
                 station.value("qpn", "-"),
                 absl::StrFormat("%.1f s ago", station.value("seconds", 0.0))});
    }
  }
  return any ? "\n" + table.Text() : "";
}

}  // namespace

std::string NetworksText(const json& status) {
  const json networks = status.value("networks", json::array());
  if (networks.empty()) return "";
  std::vector<json> switch_ports;
  for (const json& network : networks) {
    if (network.contains("ethernet")) switch_ports.push_back(network);
  }
  return absl::StrCat(InterfacesText(networks), SwitchPortsText(switch_ports),
                      StationsText(switch_ports));
}

}  // namespace ibemu::cli
