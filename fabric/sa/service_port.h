// ServicePort: a port of the fabric, as a service inside the fabric uses it.
#ifndef IBEMU_FABRIC_SA_SERVICE_PORT_H_
#define IBEMU_FABRIC_SA_SERVICE_PORT_H_

#include <string>
#include <string_view>

#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/device.h"

namespace ibemu::fabric {

// A device with one port, for a mad::Host that is separate from that of the
// node's programs.  It sends from the same port, and receives what is passed to
// Receive().
class ServicePort : public mad::Device, public mad::Port {
 public:
  ServicePort(const Subnet& subnet, MadSender& sender, PortId id)
      : subnet_(subnet), sender_(sender), id_(id) {}

  void Receive(const mad::Arrival& arrival) {
    if (listener_ != nullptr) listener_->OnReceive(arrival);
  }

  // mad::Device.
  mad::NodeType type() const override { return mad::NodeType::kChannelAdapter; }
  wire::Guid node_guid() const override { return subnet_.port(id_).guid; }
  wire::Guid system_image_guid() const override { return node_guid(); }
  std::string node_description() const override { return {}; }
  void SetNodeDescription(std::string_view) override {}
  int first_port() const override { return 1; }
  int last_port() const override { return 1; }
  mad::Port& port(int) override { return *this; }
  void SetListener(mad::DeviceListener*) override {}

  // mad::Port.
  absl::Status Transmit(const mad::Outgoing& packet) override {
    sender_.SendMad(id_, packet);
    return absl::OkStatus();
  }
  mad::LocalVerdict ProcessLocal(const mad::Arrival&, mad::MadBytes&) override {
    return mad::LocalVerdict::kUnhandled;
  }
  void SetListener(mad::PortListener* listener) override {
    listener_ = listener;
  }
  mad::PortInfo Info() const override { return subnet_.port(id_).info; }
  int GidCount() const override { return kGuidTableEntries; }
  wire::Gid GidAt(int index) const override {
    const NodePort& port = subnet_.port(id_);
    return {.prefix = port.info.gid_prefix, .interface_id = port.GuidAt(index)};
  }
  int PKeyCount() const override { return subnet_.NodeOf(id_).p_key_entries(); }
  uint16_t PKeyAt(int index) const override {
    return subnet_.port(id_).PKeyAt(index);
  }
  void SetIsSm(bool) override {}

 private:
  const Subnet& subnet_;
  MadSender& sender_;
  const PortId id_;
  mad::PortListener* listener_ = nullptr;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SERVICE_PORT_H_
