#include "hca/mlx4/mlx4_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fabric/subnet/subnet.h"
#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "mad/host.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"
#include "testing/mad_builder.h"
#include "testing/recording_client.h"
#include "tests/hca/mlx4/device_lab.h"
#include "tests/hca/mlx4/troubled_function.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, wire::Lid, mad::LocalVerdict, mad::Method,
    mad::MgmtClass, mad::Smp;
using model::mlx4::QueueKind;
using prm::CommandStatus, prm::Opcode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::RecordingClient;
using ::testing::SizeIs;

using Mlx4DeviceTest = DeviceLab;

TEST_F(Mlx4DeviceTest, TellsWhoItIs) {
  const mad::Device& node = fabric_.device(lab_.Find("host-1"));
  EXPECT_EQ(device_->node_guid(), node.node_guid());
  EXPECT_EQ(device_->system_image_guid(), node.system_image_guid());
  EXPECT_EQ(device_->node_description(), "host-1");
  EXPECT_EQ(device_->last_port(), 1);
  EXPECT_EQ(device_->label()->firmware, "2.42.5000");
  EXPECT_EQ(device_->label()->hca_type, "MT4099");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Mlx4DeviceTest, BringsItsPortUp) {
  const mad::PortInfo info = device_->port(1).Info();
  EXPECT_EQ(info.port_state, mad::PortState::kActive);
  EXPECT_EQ(info.lid, FabricsView().lid);
  EXPECT_NE(info.lid, Lid::kUnassigned);
  EXPECT_THAT(listener_.events, Contains(1));
  EXPECT_EQ(device_->port(1).PKeyAt(0), 0xffff);
  EXPECT_EQ(device_->port(1).GidAt(0),
            fabric_.device(lab_.Find("host-1")).port(1).GidAt(0));
}

TEST_F(Mlx4DeviceTest, GivesCommandsInTheOrderOfTheLinuxDriver) {
  std::vector<std::string> names;
  for (const std::string& name : host_.trace.Names()) {
    if (name != "MAD_IFC" && name != "MAP_ICM") names.push_back(name);
  }
  EXPECT_THAT(
      names,
      ElementsAre("QUERY_FW", "MAP_FA", "RUN_FW", "MOD_STAT_CFG",
                  "QUERY_DEV_CAP", "QUERY_PORT", "SET_ICM_SIZE", "MAP_ICM_AUX",
                  "INIT_HCA", "QUERY_ADAPTER", "SW2HW_EQ", "MAP_EQ",
                  "CONF_SPECIAL_QP", "SW2HW_MPT", "SW2HW_CQ", "SET_PORT",
                  "RST2INIT_QP", "INIT2RTR_QP", "INIT_PORT", "RTR2RTS_QP",
                  "RST2INIT_QP", "INIT2RTR_QP", "RTR2RTS_QP"));
  for (const model::CommandRecord& record : host_.trace.records) {
    EXPECT_EQ(record.status, CommandStatus::kOk) << prm::Name(record.opcode);
  }
}

TEST_F(Mlx4DeviceTest, TakesAsManyVlsAsFirmwareAllows) {
  device_.reset();
  host_.trace.records.clear();
  host_.model.faults().Refuse(Opcode::kSetPort, CommandStatus::kExceedLimit, 2);
  device_ = Start(host_);
  std::vector<int> asked;
  for (const model::CommandRecord& record : host_.trace.records) {
    if (record.opcode != Opcode::kSetPort) continue;
    const auto wanted = wire::Decode<prm::SetPort>(
        std::span(record.inbox).first<wire::kBytes<prm::SetPort>>());
    EXPECT_TRUE(wanted.change_vl_cap);
    asked.push_back(wanted.vl_cap);
  }
  EXPECT_THAT(asked, ElementsAre(8, 4, 2));
}

TEST_F(Mlx4DeviceTest, RefusesAPortInEthernetMode) {
  device_.reset();
  host_.model.SetPortType(1, prm::PortType::kEthernet);
  const auto device = Mlx4Device::Start(*host_.function, timers_, Options());
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()),
              HasSubstr("port 1 is in Ethernet mode"));
  EXPECT_EQ(host_.function->mapped(), 0u);
}

