#include "daemon/views/attachments.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "control/peer.h"
#include "cuse/client/caller_memory.h"
#include "cuse/fuse/fuse_tree.h"
#include "cuse/rdma_cm/rdma_cm_file.h"
#include "daemon/connections/view_adapters.h"
#include "daemon/networks/network_namespace.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/views/system_devices.h"
#include "daemon/words/partition_text.h"
#include "daemon/words/port_text.h"
#include "fast_path/rings/ring_control.h"
#include "launch/cuse_nodes.h"
#include "launch/mount_plan.h"
#include "mad/host.h"
#include "nlohmann/json.hpp"
#include "rdma_cm/rdma_cm_view.h"
#include "spdlog/spdlog.h"
#include "sysfs/profile.h"
#include "sysfs/view.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

json DescribeShown(const sysfs::ViewDevice& shown, const AddressPlan& plan,
                   AdapterId adapter) {
  const mad::Device& device = shown.host->device();
  json addresses = json::array();
  for (int port = device.first_port(); port <= device.last_port(); ++port) {
    for (auto& text : wire::NetworkTexts(plan.AddressesOf({adapter, port}))) {
      addresses.push_back(std::move(text));
    }
  }
  return {{"name", shown.name},
          {"node", device.node_description()},
          {"node_guid", GuidText(device.node_guid())},
          {"umads", shown.umads},
          {"addresses", std::move(addresses)}};
}

json DescribeRemoved(const Adapters& adapters, AdapterId adapter) {
  return {{"name", json()},
          {"node", adapters.description(adapter)},
          {"node_guid", GuidText(adapters.node_guid(adapter))},
          {"umads", json::array()},
          {"addresses", json::array()}};
}

// Ways that no call went are left out.
json DescribeWays(const std::array<uint32_t, fast_path::kWays>& counts) {
  constexpr std::array<const char*, fast_path::kWays> kNames = {
      "ring", "asleep", "busy", "command", "outstanding", "page", "empty"};
  json ways = json::object();
  for (size_t way = 0; way < counts.size(); ++way) {
    if (counts[way] != 0) ways[kNames[way]] = counts[way];
  }
  return ways;
}

}  // namespace

// One view and the FUSE connection that shows it.
class Attachments::Attachment {
 public:
  // `adapters`: what is in the slots of `view`.
  Attachment(Attachments& owner, const std::vector<AdapterId>& adapters,
             sysfs::View view, int pid)
      : owner_(owner),
        slots_(adapters.begin(), adapters.end()),
        view_(std::move(view)),
        pid_(pid) {
    for (const sysfs::ViewDevice& device : view_.devices) {
      connected_->Add(device.slot, adapters[static_cast<size_t>(device.slot)]);
    }
  }

  ~Attachment() { Stop(); }

  // The view as character devices, too.
  absl::Status MakeDevices(int major_number) {
    devices_ = std::make_unique<SystemDevices>(
        owner_.loop_, owner_.workers_, owner_.rings_, owner_.uverbs_files_,
        major_number, view_.profile,
        [this](int slot) -> verbs::Provider& { return ProviderOf(slot); },
        [this](int /*flags*/) { return OpenRdmaCm(); });
    if (launch::HasNode("infiniband/rdma_cm")) {
      view_.rdma_cm = false;
      spdlog::warn(
          "/dev/infiniband/rdma_cm is there already, by a real adapter or "
          "another ibemud: connections by address (librdmacm) do not reach "
          "ibemu's devices");
    }
    return devices_->Follow(view_);
  }

  // `sys_path`: FuseTree::Options'.
  absl::Status Serve(UniqueFd fuse, const std::string& sys_path) {
    tree_ = std::make_unique<cuse::FuseTree>(
        owner_.loop_, view_, owner_.workers_,
        cuse::FuseTree::Options{
            .uid = geteuid(),
            .gid = getegid(),
            .provider_of = [this](int slot) -> verbs::Provider& {
              return ProviderOf(slot);
            },
            .rdma_cm_file = [this] { return OpenRdmaCm(); },
            .sys_path = sys_path,
            .rings = &owner_.rings_,
            .uverbs_files = &owner_.uverbs_files_});
    owner_.served_.insert(this);
    IBEMU_RETURN_IF_ERROR(tree_->Serve(fuse.Release()));
    return owner_.loop_.WatchEagerly(tree_->fd(), [this] {
      const auto result = tree_->HandleOne();
      if (result == cuse::FuseResult::kEnded) Stop();
      return result == cuse::FuseResult::kHandled;
    });
  }

  bool Shows(AdapterId adapter) const {
    return SlotOf(adapter) != slots_.end();
  }

