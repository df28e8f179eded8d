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
#include "fabric/subnet.h"
#include "nlohmann/json.hpp"
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

json Describe(const sysfs::View& view) {
  json devices = json::array();
  for (const sysfs::ViewDevice& shown : view.devices) {
    mad::Device& device = shown.host->device();
    std::vector<int> umads;
    for (int port = device.first_port(); port <= device.last_port(); ++port) {
      umads.push_back(shown.first_umad + port - device.first_port());
    }
    devices.push_back({{"name", shown.name},
                       {"node", device.node_description()},
                       {"node_guid", GuidText(device.node_guid())},
                       {"umads", umads}});
  }
  return devices;
}

}  // namespace

// One view and the FUSE connection that shows it.
class Attachments::Attachment {
 public:
  Attachment(Attachments& owner, sysfs::View view, int pid)
      : owner_(owner), view_(std::move(view)), pid_(pid) {}

  ~Attachment() { Stop(); }

  absl::Status Serve(UniqueFd fuse) {
    tree_ = std::make_unique<cuse::FuseTree>(
        owner_.loop_, view_, owner_.workers_,
        cuse::FuseTree::Options{.uid = geteuid(), .gid = getegid()});
    owner_.served_.insert(this);
    IBEMU_RETURN_IF_ERROR(tree_->Serve(fuse.Release()));
    return owner_.loop_.WatchEagerly(tree_->fd(), [this] {
      const auto result = tree_->HandleOne();
      if (result == cuse::FuseResult::kEnded) Stop();
      return result == cuse::FuseResult::kHandled;
    });
  }

  json Describe() const {
    return {{"pid", pid_}, {"devices", daemon::Describe(view_)}};
  }

 private:
  // Lets go of the hosts too: the mount is gone for good.
  void Stop() {
    if (tree_ == nullptr) return;
    owner_.loop_.Forget(tree_->fd());
    tree_.reset();
    view_.devices.clear();
    owner_.served_.erase(this);
  }

  Attachments& owner_;
  sysfs::View view_;
  std::unique_ptr<cuse::FuseTree> tree_;
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
}

json Attachments::List() const {
  json list = json::array();
  for (const Attachment* attachment : served_) {
    list.push_back(attachment->Describe());
  }
  return list;
}

std::shared_ptr<mad::Host> Attachments::FindHost(NodeId node) const {
  const auto found = hosts_.find(node);
  return found == hosts_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<mad::Host> Attachments::HostOf(NodeId node) {
  std::shared_ptr<mad::Host> host = FindHost(node);
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
  return nodes;
}

absl::StatusOr<json> Attachments::Attach(Parameters& parameters,
                                         Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("hosts");
  const std::string format = parameters.Text("device_name", "ibemu%d");
  const std::string profile_name = parameters.Text("profile", "qib");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd fuse = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(CheckFuseDescriptor(fuse.get()));
  IBEMU_RETURN_IF_ERROR(CheckPidNamespace(caller.pid()));
  IBEMU_ASSIGN_OR_RETURN(const sysfs::Profile profile,
                         ParseProfile(profile_name));
  IBEMU_ASSIGN_OR_RETURN(const std::vector<NodeId> nodes, FindNodes(names));
  std::vector<std::shared_ptr<mad::Host>> hosts;
  hosts.reserve(nodes.size());
  for (const NodeId node : nodes) hosts.push_back(HostOf(node));
  IBEMU_ASSIGN_OR_RETURN(sysfs::View view,
                         sysfs::MakeView(std::move(hosts), format, profile));

  json devices = Describe(view);
  auto attachment =
      std::make_shared<Attachment>(*this, std::move(view), caller.pid());
  IBEMU_RETURN_IF_ERROR(attachment->Serve(std::move(fuse)));
  caller.Keep(std::move(attachment));
  return json{{"devices", std::move(devices)}};
}

}  // namespace ibemu::daemon
