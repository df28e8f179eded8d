#include "daemon/capture/link_capture.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/capture/capture_format.h"
#include "daemon/capture/pcap_file.h"
#include "fabric/packet/packet_bytes.h"
#include "testing/lab.h"
#include "tests/daemon/capture/capture_reader.h"

namespace ibemu::daemon {
namespace {

using fabric::PortId;
using ::testing::ElementsAre;
using testing::Lab, testing::Chain, testing::LidGet;

class LinkCaptureTest : public ::testing::Test, protected CaptureReader {
 protected:
  void SetUp() override { lab_.Configure(); }

  void Start(LinkCapture::Ports ports = {}, bool tell_ports = false) {
    UniqueFd stream = Open();
    daemons_end_ = stream.get();
    capture_ = std::make_shared<LinkCapture>(
        *loop, lab_.fabric, std::move(ports), std::move(stream),
        CaptureStream::Options{.tell_ports = tell_ports});
    ASSERT_TRUE(capture_->Start().ok());
  }

  // Host 1 asks host 2: two packets, each over two links.
  void Ask() {
    ASSERT_EQ(lab_.Send(LidGet(0, mad::MgmtClass::kSubnetLidRouted,
                               wire::Lid{2}, mad::AttributeId::kNodeInfo))
                  .size(),
              1u);
  }

  PortId Id(topology::NodeId node, int port) {
    return lab_.subnet().port_id(node, port);
  }

  Lab lab_{Chain(1)};
  int daemons_end_ = -1;
  std::shared_ptr<LinkCapture> capture_;
  PcapFile pcap_;
};

TEST_F(LinkCaptureTest, EachCrossingIsARecord) {
  Start();
  Ask();
  CaptureFile file(pcap_, 100);
  EXPECT_FALSE(Read(file));
  EXPECT_EQ(file.packets(), 4u);
  EXPECT_EQ(file.lost(), 0u);
  EXPECT_EQ(written.size(), 4u * (16 + 16 + 290));
}

TEST_F(LinkCaptureTest, APortsLinkIsThatOfBothItsEnds) {
  for (const PortId port : {Id(lab_.Host(1), 1), Id(lab_.Switch(1), 1)}) {
    Start({port});
    Ask();
    CaptureFile file(pcap_, 100);
    EXPECT_FALSE(Read(file));
    EXPECT_EQ(file.packets(), 2u);
  }
}

TEST_F(LinkCaptureTest, WhoHasEnoughGetsTheRestAndTheEnd) {
  Start();
  Ask();
  ASSERT_EQ(shutdown(socket.get(), SHUT_WR), 0);
  CaptureFile file(pcap_, 100);
  EXPECT_TRUE(Read(file));
  EXPECT_TRUE(file.ended());
  EXPECT_EQ(file.packets(), 4u);
  Ask();
  EXPECT_TRUE(Read(file));
  EXPECT_EQ(file.packets(), 4u);
}

TEST_F(LinkCaptureTest, ASlowReaderLosesPacketsAndIsToldHowMany) {
  Start();
  constexpr uint64_t kCrossings = 40'000;  // 12 MB
  for (uint64_t i = 0; i < kCrossings / 4; ++i) Ask();
  ASSERT_EQ(shutdown(socket.get(), SHUT_WR), 0);
  CaptureFile file(pcap_, kCrossings);
  EXPECT_TRUE(Read(file));
  EXPECT_TRUE(file.ended());
  EXPECT_GT(file.lost(), 0u);
  EXPECT_GE(file.packets() * (16 + 290), control::BoundedStream::kMaxBuffered);
  EXPECT_EQ(file.packets() + file.lost(), kCrossings);
}

TEST_F(LinkCaptureTest, AReaderThatGoesEndsIt) {
  Start();
  Ask();
  socket.Reset();
  Ask();
  Settle();
  EXPECT_EQ(fcntl(daemons_end_, F_GETFD), -1);  // closed
  Ask();
}

TEST_F(LinkCaptureTest, ACaptureMayEndWithPacketsInItsBuffer) {
  Start();
  Ask();
  capture_.reset();
  Ask();
  CaptureFile file(pcap_, 100);
  EXPECT_TRUE(Read(file));
  EXPECT_FALSE(file.ended());
}

// Notes what it is told.
struct Told : PacketFile {
  void Begin(std::vector<std::byte>& /*file*/) override {}
  void Port(uint32_t /*id*/, std::string_view name, std::string_view peer,
            std::vector<std::byte>& /*file*/) override {
    all.push_back(std::string(name) + " " + std::string(peer));
  }
  void Packet(const ErfHeader& /*header*/,
              std::span<const std::byte> /*record*/,
              std::vector<std::byte>& /*file*/) override {
    all.emplace_back("packet");
  }

  std::vector<std::string> all;
};

TEST_F(LinkCaptureTest, PortsAreToldWhenTheyChangeAndNamedOnce) {
  Start({}, /*tell_ports=*/true);
  Ask();
  Ask();
  Told told;
  CaptureFile file(told, 100);
  EXPECT_FALSE(Read(file));
  // Two packets to the other host and back, twice.
  EXPECT_THAT(
      told.all,
      ElementsAre("host-1/1 sw1/1", "packet", "sw1/2 host-2/1", "packet",
                  "host-2/1 sw1/2", "packet", "sw1/1 host-1/1", "packet", " ",
                  "packet", " ", "packet", " ", "packet", " ", "packet"));
}

}  // namespace
}  // namespace ibemu::daemon