  // One was pulled out of its host, or plugged in.
  void OnAdapterChange(AdapterId adapter, bool present) {
    const auto found = SlotOf(adapter);
    if (found == slots_.end()) return;
    const int slot = NumberOf(found);
    if (present) {
      PlugIn(view_, slot, owner_.hosts_.Get(adapter));
      connected_->Add(slot, adapter);
    } else {
      PullOut(view_, slot);
      connected_->Remove(slot);
    }
    if (const absl::Status shown = ShowChange(); !shown.ok()) {
      spdlog::error("{}", std::string(shown.message()));
    }
  }

  // A host that the view had not.
  absl::Status AddHost(AdapterId adapter) {
    IBEMU_RETURN_IF_ERROR(HasRoom(view_, owner_.hosts_.Get(adapter)->device()));
    auto slot = SlotOf(std::nullopt);
    if (slot == slots_.end()) slot = slots_.emplace(slot);
    *slot = adapter;
    PlugIn(view_, NumberOf(slot), owner_.hosts_.Get(adapter));
    connected_->Add(NumberOf(slot), adapter);
    return ShowChange();
  }

  // Ends the connections of one that it has.
  void Disconnect(AdapterId adapter) {
    connected_->Remove(NumberOf(SlotOf(adapter)));
  }

  // One that it has, and that is disconnected.
  absl::Status RemoveHost(AdapterId adapter) {
    const auto slot = SlotOf(adapter);
    PullOut(view_, NumberOf(slot));
    slot->reset();
    return ShowChange();
  }

  // In the order in which they were named.
  json Devices() const {
    json devices = json::array();
    auto shown = view_.devices.begin();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      if (!*slot) continue;
      if (shown != view_.devices.end() && shown->slot == NumberOf(slot)) {
        devices.push_back(
            DescribeShown(*shown++, owner_.connections_.plan(), **slot));
      } else {
        devices.push_back(DescribeRemoved(owner_.adapters_, **slot));
      }
    }
    return devices;
  }

  json Describe() const { return {{"pid", pid_}, {"devices", Devices()}}; }

 private:
  using Slots = std::vector<std::optional<AdapterId>>;

  // std::nullopt: the first that is empty.
  Slots::iterator SlotOf(std::optional<AdapterId> adapter) {
    return std::find(slots_.begin(), slots_.end(), adapter);
  }
  Slots::const_iterator SlotOf(std::optional<AdapterId> adapter) const {
    return std::find(slots_.begin(), slots_.end(), adapter);
  }
  int NumberOf(Slots::const_iterator slot) const {
    return static_cast<int>(slot - slots_.begin());
  }

  verbs::Provider& ProviderOf(int slot) {
    return owner_.adapters_.provider(*slots_[slot]);
  }

  // All opens of a view share its ids, from the first one on.
  std::unique_ptr<cuse::File> OpenRdmaCm() {
    if (rdma_cm_ == nullptr) {
      rdma_cm_ = std::make_shared<rdma_cm::RdmaCmView>(
          owner_.loop_, connected_, owner_.connections_.NextRandom());
    }
    return std::make_unique<cuse::RdmaCmFile>(rdma_cm_, owner_.workers_);
  }

  // Numbers first, then the entries that tell them.
  absl::Status ShowChange() {
    absl::Status made;
    if (devices_ != nullptr) made = devices_->Follow(view_);
    tree_->Update();
    return made;
  }

  // Lets go of the hosts too: the mount is gone for good.
  void Stop() {
    if (tree_ == nullptr) return;
    owner_.loop_.Forget(tree_->fd());
    tree_.reset();
    devices_.reset();
    rdma_cm_.reset();
    view_.devices.clear();
    owner_.served_.erase(this);
  }

  Attachments& owner_;
  Slots slots_;
  const std::shared_ptr<ViewAdapters> connected_ =
      std::make_shared<ViewAdapters>(owner_.connections_);
  std::shared_ptr<rdma_cm::RdmaCmView> rdma_cm_;  // null before the first open
  sysfs::View view_;
  std::unique_ptr<cuse::FuseTree> tree_;
  std::unique_ptr<SystemDevices> devices_;  // null in a run
  int pid_;
};

Attachments::Attachments(Loop& loop, HostTable& hosts,
                         ConnectionTable& connections,
                         const NetworkTable& networks)
    : loop_(loop),
      hosts_(hosts),
      connections_(connections),
      networks_(networks),
      adapters_(hosts.adapters()),
      workers_(
          loop,
          [&loop](absl::AnyInvocable<void()> task) {
            loop.Post(std::move(task));
          },
          WorkerPool::Limits(), &loop, &cuse::UserOf) {
  adapters_.SetListener(this);
  loop_.LookAt(&rings_);
}

