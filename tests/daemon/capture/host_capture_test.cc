#include "daemon/capture/host_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/adapters/fabric_adapters.h"
#include "mad/host.h"
#include "mad/wire/mad_header.h"
#include "testing/lab.h"
#include "tests/daemon/capture/capture_reader.h"
#include "wire/packet_headers.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Lab, testing::Chain, testing::LidGet;

// Notes what each packet is.
struct Noted : PacketFile {
  void Begin(std::vector<std::byte>& /*file*/) override {}
  void Port(uint32_t /*id*/, std::string_view name, std::string_view /*peer*/,
            std::vector<std::byte>& /*file*/) override {
    all.emplace_back(name);
  }
  void Packet(const ErfHeader& header, std::span<const std::byte> record,
              std::vector<std::byte>& /*file*/) override {
    constexpr size_t kMad = 16 + 8 + 12 + 8;  // ERF, LRH, BTH, DETH
    const auto lrh = wire::Decode<wire::LocalRouteHeader>(record.subspan(16));
    const auto mad = wire::Decode<mad::MadHeader>(record.subspan(kMad));
    const bool sent = header.direction == ErfHeader::Direction::kSent;
    all.push_back(absl::StrCat(sent ? "sent " : "received ",
                               static_cast<int>(mad.method), " on VL ",
                               static_cast<int>(lrh.vl)));
  }

  std::vector<std::string> all;
};

class HostCaptureTest : public ::testing::Test,
                        protected CaptureReader,
                        private mad::AgentClient {
 protected:
  void Start(const std::string& name) {
    capture_ = std::make_unique<HostCapture>(
        *loop, hosts_, *adapters_.Find(name), Open(),
        CaptureStream::Options{.tell_ports = true});
    ASSERT_TRUE(capture_->Start().ok());
  }

  // The host asks host 2 for its NodeInfo, and for its counters' ClassPortInfo.
  void Ask(mad::Host& host) {
    const int port = host.device().first_port();
    for (const int qp : {0, 1}) {
      const mad::Outgoing get =
          LidGet(qp,
                 qp == 0 ? mad::MgmtClass::kSubnetLidRouted
                         : mad::MgmtClass::kPerformance,
                 wire::Lid{2},
                 qp == 0 ? mad::AttributeId::kNodeInfo
                         : mad::AttributeId::kClassPortInfo);
      auto agent = host.Register(port, {.qp = qp}, *this);
      ASSERT_TRUE(agent.ok());
      ASSERT_TRUE((*agent)
                      ->Send({.to = get.to,
                              .mad = {get.mad.begin(), get.mad.end()},
                              .timeout = absl::Seconds(1)})
                      .ok());
      lab_.timers.RunPending();
    }
  }

  // Returns what came since.
  std::vector<std::string> Seen() {
    noted_.all.clear();
    Read(file_);
    return noted_.all;
  }

  Lab lab_{Chain(1), Lab::kStatically};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  std::unique_ptr<HostCapture> capture_;

 private:
  void OnMad(mad::Agent& /*agent*/, mad::IncomingMessage /*message*/) override {
  }
  void OnSendDone(mad::Agent& /*agent*/, uint64_t /*cookie*/) override {}
  void OnSendTimeout(mad::Agent& /*agent*/, uint64_t /*cookie*/) override {
    ADD_FAILURE() << "no answer";
  }

  Noted noted_;
  CaptureFile file_{noted_, 1000};
};

const auto kBothQueuePairs =
    ElementsAre("host-1/1", "sent 1 on VL 15", "received 129 on VL 15",
                "sent 1 on VL 0", "received 129 on VL 0");

TEST_F(HostCaptureTest, ShowsBothQueuePairsInBothDirections) {
  const auto host = hosts_.Get(*adapters_.Find("host-1"));
  Start("host-1");
  Ask(*host);
  EXPECT_THAT(Seen(), kBothQueuePairs);
}

TEST_F(HostCaptureTest, BeginsBeforeItsHostAndOutlivesIt) {
  Start("host-1");
  EXPECT_EQ(hosts_.Find(*adapters_.Find("host-1")), nullptr)
      << "a capture makes no host";
  auto host = hosts_.Get(*adapters_.Find("host-1"));
  Ask(*host);
  EXPECT_THAT(Seen(), kBothQueuePairs);
  host.reset();
  host = hosts_.Get(*adapters_.Find("host-1"));
  Ask(*host);
  EXPECT_EQ(Seen().size(), 4u);
}

TEST_F(HostCaptureTest, FollowsAnAdapterThatIsPluggedInAgain) {
  const AdapterId adapter = *adapters_.Find("host-1");
  const auto old = hosts_.Get(adapter);
  Start("host-1");
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  hosts_.Forget(adapter);
  EXPECT_TRUE(old->removed());
  ASSERT_TRUE(lab_.fabric.AddDevice(lab_.Host(1)).ok());
  lab_.Configure();
  Ask(*hosts_.Get(adapter));
  EXPECT_THAT(Seen(), kBothQueuePairs);
}

TEST_F(HostCaptureTest, ShowsOneHostOnly) {
  Start("host-2");
  const auto asking = hosts_.Get(*adapters_.Find("host-1"));
  const auto asked = hosts_.Get(*adapters_.Find("host-2"));
  Ask(*asking);
  EXPECT_THAT(Seen(), IsEmpty()) << "its SMA and PMA answered";
}

TEST_F(HostCaptureTest, ASwitchHasPort0) {
  const auto host = hosts_.Get(*adapters_.Find("sw1"));
  Start("sw1");
  Ask(*host);
  const std::vector<std::string> seen = Seen();
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[0], "sw1/0");
}

TEST_F(HostCaptureTest, WhoHasEnoughGetsNoMore) {
  const auto host = hosts_.Get(*adapters_.Find("host-1"));
  Start("host-1");
  ASSERT_EQ(shutdown(socket.get(), SHUT_WR), 0);
  EXPECT_THAT(Seen(), IsEmpty());
  Ask(*host);
  EXPECT_THAT(Seen(), IsEmpty());
}

TEST_F(HostCaptureTest, MayEndWhileItsHostGoesOn) {
  const auto host = hosts_.Get(*adapters_.Find("host-1"));
  Start("host-1");
  capture_.reset();
  Ask(*host);
  EXPECT_THAT(Seen(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::daemon
