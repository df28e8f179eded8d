#include "hca/mlx4/verbs/verbs_provider.h"

#include <endian.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "hca/mlx4/core/verbs_attributes.h"
#include "mad/host.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"
#include "testing/mad_builder.h"
#include "testing/mlx4_machine.h"
#include "testing/recording_client.h"

namespace ibemu::hca::mlx4 {
namespace {

using ::testing::Contains, ::testing::ElementsAre;
using testing::Mlx4Lab, testing::Mlx4Machine;
using verbs::AsyncEventType;

class VerbsProviderTest : public Mlx4Lab, public verbs::AsyncEventListener {
 protected:
  using Heard = std::vector<std::pair<AsyncEventType, int>>;

  VerbsProviderTest() {
    device_ = Start(host_);
    Run(absl::Milliseconds(10));
    provider().AddListener(*this);
  }
  ~VerbsProviderTest() override {
    if (device_) provider().RemoveListener(*this);
  }

  verbs::Provider& provider() { return device_->provider(); }
  void Run(absl::Duration span) { RunFor(span, {device_.get()}); }
  Heard Take() {
    Run(absl::Milliseconds(2));
    return std::exchange(heard_, {});
  }

  // The subnet manager sets what `change` changes.
  template <class Change>
  Heard AfterSet(Change change) {
    Take();
    mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
    testing::RecordingClient asker;
    const auto agent = other.Register(1, {.qp = 0}, asker);
    mad::Outgoing set =
        testing::DirectedGet(mad::AttributeId::kPortInfo, {1, 1});
    mad::PortInfo info = device_->port(1).Info();
    info.port_state = static_cast<mad::PortState>(0);  // no change
    info.port_physical_state = static_cast<mad::PortPhysicalState>(0);
    change(info);
    wire::Put<&mad::Smp::hop_pointer>(set.mad, 0);
    wire::Put<&mad::Smp::method>(set.mad, mad::Method::kSet);
    wire::Encode(info, std::span(set.mad).subspan(mad::kSmpDataOffset));
    EXPECT_TRUE((*agent)
                    ->Send({.to = set.to,
                            .mad = {set.mad.begin(), set.mad.end()},
                            .timeout = absl::Milliseconds(20)})
                    .ok());
    return Take();
  }

  Mlx4Machine& host_ = PlugIn();
  std::unique_ptr<Mlx4Device> device_;

 private:
  void OnDeviceEvent(AsyncEventType type, int port) override {
    heard_.emplace_back(type, port);
  }
  Heard heard_;
};

TEST_F(VerbsProviderTest, SaysWhatTheAdapterIs) {
  const verbs::DeviceAttributes device = provider().QueryDevice();
  EXPECT_EQ(wire::Guid{be64toh(device.node_guid)}, device_->node_guid());
  EXPECT_EQ(device.fw_ver, 0x0002'002a'1388u);
  EXPECT_EQ(device.phys_port_cnt, 1);
  EXPECT_EQ(device.max_pkeys, device_->port(1).PKeyCount());
  EXPECT_EQ(device.max_qp, 1024u);
  EXPECT_EQ(device.max_qp_wr, 4095u);
}

TEST_F(VerbsProviderTest, SaysTheSizesOfThePort) {
  const auto port = provider().QueryPort(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(port->max_msg_sz, kMaxMessage);
  EXPECT_EQ(port->gid_tbl_len,
            static_cast<uint32_t>(device_->port(1).GidCount()));
}

TEST_F(VerbsProviderTest, TellsOfWhatASubnetManagerSets) {
  EXPECT_THAT(AfterSet([](auto& info) { info.lid = wire::Lid{0x77}; }),
              ElementsAre(std::pair(AsyncEventType::kLidChange, 1)));
  EXPECT_EQ(provider().QueryPort(1)->lid, 0x77);
  EXPECT_THAT(AfterSet([](auto& info) { info.master_sm_lid = wire::Lid{9}; }),
              ElementsAre(std::pair(AsyncEventType::kSmChange, 1)));
  EXPECT_THAT(AfterSet([](auto& info) { info.gid_prefix = 0x1234; }),
              Contains(std::pair(AsyncEventType::kGidChange, 1)));
  EXPECT_THAT(AfterSet([](auto& info) { info.client_reregister = true; }),
              ElementsAre(std::pair(AsyncEventType::kClientReregister, 1)));
}

TEST_F(VerbsProviderTest, TellsItsUsersOnceThatTheAdapterDied) {
  host_.model.Fail(0x0badcafe);
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(Take(), ElementsAre(std::pair(AsyncEventType::kDeviceFatal, 0)));
  EXPECT_TRUE(absl::IsUnavailable(provider().CreatePd(0).status()));
  EXPECT_EQ(provider().QueryPort(1)->port_cap_flags,
            device_->port(1).Info().capability_mask);
}

TEST_F(VerbsProviderTest, ObjectsMayOutliveTheDevice) {
  auto pd = provider().CreatePd(0);
  ASSERT_TRUE(pd.ok()) << pd.status();
  provider().RemoveListener(*this);
  device_.reset();
  pd->reset();
  EXPECT_EQ(host_.function->mapped(), 0u);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
