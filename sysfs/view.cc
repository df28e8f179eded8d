#include "sysfs/view.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "sysfs/profile.h"

namespace ibemu::sysfs {
namespace {

absl::Status CheckFormat(std::string_view format, size_t hosts) {
  const std::string shown = absl::StrFormat("device name \"%s\"", format);
  if (format.empty() || format == "." || format == "..") {
    return absl::InvalidArgumentError(absl::StrCat(shown, " is no file name"));
  }
  if (format.find('/') != format.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, " holds a slash: it becomes a file name"));
  }
  const auto percents = std::count(format.begin(), format.end(), '%');
  if (percents > 1 || (percents == 1 && format.find("%d") == format.npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": its only percent sign may be one %d"));
  }
  if (percents == 0 && hosts > 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is one name for %d devices: add %%d for their number", shown,
        hosts));
  }
  return absl::OkStatus();
}

std::string NameOf(std::string_view format, int number) {
  return absl::StrReplaceAll(Absl(format), {{"%d", absl::StrCat(number)}});
}

absl::Status CheckName(std::string_view name) {
  if (name.size() <= kMaxDeviceName) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "device name \"%s\" has %d characters: libibumad has room for %d", name,
      name.size(), kMaxDeviceName));
}

// Returns true if the device has a uverbs node.
bool HasVerbs(const View& view, const mad::Device& device) {
  return view.verbs && FactsOf(view.profile).verbs_abi &&
         device.type() == mad::NodeType::kChannelAdapter;
}

}  // namespace

absl::StatusOr<View> MakeView(std::vector<std::shared_ptr<mad::Host>> hosts,
                              std::string_view name_format, Profile profile,
                              bool verbs) {
  IBEMU_RETURN_IF_ERROR(CheckFormat(name_format, hosts.size()));
  View view;
  view.profile = profile;
  view.verbs = verbs;
  view.name_format = name_format;
  view.cpu_count =
      static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (size_t slot = 0; slot < hosts.size(); ++slot) {
    IBEMU_RETURN_IF_ERROR(HasRoom(view, hosts[slot]->device()));
    PlugIn(view, static_cast<int>(slot), std::move(hosts[slot]));
    IBEMU_RETURN_IF_ERROR(CheckName(view.devices.back().name));
  }
  return view;
}

absl::Status HasRoom(const View& view, const mad::Device& more) {
  if (view.devices.size() >= kMaxViewDevices) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d devices asked for: libibumad sees at most %d",
                        view.devices.size() + 1, kMaxViewDevices));
  }
  int ports = more.last_port() - more.first_port() + 1;
  for (const ViewDevice& device : view.devices) {
    ports += static_cast<int>(device.umads.size());
  }
  if (ports > kMaxViewPorts) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the devices have %d ports: libibumad sees at most %d",
                        ports, kMaxViewPorts));
  }
  return absl::OkStatus();
}

std::vector<MadNode> MadNodesOf(const ViewDevice& device) {
  std::vector<MadNode> nodes;
  const int first = device.host->device().first_port();
  for (const bool is_issm : {true, false}) {
    for (size_t i = 0; i < device.umads.size(); ++i) {
      const int number = device.umads[i];
      nodes.push_back(
          {.name = absl::StrCat(is_issm ? "issm" : "umad", number),
           .port = first + static_cast<int>(i),
           .is_issm = is_issm,
           .minor_number = (is_issm ? kFirstIssm : kFirstUmad) + number});
    }
  }
  return nodes;
}

void PlugIn(View& view, int slot, std::shared_ptr<mad::Host> host) {
  ViewDevice device;
  device.slot = slot;
  const auto taken = [&view](auto matches) {
    return std::any_of(view.devices.begin(), view.devices.end(), matches);
  };
  int named = 0;
  do {
    device.name = NameOf(view.name_format, named++);
  } while (taken(
      [&](const ViewDevice& other) { return other.name == device.name; }));

  const mad::Device& adapter = host->device();
  int umad = 0;
  for (int port = adapter.first_port(); port <= adapter.last_port(); ++port) {
    while (taken([umad](const ViewDevice& other) {
      return std::count(other.umads.begin(), other.umads.end(), umad) != 0;
    })) {
      ++umad;
    }
    device.umads.push_back(umad++);
  }
  if (HasVerbs(view, adapter)) {
    int number = 0;
    while (taken(
        [number](const ViewDevice& other) { return other.uverbs == number; })) {
      ++number;
    }
    device.uverbs = number;
  }
  device.host = std::move(host);
  const auto next = std::find_if(
      view.devices.begin(), view.devices.end(),
      [slot](const ViewDevice& other) { return other.slot > slot; });
  view.devices.insert(next, std::move(device));
}

void PullOut(View& view, int slot) {
  std::erase_if(view.devices, [slot](const ViewDevice& device) {
    return device.slot == slot;
  });
}

}  // namespace ibemu::sysfs
