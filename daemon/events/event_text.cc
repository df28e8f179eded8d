#include "daemon/events/event_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/one_line.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Returns a field of an event as text.  A daemon of another version may send
// other fields, or other types of them.
std::string Text(const json& event, const char* name) {
  const auto found = event.find(name);
  if (found == event.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : control::Dump(*found);
}

bool Flag(const json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_boolean() && found->get<bool>();
}

std::string EndText(const json& end) {
  return absl::StrCat(Text(end, "node"), "/", Text(end, "port"));
}

std::string EndText(const json& event, const char* end) {
  const auto found = event.find(end);
  return found != event.end() && found->is_object() ? EndText(*found) : "?";
}

std::string Drop(const json& event) {
  std::string text =
      absl::StrCat(EndText(event), " ", Text(event, "cause"), ", ");
  const std::string fault = Text(event, "fault");
  if (!fault.empty()) absl::StrAppend(&text, fault, ", ");
  const std::string attribute = Text(event, "attribute");
  absl::StrAppend(&text, Text(event, "class"), attribute.empty() ? "" : " ",
                  attribute, ", LID ", Text(event, "slid"), " to ",
                  Text(event, "dlid"));
  const std::string packets = Text(event, "packets");
  if (packets != "1") absl::StrAppend(&text, ", ", packets, " packets");
  return text;
}

// "198.18.0.1:7174", "[fd1b:e000:0:1::1]:7174".
std::string AddressText(const json& end) {
  const std::string address = Text(end, "address");
  const bool is_ipv4 = address.find(':') == address.npos;
  return absl::StrCat(is_ipv4 ? "" : "[", address,
                      is_ipv4 ? ":" : "]:", Text(end, "port"));
}

// "node-1 198.18.0.1:7174".
std::string PeerText(const json& event, const char* end) {
  const auto found = event.find(end);
  if (found == event.end() || !found->is_object()) return "?";
  const std::string node = Text(*found, "node");
  return absl::StrCat(node, node.empty() ? "" : " ", AddressText(*found));
}

// Who did it, which `event` has as the end of the connection.
std::string ActorText(const json& event) {
  const std::string by = Text(event, "by");
  const auto found = event.find(by);
  if (by.empty() || found == event.end() || !found->is_object()) return "";
  const std::string node = Text(*found, "node");
  return " by " + (node.empty() ? AddressText(*found) : node);
}

std::string Connection(const json& event) {
  std::string text = absl::StrCat(
      PeerText(event, "from"), " -> ", PeerText(event, "to"), " ",
      Text(event, "space"), " ", Text(event, "state"), ActorText(event));
  const std::string why = Text(event, "why");
  const std::string reason = Text(event, "reason");
  if (!why.empty()) absl::StrAppend(&text, ": ", why);
  if (!reason.empty()) absl::StrAppend(&text, " (", reason, ")");
  return text;
}

std::string Group(const json& event) {
  const std::string group = Text(event, "group");
  const std::string why = Text(event, "why");
  return absl::StrCat(EndText(event), " ", group, group.empty() ? "" : " ",
                      Text(event, "mgid"), " ", Text(event, "state"),
                      why.empty() ? "" : ": ", why);
}

// "0x12"
std::string Hexadecimal(const json& event, const char* name) {
  const auto found = event.find(name);
  return found != event.end() && found->is_number_unsigned()
             ? absl::StrFormat("%#x", found->get<uint64_t>())
             : "?";
}

// Why a work request failed, or what else happened to the queue pair.
std::string QueuePair(const json& event) {
  std::string why = Text(event, "why");
  if (!why.empty()) return why;
  const std::string kind = Text(event, "kind");
  std::string what;
  if (kind != "state") {
    what = kind;
    if (!event.value("psn", json()).is_null()) {
      absl::StrAppend(&what, ", PSN ", Hexadecimal(event, "psn"));
    }
    if (!what.empty()) what += ": ";
  }
  return absl::StrCat(Text(event, "node"), " queue pair ",
                      Hexadecimal(event, "qpn"), ": ", what,
                      Text(event, "text"));
}

std::string Scenario(const json& event) {
  std::string text = Text(event, "file");
  const std::string line = Text(event, "line");
  if (!line.empty()) absl::StrAppend(&text, ":", line);
  absl::StrAppend(&text, " ", Text(event, "state"));
  for (const char* more : {"do", "error"}) {
    const std::string detail = Text(event, more);
    if (!detail.empty()) absl::StrAppend(&text, ": ", detail);
  }
  return text;
}

std::string What(const std::string& kind, const json& event) {
  if (kind == "link") {
    return absl::StrCat(EndText(event, "a"), " - ", EndText(event, "b"), " ",
                        Text(event, "state"));
  }
  if (kind == "port") {
    return absl::StrCat(EndText(event), " ", Text(event, "state"), ", LID ",
                        Text(event, "lid"), ", SM LID ", Text(event, "sm_lid"));
  }
  if (kind == "sm") {
    return absl::StrCat(EndText(event), Flag(event, "is_sm")
                                            ? " has a subnet manager"
                                            : " has no subnet manager");
  }
  if (kind == "trap") {
    return absl::StrCat(Text(event, "trap"), " of ", EndText(event), " to LID ",
                        Text(event, "sm_lid"),
                        Flag(event, "repeated") ? ", again" : "");
  }
  if (kind == "drop") return Drop(event);
  if (kind == "fault") {
    return absl::StrCat(Text(event, "name"), " ", Text(event, "state"), ": ",
                        Text(event, "place"), " ", Text(event, "what"));
  }
  if (kind == "scenario") return Scenario(event);
  if (kind == "connection" || kind == "datagram") return Connection(event);
  if (kind == "group") return Group(event);
  if (kind == "qp") return QueuePair(event);
  if (kind == "mad" || kind == "call") return Text(event, "why");
  if (kind == "lost") {
    return absl::StrCat(Text(event, "events"),
                        " events: they came faster than they were read");
  }
  const std::string error = Text(event, "error");
  return absl::StrCat(Text(event, "node"), " ", Text(event, "state"),
                      error.empty() ? "" : ": ", error);
}

}  // namespace

std::string EventWhat(const json& event) {
  return OneLine(What(Text(event, "event"), event));
}

std::string EventText(const json& event) {
  const std::string kind = Text(event, "event");
  const auto found = event.find("time_ns");
  const std::string time =
      found != event.end() && found->is_number_integer()
          ? absl::StrFormat("%.6f",
                            static_cast<double>(found->get<int64_t>()) / 1e9)
          : "";
  return OneLine(
      absl::StrFormat("%13s  %-10s  %s", time, kind, What(kind, event)));
}

}  // namespace ibemu::daemon