Attachments::~Attachments() {
  loop_.LookAt(nullptr);
  adapters_.SetListener(nullptr);
}

void Attachments::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("attach", [this](control::Parameters& parameters,
                                  control::Caller& caller) {
    return Attach(parameters, caller);
  });
  dispatcher.Add("host.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetHost(parameters);
                 });
}

json Attachments::List() const {
  json list = json::array();
  for (const Attachment* attachment : served_) {
    list.push_back(attachment->Describe());
  }
  return list;
}

json Attachments::Clients() const {
  json list = json::array();
  for (const cuse::RingSet::Usage& usage : rings_.Usages()) {
    list.push_back({{"pid", usage.client.process},
                    {"file", usage.client.file},
                    {"sent", DescribeWays(usage.sent)},
                    {"received", DescribeWays(usage.received)}});
  }
  return list;
}

absl::StatusOr<std::vector<AdapterId>> Attachments::FindAdapters(
    const std::vector<std::string>& names) const {
  std::vector<AdapterId> found;
  for (const std::string& name : names) {
    IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> host,
                           adapters_.FindHost(name));
    for (const AdapterId adapter : host) {
      if (std::find(found.begin(), found.end(), adapter) != found.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--host=", name, ": this node is named twice"));
      }
      found.push_back(adapter);
    }
  }
  if (found.empty()) {
    IBEMU_ASSIGN_OR_RETURN(found.emplace_back(), adapters_.Default());
  }
  return found;
}

void Attachments::OnAdapterChange(AdapterId adapter, bool present) {
  // Whoever has it keeps it, nobody else gets it.
  if (!present) hosts_.Forget(adapter);
  for (Attachment* attachment : served_) {
    attachment->OnAdapterChange(adapter, present);
  }
}

absl::StatusOr<json> Attachments::SetHost(control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const bool present = parameters.Flag("present", true);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (system_ == nullptr) {
    return absl::FailedPreconditionError(
        "this daemon shows no devices to the whole machine: start it with "
        "--front-end=cuse, or use \"ibemu run --host\"");
  }
  IBEMU_ASSIGN_OR_RETURN(const AdapterId adapter, adapters_.Find(name));
  const std::string description = adapters_.description(adapter);
  if (system_->Shows(adapter) == present) {
    return absl::FailedPreconditionError(
        absl::StrCat("the devices of \"", description, "\" are ",
                     present ? "shown already" : "not shown"));
  }
  if (present) {
    IBEMU_RETURN_IF_ERROR(adapters_.CheckShowable(adapter));
    IBEMU_RETURN_IF_ERROR(system_->AddHost(adapter));
  } else {
    const bool shared = std::any_of(
        served_.begin(), served_.end(), [&](const Attachment* other) {
          return other != system_.get() && other->Shows(adapter);
        });
    if (shared) {
      return absl::FailedPreconditionError(
          absl::StrCat("\"", description,
                       "\" is also the host of an \"ibemu run\": end that one "
                       "first (\"ibemu status\" lists them)"));
    }
    const std::shared_ptr<mad::Host> host = hosts_.Find(adapter);
    hosts_.Forget(adapter);
    // While the host can still send, so that peers hear of it.
    system_->Disconnect(adapter);
    // Now, so that nobody who lets go of it takes it for one that stays.
    if (host != nullptr) host->Unbind();
    IBEMU_RETURN_IF_ERROR(system_->RemoveHost(adapter));
  }
  return json{{"present", present}};
}

absl::Status Attachments::AttachSystem(const std::vector<std::string>& names,
                                       sysfs::Profile profile, int major_number,
                                       UniqueFd fuse) {
  IBEMU_ASSIGN_OR_RETURN(Placed placed, Place(names, "ibemu%d", profile, true));
  system_ = std::make_shared<Attachment>(*this, placed.adapters,
                                         std::move(placed.view), getpid());
  IBEMU_RETURN_IF_ERROR(system_->MakeDevices(major_number));
  return system_->Serve(std::move(fuse),
                        absl::StrCat(launch::kSystemMount, "/sys"));
}

