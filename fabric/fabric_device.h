// FabricDevice and FabricPort: a node of the fabric as its host sees it.
#ifndef IBEMU_FABRIC_FABRIC_DEVICE_H_
#define IBEMU_FABRIC_FABRIC_DEVICE_H_

#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "fabric/agents/sma_notices.h"
#include "fabric/forwarding/endpoints.h"
#include "fabric/history/sweep_history.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/subnet.h"
#include "mad/device.h"
#include "mad/port.h"

namespace ibemu::fabric {

// An end port: one of a CA or router, or port 0 of a switch.
class FabricPort : public mad::Port {
 public:
  FabricPort(Subnet& subnet, Endpoints& endpoints, SmaNotices& notices,
             FabricEvents& events, SweepHistory& sweeps, PortId id);
  ~FabricPort() override;

  absl::Status Transmit(const mad::Outgoing& packet) override;
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override;
  void SetListener(mad::PortListener* listener) override;
  mad::PortInfo Info() const override;
  int GidCount() const override;
  wire::Gid GidAt(int index) const override;
  int PKeyCount() const override;
  uint16_t PKeyAt(int index) const override;
  void SetIsSm(bool is_sm) override;

 private:
  void SetCapability(bool is_sm);

  Subnet& subnet_;
  Endpoints& endpoints_;
  SmaNotices& notices_;
  FabricEvents& events_;
  SweepHistory& sweeps_;
  const PortId id_;
};

// The node, with one FabricPort for each end port.
class FabricDevice : public mad::Device {
 public:
  FabricDevice(Subnet& subnet, Endpoints& endpoints, SmaNotices& notices,
               FabricEvents& events, SweepHistory& sweeps, topology::NodeId id);

  mad::NodeType type() const override;
  wire::Guid node_guid() const override;
  wire::Guid system_image_guid() const override;
  const mad::DeviceLabel* label() const override { return node().label.get(); }
  std::string node_description() const override;
  void SetNodeDescription(std::string_view text) override;
  int first_port() const override;
  int last_port() const override;
  mad::Port& port(int number) override;
  void SetListener(mad::DeviceListener* listener) override;

  mad::DeviceListener* listener() const { return listener_; }

  // Tells the listener that the device is gone, and drops it.
  void Remove();

 private:
  const Node& node() const { return subnet_.node(id_); }

  Subnet& subnet_;
  Endpoints& endpoints_;
  SmaNotices& notices_;
  const topology::NodeId id_;
  std::deque<FabricPort> ports_;
  mad::DeviceListener* listener_ = nullptr;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FABRIC_DEVICE_H_
