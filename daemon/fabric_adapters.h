// The adapters of a simulated subnet's nodes.
#ifndef IBEMU_DAEMON_FABRIC_ADAPTERS_H_
#define IBEMU_DAEMON_FABRIC_ADAPTERS_H_

#include <string>
#include <string_view>

#include "daemon/adapters.h"
#include "daemon/rpc.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

class FabricAdapters : public Adapters {
 public:
  // `fabric` must outlive this.
  explicit FabricAdapters(fabric::Fabric& fabric) : fabric_(fabric) {}

  static AdapterId IdOf(fabric::NodeId node) {
    return static_cast<AdapterId>(node);
  }
  static fabric::NodeId NodeOf(AdapterId adapter) {
    return static_cast<fabric::NodeId>(adapter);
  }

  // Adds the method `device.set`: pulls a device out of its host, or plugs it
  // in.
  void AddTo(Dispatcher& dispatcher);

  absl::StatusOr<AdapterId> Find(std::string_view name) const override;
  absl::StatusOr<AdapterId> Default() const override;
  absl::Status CheckShowable(AdapterId adapter) const override;
  std::string description(AdapterId adapter) const override;
  mad::Guid node_guid(AdapterId adapter) const override;
  mad::Device& device(AdapterId adapter) override;
  verbs::Provider& provider(AdapterId adapter) override;

 private:
  absl::StatusOr<nlohmann::json> SetDevice(Parameters& parameters);
  const fabric::Node& node(AdapterId adapter) const;

  fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_FABRIC_ADAPTERS_H_
