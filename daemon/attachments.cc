#include "daemon/attachments.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "cuse/fuse_tree.h"
#include "daemon/fabric_methods.h"
#include "daemon/peer.h"
#include "daemon/system_devices.h"
#include "daemon/system_mounts.h"
#include "fabric/subnet.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "sysfs/view.h"

namespace ibemu::daemon {
namespace {

using fabric::NodeId;
using nlohmann::json;

absl::StatusOr<sysfs::Profile> ParseProfile(const std::string& name) {
  if (name == "qib") return sysfs::Profile::kQib;
  if (name == "cx7") return sysfs::Profile::kCx7;
  return absl::InvalidArgumentError(
      absl::StrCat("--profile=", name, ": there are \"qib\" and \"cx7\"",
                   DidYouMean(name, {"qib", "cx7"}).Question()));
}

json DescribeShown(const sysfs::ViewDevice& shown) {
  const mad::Device& device = shown.host->device();
  return {{"name", shown.name},
          {"node", device.node_description()},
          {"node_guid", GuidText(device.node_guid())},
          {"umads", shown.umads}};
}

json DescribeRemoved(const fabric::Node& node) {
  return {{"name", json()},
          {"node", node.description},
          {"node_guid", GuidText(node.node_guid)},
          {"umads", json::array()}};
}

}  // namespace

// One view and the FUSE connection that shows it.
class Attachments::Attachment {
 public:
  // `nodes`: what is in the slots of `view`.
  Attachment(Attachments& owner, std::vector<NodeId> nodes, sysfs::View view,
             int pid)
      : owner_(owner),
        nodes_(std::move(nodes)),
        view_(std::move(view)),
        pid_(pid) {}

  ~Attachment() { Stop(); }

  // The view as character devices, too.
  absl::Status MakeDevices() {
    devices_ = std::make_unique<SystemDevices>(owner_.loop_, owner_.workers_);
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
              return owner_.fabric_.provider(nodes_[slot]);
            },
            .sys_path = sys_path});
    owner_.served_.insert(this);
    IBEMU_RETURN_IF_ERROR(tree_->Serve(fuse.Release()));
    return owner_.loop_.WatchEagerly(tree_->fd(), [this] {
      const auto result = tree_->HandleOne();
      if (result == cuse::FuseResult::kEnded) Stop();
      return result == cuse::FuseResult::kHandled;
    });
  }

  // A device was pulled out of its host, or plugged in.
  void OnDeviceChange(NodeId node, bool present) {
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found == nodes_.end()) return;
    const auto slot = static_cast<int>(found - nodes_.begin());
    if (present) {
      PlugIn(view_, slot, owner_.HostOf(node));
    } else {
      PullOut(view_, slot);
    }
    tree_->Update();
    if (devices_ == nullptr) return;
    if (const absl::Status made = devices_->Follow(view_); !made.ok()) {
      spdlog::error("{}", std::string(made.message()));
    }
  }

  // In the order in which the nodes were named.
  json Devices() const {
    json devices = json::array();
    auto shown = view_.devices.begin();
    for (size_t slot = 0; slot < nodes_.size(); ++slot) {
      if (shown != view_.devices.end() &&
          shown->slot == static_cast<int>(slot)) {
        devices.push_back(DescribeShown(*shown++));
      } else {
        devices.push_back(
            DescribeRemoved(owner_.fabric_.subnet().node(nodes_[slot])));
      }
    }
    return devices;
  }

  json Describe() const { return {{"pid", pid_}, {"devices", Devices()}}; }

 private:
  // Lets go of the hosts too: the mount is gone for good.
  void Stop() {
    if (tree_ == nullptr) return;
    owner_.loop_.Forget(tree_->fd());
    tree_.reset();
    devices_.reset();
    view_.devices.clear();
    owner_.served_.erase(this);
  }

  Attachments& owner_;
  std::vector<NodeId> nodes_;
  sysfs::View view_;
  std::unique_ptr<cuse::FuseTree> tree_;
  std::unique_ptr<SystemDevices> devices_;  // null in a run
  int pid_;
};

Attachments::Attachments(Loop& loop, fabric::Fabric& fabric)
    : loop_(loop),
      fabric_(fabric),
      workers_(loop, [&loop](absl::AnyInvocable<void()> task) {
        loop.Post(std::move(task));
      }) {}

Attachments::~Attachments() = default;

void Attachments::AddTo(Dispatcher& dispatcher) {
  dispatcher.Add("attach", [this](Parameters& parameters, Caller& caller) {
    return Attach(parameters, caller);
  });
  dispatcher.Add("device.set", [this](Parameters& parameters, Caller&) {
    return SetDevice(parameters);
  });
}