TEST_F(Mlx4DeviceTest, RefusesAPortThatTakesNoVlAtAll) {
  device_.reset();
  host_.model.faults().Refuse(Opcode::kSetPort, CommandStatus::kExceedLimit, 4);
  const auto device = Mlx4Device::Start(*host_.function, timers_, Options());
  EXPECT_THAT(std::string(device.status().message()), HasSubstr("EXCEED_LIM"));
  EXPECT_EQ(host_.function->mapped(), 0u);
}

TEST_F(Mlx4DeviceTest, KeepsOffTheEventQueuesOnFirmwaresUarPages) {
  device_.reset();
  host_.model.limits().num_rsvd_uar = 3;
  EXPECT_TRUE(Start(host_)) << "its model refuses the first twelve";
}

TEST_F(Mlx4DeviceTest, LeavesNothingBehind) {
  host_.trace.records.clear();
  device_.reset();
  EXPECT_THAT(
      host_.trace.Names(),
      ElementsAre("2RST_QP", "CLOSE_PORT", "2RST_QP", "HW2SW_CQ", "HW2SW_MPT",
                  "CONF_SPECIAL_QP", "MAP_EQ", "HW2SW_EQ", "CLOSE_HCA",
                  "UNMAP_ICM", "UNMAP_ICM_AUX", "UNMAP_FA"));
  EXPECT_EQ(host_.function->mapped(), 0u);
  EXPECT_EQ(host_.model.icm_pages(), 0u);
  EXPECT_EQ(host_.function->faults(), 0);
  EXPECT_EQ(host_.model.violations(), 0);
  EXPECT_EQ(FabricsView().port_state, mad::PortState::kDown);
}

TEST_F(Mlx4DeviceTest, AnswersItsOwnAgentsWithoutTheWire) {
  mad::Host host(timers_, *device_);
  const auto agent = Register(host, 0);
  const auto answers = Ask(*agent, Directed(AttributeId::kNodeInfo, {}));
  ASSERT_THAT(answers, SizeIs(1));
  const auto smp = wire::Decode<Smp>(answers[0].mad);
  EXPECT_EQ(smp.method, Method::kGetResp);
  EXPECT_EQ(wire::Decode<mad::NodeInfo>(smp.data).node_guid,
            device_->node_guid());
}

TEST_F(Mlx4DeviceTest, ReachesTheNextSwitchByADirectedRoute) {
  mad::Host host(timers_, *device_);
  const auto agent = Register(host, 0);
  const auto answers = Ask(*agent, Directed(AttributeId::kNodeInfo, {1}));
  ASSERT_THAT(answers, SizeIs(1));
  const auto smp = wire::Decode<Smp>(answers[0].mad);
  const auto node = wire::Decode<mad::NodeInfo>(smp.data);
  EXPECT_EQ(node.node_type, mad::NodeType::kSwitch);
  EXPECT_EQ(node.local_port_num, 1);
}

TEST_F(Mlx4DeviceTest, ReachesAHostByItsLidThroughBothQueuePairs) {
  mad::Host host(timers_, *device_);
  const Lid peer = fabric_.device(lab_.Find("host-2")).port(1).Info().lid;
  const auto smps = Register(host, 0);
  EXPECT_THAT(Ask(*smps, testing::LidGet(0, MgmtClass::kSubnetLidRouted, peer,
                                         AttributeId::kNodeInfo)),
              SizeIs(1));
  const auto gmps = Register(host, 1);
  const auto answers =
      Ask(*gmps, testing::LidGet(1, MgmtClass::kPerformance, peer,
                                 AttributeId::kClassPortInfo));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, peer);
  EXPECT_EQ(answers[0].source_qpn, 1u);
}

TEST_F(Mlx4DeviceTest, LetsItsFirmwareAnswerOthers) {
  mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
  const auto agent = Register(other, 0);
  const auto directed = Ask(*agent, Directed(AttributeId::kNodeInfo, {1, 1}));
  ASSERT_THAT(directed, SizeIs(1));
  EXPECT_EQ(wire::Decode<mad::NodeInfo>(wire::Decode<Smp>(directed[0].mad).data)
                .node_guid,
            device_->node_guid());
  const Lid lid = device_->port(1).Info().lid;
  const auto gmps = Register(other, 1);
  EXPECT_THAT(Ask(*gmps, testing::LidGet(1, MgmtClass::kPerformance, lid,
                                         AttributeId::kClassPortInfo)),
              SizeIs(1));
}

