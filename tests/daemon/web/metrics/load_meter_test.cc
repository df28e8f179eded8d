#include "daemon/web/metrics/load_meter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::DoubleNear, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain;

// host-1 – sw1 – host-2, at 4x HDR: 200 Gb/s.
class LoadMeterTest : public ::testing::Test {
 protected:
  static constexpr double kBytesPerSecond = 200e9 / 8;

  // Of the link of host-1, by its host's end.
  void Carry(double sent_bytes, double received_bytes) {
    fabric::Subnet& subnet = lab_.subnet();
    auto& traffic = subnet.port(subnet.port_id(lab_.Host(1), 1)).traffic;
    traffic.xmit_data += static_cast<uint64_t>(sent_bytes / 4);
    traffic.rcv_data += static_cast<uint64_t>(received_bytes / 4);
  }
  LoadMeter::Found LookAfter(absl::Duration pause) {
    now_ += pause;
    const fabric::Subnet& subnet = lab_.subnet();
    size_t slice = 0;
    while (meter_.Look(subnet, slice, now_)) ++slice;
    return meter_.Take();
  }

  Lab lab_{Chain(1), Lab::kStatically};
  LoadMeter meter_;
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(LoadMeterTest, KnowsNothingBeforeTheSecondLook) {
  Carry(1000, 1000);
  EXPECT_THAT(LookAfter(absl::ZeroDuration()).links, IsEmpty());
}

TEST_F(LoadMeterTest, TellsWhatALinkCarriedInASecond) {
  LookAfter(absl::ZeroDuration());
  Carry(kBytesPerSecond, kBytesPerSecond / 2);
  const LoadMeter::Found found = LookAfter(absl::Seconds(2));
  ASSERT_THAT(found.links, SizeIs(1));
  const LinkLoad& load = found.links[0];
  EXPECT_EQ(load.port, lab_.subnet().port_id(lab_.Host(1), 1));
  EXPECT_THAT(load.sent, DoubleNear(kBytesPerSecond / 2, 10));
  EXPECT_THAT(load.received, DoubleNear(kBytesPerSecond / 4, 10));
  EXPECT_THAT(load.share, DoubleNear(0.5, 1e-6));
  EXPECT_EQ(found.others, 0u);
}

TEST_F(LoadMeterTest, TellsOfPacketsAndOfErrorsToo) {
  LookAfter(absl::ZeroDuration());
  fabric::Subnet& subnet = lab_.subnet();
  fabric::NodePort& port = subnet.port(subnet.port_id(lab_.Host(1), 1));
  port.traffic.xmit_packets += 30;
  port.traffic.rcv_packets += 10;
  subnet.port(port.peer).Events().symbol_errors = 7;
  const LoadMeter::Found found = LookAfter(absl::Seconds(2));
  ASSERT_THAT(found.links, SizeIs(1));
  EXPECT_EQ(found.links[0].sent_packets, 15);
  EXPECT_EQ(found.links[0].received_packets, 5);
  EXPECT_EQ(found.links[0].errors, 7u);
  EXPECT_EQ(found.links[0].share, 0);
}

TEST_F(LoadMeterTest, IdleLinksAreNotTold) {
  LookAfter(absl::ZeroDuration());
  Carry(4000, 0);
  EXPECT_THAT(LookAfter(absl::Seconds(1)).links, SizeIs(1));
  EXPECT_THAT(LookAfter(absl::Seconds(1)).links, IsEmpty());
}

// Thousands of links, and more than one slice of ports.
TEST(LoadMeterOfManyTest, TellsTheBusiestOfManyLinks) {
  fabric::Subnet subnet(testing::FromText("torus:50x50,hosts=2"));
  LoadMeter meter;
  size_t slices = 1;
  while (meter.Look(subnet, slices - 1, absl::UnixEpoch())) ++slices;
  EXPECT_GT(slices, 1u);
  size_t links = 0;
  for (fabric::NodePort& port : subnet.ports()) {
    if (port.peer == fabric::kNoPort || subnet.id_of(port) > port.peer) {
      continue;
    }
    port.traffic.xmit_data = ++links;
  }
  for (size_t slice = 0; slice < slices; ++slice) {
    meter.Look(subnet, slice, absl::UnixEpoch() + absl::Seconds(1));
  }
  const LoadMeter::Found found = meter.Take();
  ASSERT_THAT(found.links, SizeIs(LoadMeter::kMaxLinks));
  EXPECT_EQ(found.others, links - LoadMeter::kMaxLinks);
  EXPECT_EQ(found.links.front().sent, 4.0 * static_cast<double>(links));
  EXPECT_EQ(found.links.back().sent,
            4.0 * static_cast<double>(found.others + 1));
}

}  // namespace
}  // namespace ibemu::daemon
