#include "daemon/adapters/hca_adapters.h"

#include <deque>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "hca/bus/pci_address.h"
#include "hca/families.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {

using nlohmann::json;

namespace {

// Returns true if `guid` is that of the adapter's node or of one of its ports.
bool HasGuid(const HcaView& adapter, wire::Guid guid) {
  if (adapter.device.node_guid() == guid) return true;
  for (int port = 1; port <= adapter.device.last_port(); ++port) {
    if (PortGuidOf(adapter, port) == guid) return true;
  }
  return false;
}

}  // namespace

HcaAdapters::HcaAdapters(Loop& loop, hca::Pause pause)
    : loop_(loop), pause_(std::move(pause)) {}

HcaAdapters::~HcaAdapters() {
  for (const auto& entry : entries_) {
    const int fd = entry->device->interrupt_fd();
    if (entry->alive && fd >= 0) loop_.Forget(fd);
  }
}

absl::Status HcaAdapters::Add(const std::string& name,
                              std::unique_ptr<hca::PciFunction> function) {
  auto entry = std::make_unique<Entry>(*this, entries_.size(), name);
  entry->function = std::move(function);
  hca::DeviceOptions options;
  options.pause = pause_;
  options.name = name;
  options.note = [name](std::string_view note) {
    spdlog::warn("{}: {}", name, std::string(note));
  };
  auto device = hca::StartDevice(*entry->function, loop_, std::move(options));
  if (!device.ok()) {
    return absl::Status(device.status().code(),
                        absl::StrCat(name, ": ", device.status().message()));
  }
  entry->device = *std::move(device);
  IBEMU_RETURN_IF_ERROR(Watch(*entry));
  entry->device->SetWatcher(entry.get());
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status HcaAdapters::Watch(Entry& entry) {
  hca::DrivenAdapter& device = *entry.device;
  if (device.interrupt_fd() < 0) return absl::OkStatus();
  return loop_.Watch(device.interrupt_fd(),
                     [&device] { device.OnInterrupt(); });
}

void HcaAdapters::Entry::OnPortChange(int port) {
  if (all.watcher_ != nullptr) all.watcher_->OnPortChange(index, port);
}

void HcaAdapters::Entry::OnGone() {
  spdlog::error("{}: the adapter is gone until ibemud is started again", name);
  alive = false;
  if (device->interrupt_fd() >= 0) all.loop_.Forget(device->interrupt_fd());
  all.TellChange(static_cast<AdapterId>(index), /*present=*/false);
  if (all.watcher_ != nullptr) all.watcher_->OnGone(index);
}

json HcaAdapters::List() const {
  json list = json::array();
  for (size_t i = 0; i < count(); ++i) list.push_back(DescribeHca(at(i)));
  return list;
}

absl::StatusOr<AdapterId> HcaAdapters::Find(std::string_view name) const {
  uint64_t number = 0;
  const bool is_guid =
      name.starts_with("0x") && absl::SimpleHexAtoi(Absl(name), &number);
  // "3b:00.0" stands for "0000:3b:00.0".
  const auto pci = hca::PciAddress::Parse(name);
  const std::string address = pci.ok() ? pci->Text() : "";
  std::vector<AdapterId> described;
  std::deque<std::string> descriptions;  // `near` refers to them
  DidYouMean near(name);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = *entries_[i];
    const auto id = static_cast<AdapterId>(i);
    const std::string& description =
        descriptions.emplace_back(entry.device->node_description());
    if (entry.name == name || entry.name == address) return id;
    if (is_guid && HasGuid(at(i), wire::Guid{number})) return id;
    if (description == name) described.push_back(id);
    near.Offer(entry.name);
    near.Offer(description);
  }
  if (described.size() == 1) return described.front();
  if (described.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no adapter \"", Absl(name), "\"", near.Question()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", Absl(name), "\" is what ", described.size(),
                   " adapters call themselves: say \"",
                   entry(described.front()).name, "\" for the first of them"));
}

std::optional<AdapterId> HcaAdapters::WithPortGuid(wire::Guid guid) const {
  for (size_t i = 0; i < count(); ++i) {
    const HcaView adapter = at(i);
    for (int port = 1; port <= adapter.device.last_port(); ++port) {
      if (PortGuidOf(adapter, port) == guid) return AdapterId{uint32_t(i)};
    }
  }
  return std::nullopt;
}

absl::StatusOr<AdapterId> HcaAdapters::Default() const {
  if (entries_.empty()) return absl::NotFoundError("there is no adapter");
  return AdapterId{0};
}

absl::Status HcaAdapters::CheckShowable(AdapterId adapter) const {
  const Entry& shown = entry(adapter);
  if (shown.alive) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the adapter ", shown.name, " (\"", shown.device->node_description(),
      "\") has died: ibemud must be started again"));
}

std::string HcaAdapters::description(AdapterId adapter) const {
  return entry(adapter).device->node_description();
}

wire::Guid HcaAdapters::node_guid(AdapterId adapter) const {
  return entry(adapter).device->node_guid();
}

mad::Device& HcaAdapters::device(AdapterId adapter) {
  return *entry(adapter).device;
}

verbs::Provider& HcaAdapters::provider(AdapterId adapter) {
  return entry(adapter).device->provider();
}

}  // namespace ibemu::daemon
