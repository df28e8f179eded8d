// The software channel adapter: verbs of a node of the fabric.
#ifndef IBEMU_FABRIC_HCA_H_
#define IBEMU_FABRIC_HCA_H_

#include "fabric/subnet.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

class Hca final : public verbs::Provider {
 public:
  // `node` is a channel adapter of `subnet`, which must outlive it.
  Hca(const Subnet& subnet, NodeId node) : subnet_(subnet), id_(node) {}

  verbs::DeviceAttributes QueryDevice() const override;
  absl::StatusOr<verbs::PortAttributes> QueryPort(int port) const override;

 private:
  const Subnet& subnet_;
  const NodeId id_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HCA_H_
