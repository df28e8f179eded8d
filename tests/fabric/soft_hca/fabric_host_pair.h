// Two hosts of the simulated subnet.
#ifndef IBEMU_TESTS_FABRIC_SOFT_HCA_FABRIC_HOST_PAIR_H_
#define IBEMU_TESTS_FABRIC_SOFT_HCA_FABRIC_HOST_PAIR_H_

#include <gtest/gtest.h>

#include <vector>

#include "fabric/fabric.h"
#include "fabric/subnet/subnet.h"
#include "testing/lab.h"
#include "testing/virtual_timers.h"
#include "tests/verbs/providers/host_pair.h"

namespace ibemu::fabric {

// A FabricHostPair is two hosts with the software's adapters.
class FabricHostPair : public verbs::HostPair,
                       private verbs::AsyncEventListener {
 public:
  using HostNumber = verbs::HostNumber;

  explicit FabricHostPair(uint64_t seed)
      : lab_(testing::Chain(1), testing::Lab::kStatically, seed) {
    for (const HostNumber host : {HostNumber::kOne, HostNumber::kTwo}) {
      providers_.push_back(&fabric_.provider(NodeOf(host)));
      // One that is pulled out lives as long as somebody listens.
      providers_.back()->AddListener(*this);
    }
  }
  ~FabricHostPair() override {
    for (verbs::Provider* const provider : providers_) {
      provider->RemoveListener(*this);
    }
  }

  Timers& timers() override { return timers_; }
  verbs::Provider& provider(HostNumber host) override {
    return *providers_[static_cast<size_t>(host)];
  }
  verbs::GidBytes gid(HostNumber host) override { return GidOf(device(host)); }
  uint64_t node_guid(HostNumber host) override {
    return static_cast<uint64_t>(device(host).node_guid());
  }
  void RunFor(absl::Duration span) override { timers_.RunFor(span); }

  void LoseFrom(HostNumber host, double chance) override {
    const auto fault = fabric_.AddFault(
        NodeOf(host), 1, Fabric::Direction::kTransmit, {.loss = chance});
    EXPECT_TRUE(fault.ok()) << fault.status();
  }
  void SetLink(HostNumber host, bool up) override {
    EXPECT_TRUE(fabric_.SetLink(NodeOf(host), 1, up).ok());
    if (up) lab_.Configure();
  }
  void ForwardMulticast(uint16_t lid) override {
    Node& node = lab_.subnet().node(lab_.Switch(1));
    for (const int port : {1, 2}) {
      node.sw->multicast.Set(wire::Lid{lid}, port, true);
    }
  }
  void Break(HostNumber host) override {
    EXPECT_TRUE(fabric_.RemoveDevice(NodeOf(host)).ok());
  }

 protected:
  static const char* NameOf(HostNumber host) {
    return host == HostNumber::kOne ? "host-1" : "host-2";
  }
  topology::NodeId NodeOf(HostNumber host) const {
    return lab_.Host(host == HostNumber::kOne ? 1 : 2);
  }
  mad::Device& device(HostNumber host) { return fabric_.device(NodeOf(host)); }
  static verbs::GidBytes GidOf(mad::Device& device) {
    const wire::Gid gid = device.port(1).GidAt(0);
    verbs::GidBytes bytes{};
    for (size_t i = 0; i < 8; ++i) {
      bytes[i] = static_cast<uint8_t>(gid.prefix >> (56 - 8 * i));
      bytes[8 + i] = static_cast<uint8_t>(gid.interface_id >> (56 - 8 * i));
    }
    return bytes;
  }

  testing::Lab lab_;
  testing::VirtualTimers& timers_ = lab_.timers;
  Fabric& fabric_ = lab_.fabric;

 private:
  void OnDeviceEvent(verbs::AsyncEventType /*type*/, int /*port*/) override {}

  std::vector<verbs::Provider*> providers_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SOFT_HCA_FABRIC_HOST_PAIR_H_