TEST_F(Mlx4DeviceTest, HandsUpWhatItsFirmwareDoesNotKnow) {
  mad::Host host(timers_, *device_);
  RecordingClient server;
  mad::Registration wanted{
      .mgmt_class = static_cast<uint8_t>(MgmtClass::kSubnetAdministration),
      .mgmt_class_version = 2};
  wanted.methods.set(static_cast<size_t>(Method::kGet));
  const auto registered = host.Register(1, wanted, server);
  ASSERT_TRUE(registered.ok()) << registered.status();

  mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
  const auto agent = Register(other, 1);
  mad::Outgoing request =
      testing::LidGet(1, MgmtClass::kSubnetAdministration,
                      device_->port(1).Info().lid, AttributeId::kNodeRecord);
  wire::Put<&mad::MadHeader::class_version>(request.mad, 2);
  Ask(*agent, request);
  ASSERT_THAT(server.inbox, SizeIs(1));
  EXPECT_EQ(server.inbox[0].slid,
            fabric_.device(lab_.Find("host-2")).port(1).Info().lid);
  EXPECT_EQ(server.inbox[0].source_qpn, 1u);
}

TEST_F(Mlx4DeviceTest, FollowsASubnetManager) {
  mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
  const auto agent = Register(other, 0);
  listener_.events.clear();
  mad::Outgoing set = Directed(AttributeId::kPortInfo, {1, 1});
  mad::PortInfo info = device_->port(1).Info();
  info.lid = Lid{0x123};
  info.port_state = static_cast<mad::PortState>(0);  // no change
  info.port_physical_state = static_cast<mad::PortPhysicalState>(0);
  wire::Put<&Smp::method>(set.mad, Method::kSet);
  wire::Encode(info, std::span(set.mad).subspan(mad::kSmpDataOffset));
  EXPECT_THAT(Ask(*agent, set), SizeIs(1));
  EXPECT_EQ(device_->port(1).Info().lid, Lid{0x123});
  EXPECT_THAT(listener_.events, Contains(1));
}

TEST_F(Mlx4DeviceTest, NoticesThatItsCableIsCut) {
  listener_.events.clear();
  ASSERT_TRUE(fabric_.SetLink(lab_.Find("host-1"), 1, false).ok());
  Run(absl::Milliseconds(1));
  EXPECT_EQ(device_->port(1).Info().port_state, mad::PortState::kDown);
  EXPECT_THAT(listener_.events, Contains(1));
}

TEST_F(Mlx4DeviceTest, SetsIsSm) {
  device_->port(1).SetIsSm(true);
  EXPECT_NE(FabricsView().capability_mask & mad::capability::kIsSm, 0u);
  EXPECT_NE(device_->port(1).Info().capability_mask & mad::capability::kIsSm,
            0u);
  device_->port(1).SetIsSm(false);
  EXPECT_EQ(FabricsView().capability_mask & mad::capability::kIsSm, 0u);
}

TEST_F(Mlx4DeviceTest, AnswersWithTheDescriptionThatItWasGiven) {
  device_->SetNodeDescription("rack 7");
  mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
  const auto agent = Register(other, 0);
  const auto answers =
      Ask(*agent, Directed(AttributeId::kNodeDescription, {1, 1}));
  ASSERT_THAT(answers, SizeIs(1));
  const auto description = wire::Decode<mad::NodeDescription>(
      wire::Decode<Smp>(answers[0].mad).data);
  EXPECT_STREQ(description.text.data(), "rack 7");
}

TEST_F(Mlx4DeviceTest, RefusesAnAdapterWithoutAPageOfDoorbellsForIt) {
  device_.reset();
  TroubledFunction function(*host_.function);
  function.longest_bar = size_t{129} * prm::kUarPageSize;
  const auto device = Mlx4Device::Start(function, timers_, Options());
  EXPECT_EQ(device.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(device.status().message()),
              HasSubstr("BAR 2 has 129 pages of doorbells"));
  EXPECT_EQ(host_.function->mapped(), 0u);
}

TEST_F(Mlx4DeviceTest, RefusesGidsThatItDoesNotHave) {
  mad::Outgoing packet;
  packet.qp = 1;
  packet.to.grh = mad::GlobalRoute{.gid_index = 200};
  EXPECT_EQ(device_->port(1).Transmit(packet).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
