// Two hosts whose kernels are the other ends of sockets.
#include "daemon/networks/host_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/connections/connection_table.h"
#include "ipoib/netdev/packet_path.h"
#include "testing/lab.h"
#include "tests/daemon/virtual_loop.h"
#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab;
using IpBytes = std::vector<std::byte>;

class HostNetworkTest : public ::testing::Test {
 protected:
  struct Kernel {
    UniqueFd end;
    std::unique_ptr<HostNetwork> network;
    int ended = 0;

    void Send(const IpBytes& packet) const {
      ASSERT_EQ(send(end.get(), packet.data(), packet.size(), MSG_DONTWAIT),
                static_cast<ssize_t>(packet.size()));
    }
    std::vector<IpBytes> Received() const {
      std::vector<IpBytes> packets;
      std::array<std::byte, 4096> buffer;
      for (ssize_t size; (size = recv(end.get(), buffer.data(), buffer.size(),
                                      MSG_DONTWAIT)) > 0;) {
        packets.emplace_back(buffer.begin(), buffer.begin() + size);
      }
      return packets;
    }
  };

  HostNetworkTest() { Settle(); }

  std::unique_ptr<Kernel> Make(AdapterId adapter) {
    auto kernel = std::make_unique<Kernel>();
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    kernel->end.Reset(ends[0]);
    kernel->network = std::make_unique<HostNetwork>(
        loop_, connections_.Get(adapter), 1,
        TunDevice(UniqueFd(ends[1]), "ib0"),
        [this](HostConnections& connections, ipoib::Carrier::Device& device) {
          return std::make_unique<ipoib::PacketPath>(
              loop_, *connections.link(1, 0), device);
        });
    EXPECT_TRUE(
        kernel->network->Start([kernel = kernel.get()] { ++kernel->ended; })
            .ok());
    Settle();
    return kernel;
  }
  void Settle() {
    for (int i = 0; i < 20; ++i) {
      loop_.Poll();
      lab_.timers.RunFor(absl::Milliseconds(50));
    }
  }

  Lab lab_{"single-switch:hosts=2", Lab::kByItsManager};
  VirtualLoop loop_{lab_.timers};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{loop_, adapters_};
  const AdapterId first_ = *adapters_.Find("node-1");
  const AdapterId second_ = *adapters_.Find("node-2");
  const AddressPlan plan_ =
      AddressPlan::Numbered(AddressPlan::kUsual, {first_, second_});
  ConnectionTable connections_{loop_, hosts_, plan_, /*seed=*/1};
  std::unique_ptr<Kernel> one_ = Make(first_), two_ = Make(second_);
  const IpBytes packet_ = ipoib::UdpPacket(ipoib::kIpOne, ipoib::kIpTwo);
};

TEST_F(HostNetworkTest, PacketsGoFromKernelToKernel) {
  EXPECT_TRUE(one_->network->carrier().up());
  EXPECT_FALSE(one_->network->waits());
  one_->Send(packet_);
  Settle();
  EXPECT_THAT(two_->Received(), ElementsAre(packet_));
  EXPECT_EQ(one_->network->carrier().counters().sent, 1u);
  EXPECT_EQ(two_->network->carrier().counters().received, 1u);
}

TEST_F(HostNetworkTest, ABurstIsNotLostForWantOfRoom) {
  one_->Send(packet_);
  Settle();
  (void)two_->Received();
  size_t sent = 0;
  size_t received = 0;
  for (int round = 0; round < 8; ++round) {
    // The queue of a unix socket is short.
    for (int i = 0; i < 8; ++i, ++sent) one_->Send(packet_);
    loop_.Poll();
    received += two_->Received().size();
  }
  Settle();
  received += two_->Received().size();
  EXPECT_EQ(received, sent);
}

TEST_F(HostNetworkTest, AKernelThatReadsNothingHoldsNobodyUp) {
  for (int i = 0; i < 2000; ++i) {
    one_->Send(packet_);
    loop_.Poll();
  }
  Settle();
  EXPECT_EQ(one_->network->carrier().counters().sent, 2000u);
  EXPECT_EQ(two_->ended, 0);
  const size_t held = two_->Received().size();
  EXPECT_LT(held, 2000u);
  one_->Send(packet_);
  Settle();
  EXPECT_THAT(two_->Received(), SizeIs(1));
}

TEST_F(HostNetworkTest, AnyBytesMayComeFromTheDevice) {
  one_->Send(IpBytes{std::byte{0}});
  one_->Send(IpBytes(9000, std::byte{0x45}));
  one_->Send(IpBytes(60, std::byte{0xff}));
  one_->Send(packet_);
  Settle();
  EXPECT_THAT(two_->Received(), ElementsAre(packet_));
  EXPECT_EQ(one_->ended, 0);
}

TEST_F(HostNetworkTest, TheEndOfTheDeviceIsTheEnd) {
  one_->end.Reset();
  Settle();
  EXPECT_EQ(one_->ended, 1);
  EXPECT_TRUE(one_->network->ended());
  two_->Send(ipoib::UdpPacket(ipoib::kIpTwo, ipoib::kIpOne));
  Settle();
  EXPECT_THAT(two_->Received(), IsEmpty());
}

TEST_F(HostNetworkTest, TheEndOfTheAdapterIsTheEnd) {
  hosts_.Forget(first_);
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  Settle();
  EXPECT_EQ(one_->ended, 1);
  std::array<std::byte, 64> buffer;
  EXPECT_EQ(recv(one_->end.get(), buffer.data(), buffer.size(), 0), 0)
      << "the descriptor is closed";
}

TEST_F(HostNetworkTest, ANetworkThatIsDestroyedLeavesItsHostToOthers) {
  one_.reset();
  one_ = Make(first_);
  one_->Send(packet_);
  Settle();
  EXPECT_THAT(two_->Received(), ElementsAre(packet_));
}

}  // namespace
}  // namespace ibemu::daemon
