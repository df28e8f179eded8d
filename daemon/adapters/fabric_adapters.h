// FabricAdapters: the adapters of a simulated subnet, one for each node.
#ifndef IBEMU_DAEMON_ADAPTERS_FABRIC_ADAPTERS_H_
#define IBEMU_DAEMON_ADAPTERS_FABRIC_ADAPTERS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "control/method_table.h"
#include "daemon/adapters/adapters.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::daemon {

// A FabricAdapters has an adapter for each node of the fabric, switches too,
// under the node's number.  A node whose adapter is elsewhere, in a virtual
// machine or with another daemon, is there but can't be shown.
class FabricAdapters : public Adapters, private fabric::FabricWatcher {
 public:
  // `fabric` must outlive this object.
  explicit FabricAdapters(fabric::Fabric& fabric) : fabric_(fabric) {
    fabric_.AddWatcher(*this);
  }
  ~FabricAdapters() override { fabric_.RemoveWatcher(*this); }
  FabricAdapters(const FabricAdapters&) = delete;
  FabricAdapters& operator=(const FabricAdapters&) = delete;

  static AdapterId IdOf(topology::NodeId node) {
    return static_cast<AdapterId>(node);
  }
  static topology::NodeId NodeOf(AdapterId adapter) {
    return static_cast<topology::NodeId>(adapter);
  }

  // Adds the method `device.set`, which pulls a device out of its host or plugs
  // it in.
  void AddTo(control::MethodTable& dispatcher);

  absl::StatusOr<AdapterId> Find(std::string_view name) const override;
  absl::StatusOr<std::vector<AdapterId>> FindHost(
      std::string_view name) const override;
  std::optional<AdapterId> WithPortGuid(wire::Guid guid) const override;
  absl::StatusOr<AdapterId> Default() const override;
  bool IsRemoved(AdapterId adapter) const override;
  absl::Status CheckShowable(AdapterId adapter) const override;
  std::string description(AdapterId adapter) const override;
  wire::Guid node_guid(AdapterId adapter) const override;
  mad::Device& device(AdapterId adapter) override;
  verbs::Provider& provider(AdapterId adapter) override;
  verbs::HwCounters CountersOf(AdapterId adapter, int port) const override;

 private:
  // fabric::FabricWatcher
  void OnPortChange(fabric::PortId) override {}
  void OnHardwareChange(fabric::PortId) override { by_port_guid_.clear(); }
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket&) override {}

  absl::StatusOr<nlohmann::json> SetDevice(control::Parameters& parameters);
  const fabric::Node& node(AdapterId adapter) const;

  fabric::Fabric& fabric_;
  // By port GUID, which somebody may set; empty until somebody asks.
  mutable absl::flat_hash_map<wire::Guid, AdapterId> by_port_guid_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_FABRIC_ADAPTERS_H_