json Attachments::List() const {
  json list = json::array();
  for (const Attachment* attachment : served_) {
    list.push_back(attachment->Describe());
  }
  return list;
}

std::shared_ptr<mad::Host> Attachments::HostOf(NodeId node) {
  std::shared_ptr<mad::Host> host = hosts_[node].lock();
  if (host == nullptr) {
    host = std::make_shared<mad::Host>(loop_, fabric_.device(node));
    hosts_[node] = host;
  }
  return host;
}

absl::StatusOr<NodeId> Attachments::DefaultNode() const {
  const auto nodes = fabric_.subnet().nodes();
  const auto first =
      std::find_if(nodes.begin(), nodes.end(), [](const fabric::Node& node) {
        return node.type == mad::NodeType::kChannelAdapter;
      });
  if (first == nodes.end()) {
    return absl::NotFoundError(
        "the fabric has no channel adapter: name a switch with --host");
  }
  return static_cast<NodeId>(first - nodes.begin());
}

absl::StatusOr<std::vector<NodeId>> Attachments::FindNodes(
    const std::vector<std::string>& names) const {
  std::vector<NodeId> nodes;
  for (const std::string& name : names) {
    IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--host=", name, ": this node is named twice"));
    }
    nodes.push_back(node);
  }
  if (nodes.empty()) {
    IBEMU_ASSIGN_OR_RETURN(const NodeId node, DefaultNode());
    nodes.push_back(node);
  }
  for (const NodeId id : nodes) {
    const fabric::Node& node = fabric_.subnet().node(id);
    if (node.plugged) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the device of \"", node.description,
                     "\" is removed: put it back with \"ibemu device ",
                     node.description, " add\""));
  }
  return nodes;
}

// Programs see the change before the answer goes out.
absl::StatusOr<json> Attachments::SetDevice(Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const bool present = parameters.Flag("present", true);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  if (present) {
    IBEMU_RETURN_IF_ERROR(fabric_.AddDevice(node));
  } else {
    IBEMU_RETURN_IF_ERROR(fabric_.RemoveDevice(node));
    hosts_.erase(node);  // whoever has it keeps it, nobody else gets it
  }
  for (Attachment* attachment : served_) {
    attachment->OnDeviceChange(node, present);
  }
  return json{{"present", present}};
}

absl::Status Attachments::AttachSystem(const std::vector<std::string>& names,
                                       UniqueFd fuse) {
  IBEMU_ASSIGN_OR_RETURN(Placed placed,
                         Place(names, "ibemu%d", sysfs::Profile::kQib, false));
  system_ = std::make_shared<Attachment>(*this, std::move(placed.nodes),
                                         std::move(placed.view), getpid());
  IBEMU_RETURN_IF_ERROR(system_->MakeDevices());
  return system_->Serve(std::move(fuse), absl::StrCat(kSystemMount, "/sys"));
}

// A view of the named nodes.
absl::StatusOr<Attachments::Placed> Attachments::Place(
    const std::vector<std::string>& names, const std::string& name_format,
    sysfs::Profile profile, bool verbs) {
  Placed placed;
  IBEMU_ASSIGN_OR_RETURN(placed.nodes, FindNodes(names));
  std::vector<std::shared_ptr<mad::Host>> hosts;
  hosts.reserve(placed.nodes.size());
  for (const NodeId node : placed.nodes) hosts.push_back(HostOf(node));
  IBEMU_ASSIGN_OR_RETURN(
      placed.view,
      sysfs::MakeView(std::move(hosts), name_format, profile, verbs));
  return placed;
}

absl::StatusOr<json> Attachments::Attach(Parameters& parameters,
                                         Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("hosts");
  const std::string format = parameters.Text("device_name", "ibemu%d");
  const std::string profile_name = parameters.Text("profile", "qib");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const sysfs::Profile profile,
                         ParseProfile(profile_name));
  IBEMU_ASSIGN_OR_RETURN(Placed placed, Place(names, format, profile, true));
  UniqueFd fuse = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(CheckFuseDescriptor(fuse.get()));
  IBEMU_RETURN_IF_ERROR(CheckPidNamespace(caller.pid()));

  auto attachment = std::make_shared<Attachment>(
      *this, std::move(placed.nodes), std::move(placed.view), caller.pid());
  json devices = attachment->Devices();
  IBEMU_RETURN_IF_ERROR(attachment->Serve(std::move(fuse), ""));
  caller.Keep(std::move(attachment));
  return json{{"devices", std::move(devices)}};
}

}  // namespace ibemu::daemon
