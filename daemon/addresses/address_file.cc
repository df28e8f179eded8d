#include "daemon/addresses/address_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "daemon/words/partition_text.h"
#include "daemon/words/port_text.h"
#include "mad/device.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

// One line of the file: the first word, which may be quoted, and the rest.
struct Line {
  std::string port;
  std::vector<std::string> addresses;
};

absl::StatusOr<Line> Split(absl::string_view text) {
  constexpr absl::string_view kBlank = " \t\r";
  Line line;
  if (absl::ConsumePrefix(&text, "\"")) {
    const size_t end = text.find('"');
    if (end == text.npos) {
      return absl::InvalidArgumentError("a quoted name has no end");
    }
    line.port = std::string(text.substr(0, end));
    text.remove_prefix(end + 1);
    const bool goes_on =
        absl::StartsWith(text, "/") || absl::StartsWith(text, ":");
    const absl::string_view rest =
        goes_on ? text.substr(0, text.find_first_of(kBlank)) : "";
    if (!absl::StartsWith(rest, "/")) line.port += "/1";
    absl::StrAppend(&line.port, rest);
    text.remove_prefix(rest.size());
  } else {
    const size_t end = std::min(text.find_first_of(kBlank), text.size());
    line.port = std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  line.addresses =
      absl::StrSplit(text, absl::ByAnyChar(kBlank), absl::SkipEmpty());
  return line;
}

class AddressFile {
 public:
  explicit AddressFile(Adapters& adapters) : adapters_(adapters) {}

  // Errors: those of ParseAddressFile(), without the place.
  absl::Status Read(int number, absl::string_view text) {
    IBEMU_ASSIGN_OR_RETURN(const Line line, Split(text));
    IBEMU_ASSIGN_OR_RETURN(const AddressPlan::Owner owner, Find(line.port));
    if (line.addresses.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          line.port, " has no address: write \"", line.port, " 10.1.0.1/16\""));
    }
    for (const std::string& address : line.addresses) {
      IBEMU_RETURN_IF_ERROR(Add(number, owner, line.port, address));
    }
    return absl::OkStatus();
  }

  AddressPlan TakePlan() { return std::move(plan_); }

 private:
  // A node without a port is its port 1, and without a P_Key that port's first
  // interface; the name may have a slash or a colon itself.
  absl::StatusOr<AddressPlan::Owner> Find(const std::string& port) const {
    PortText text = {port, 1};
    uint16_t partition = 0;
    absl::StatusOr<AdapterId> adapter = adapters_.Find(port);
    const size_t colon = port.rfind(':');
    if (!adapter.ok() && colon != port.npos) {
      IBEMU_ASSIGN_OR_RETURN(
          partition, ParsePartition(std::string_view(port).substr(colon + 1)));
      text.node.resize(colon);
      adapter = adapters_.Find(text.node);
    }
    if (!adapter.ok() && text.node.find('/') != text.node.npos) {
      IBEMU_ASSIGN_OR_RETURN(text, ParsePort(text.node));
      adapter = adapters_.Find(text.node);
    }
    IBEMU_RETURN_IF_ERROR(adapter.status());
    const mad::Device& device = adapters_.device(*adapter);
    if (device.type() != mad::NodeType::kChannelAdapter) {
      return absl::InvalidArgumentError(
          absl::StrCat(text.node, ": only channel adapters have addresses"));
    }
    if (text.port < device.first_port() || text.port > device.last_port()) {
      return absl::InvalidArgumentError(
          absl::StrCat(port, ": this adapter has ports ", device.first_port(),
                       " to ", device.last_port()));
    }
    return AddressPlan::Owner{*adapter, text.port, partition};
  }

  absl::Status Add(int number, AddressPlan::Owner owner,
                   const std::string& port, const std::string& text) {
    const std::optional<wire::IpNetwork> network = wire::ParseNetwork(text);
    if (!network) {
      return absl::InvalidArgumentError(
          absl::StrCat(text,
                       ": an address has a prefix: \"10.1.0.1/16\" or "
                       "\"fd00::1/64\""));
    }
    if (const std::string_view why = wire::WhyNobodys(*network); !why.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(AddressText(network->address), " ", Absl(why),
                       ": no port may have it"));
    }
    if (!plan_.Add(owner, *network).ok()) {
      const auto& [line, name] = said_[network->address];
      return absl::InvalidArgumentError(absl::StrCat(
          AddressText(network->address), " is ", name, "'s already (line ",
          line, "): an address is of one port"));
    }
    said_[network->address] = {number, port};
    return absl::OkStatus();
  }

  Adapters& adapters_;
  AddressPlan plan_;
  std::map<wire::IpAddress, std::pair<int, std::string>> said_;
};

}  // namespace

absl::StatusOr<AddressPlan> ParseAddressFile(std::string_view text,
                                             std::string_view name,
                                             Adapters& adapters) {
  AddressFile file(adapters);
  int number = 0;
  for (absl::string_view line : absl::StrSplit(Absl(text), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (const absl::Status read = file.Read(number, line); !read.ok()) {
      return absl::Status(read.code(), absl::StrCat(Absl(name), ":", number,
                                                    ": ", read.message()));
    }
  }
  return file.TakePlan();
}

}  // namespace ibemu::daemon