// A view of the named adapters.  `removed_ones_too`: those that are pulled out
// have empty slots there, for when they are put back; else they are refused.
absl::StatusOr<Attachments::Placed> Attachments::Place(
    const std::vector<std::string>& names, const std::string& name_format,
    sysfs::Profile profile, bool removed_ones_too) {
  Placed placed;
  IBEMU_ASSIGN_OR_RETURN(placed.adapters, FindAdapters(names));
  for (const AdapterId adapter : placed.adapters) {
    if (removed_ones_too && adapters_.IsRemoved(adapter)) continue;
    IBEMU_RETURN_IF_ERROR(adapters_.CheckShowable(adapter));
  }
  std::vector<std::shared_ptr<mad::Host>> hosts;
  for (const AdapterId adapter : placed.adapters) {
    hosts.push_back(hosts_.Get(adapter));
  }
  IBEMU_ASSIGN_OR_RETURN(
      placed.view,
      sysfs::MakeView(std::move(hosts), name_format, profile, true));
  for (size_t slot = 0; slot < placed.adapters.size(); ++slot) {
    if (!adapters_.IsRemoved(placed.adapters[slot])) continue;
    PullOut(placed.view, static_cast<int>(slot));
    hosts_.Forget(placed.adapters[slot]);
  }
  placed.view.rdma_cm = true;
  placed.view.cm_counters = [&connections = connections_](const mad::Host& host,
                                                          int port) {
    return connections.CountersOf(host, port);
  };
  placed.view.hw_counters = [this](const mad::Host& host, int port) {
    const std::optional<AdapterId> adapter = hosts_.AdapterOf(host);
    return adapter ? adapters_.CountersOf(*adapter, port) : verbs::HwCounters();
  };
  return placed;
}

// Those of its adapters that the process sees: its own, or in a run within a
// run the outer one's.
void Attachments::AddNetworks(Placed& placed, int pid) const {
  const auto place = NetworkNamespaceOf(pid);
  if (!place) return;
  for (NetworkTable::Shown& shown : networks_.In(*place)) {
    for (size_t slot = 0; slot < placed.adapters.size(); ++slot) {
      if (placed.adapters[slot] != shown.adapter) continue;
      placed.view.devices[slot].networks.push_back(std::move(shown.interface));
      break;
    }
  }
}

std::string Attachments::NameOf(const AddressPlan::HostAddress& host) const {
  return host.elsewhere.empty() ? adapters_.description(host.adapter)
                                : host.elsewhere;
}

// Of the hosts, also in the partitions and on the switches on which the process
// has interfaces.
json Attachments::Names(int pid) const {
  std::set<uint16_t> partitions = {0};
  std::set<std::string> switches;
  if (const auto place = NetworkNamespaceOf(pid)) {
    for (const NetworkTable::Shown& shown : networks_.In(*place)) {
      partitions.insert(shown.partition);
      if (!shown.ethernet_switch.empty()) {
        switches.insert(shown.ethernet_switch);
      }
    }
  }
  json names = json::array();
  for (const uint16_t partition : partitions) {
    for (const AddressPlan::HostAddress& host : connections_.plan().Hosts(
             AddressPlan::kMaxNames - names.size(), partition)) {
      json& name = names.emplace_back(
          json{{"address", AddressText(host.address)}, {"node", NameOf(host)}});
      if (partition != 0) name["partition"] = PartitionText(partition);
    }
  }
  for (const std::string& ethernet_switch : switches) {
    for (const AddressPlan::HostAddress& host :
         connections_.plan().Hosts(AddressPlan::kMaxNames - names.size())) {
      const auto own = host.elsewhere.empty()
                           ? connections_.plan().LinkLocalOf(host.adapter)
                           : host.link_local;
      if (!own) continue;
      names.push_back({{"address", AddressText(own->address)},
                       {"node", NameOf(host)},
                       {"ethernet", ethernet_switch}});
    }
  }
  return names;
}

absl::StatusOr<json> Attachments::Attach(control::Parameters& parameters,
                                         control::Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("hosts");
  const std::string format = parameters.Text("device_name", "ibemu%d");
  const std::string profile_name = parameters.Text("profile", "qib");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const sysfs::Profile profile,
                         sysfs::ParseProfile(profile_name));
  IBEMU_ASSIGN_OR_RETURN(Placed placed, Place(names, format, profile, false));
  UniqueFd fuse = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(control::CheckFuseDescriptor(fuse.get()));
  IBEMU_RETURN_IF_ERROR(control::CheckPidNamespace(caller.pid()));
  AddNetworks(placed, caller.pid());

  auto attachment = std::make_shared<Attachment>(
      *this, placed.adapters, std::move(placed.view), caller.pid());
  json devices = attachment->Devices();
  IBEMU_RETURN_IF_ERROR(attachment->Serve(std::move(fuse), ""));
  caller.Keep(std::move(attachment));
  return json{{"devices", std::move(devices)}, {"names", Names(caller.pid())}};
}

}  // namespace ibemu::daemon
