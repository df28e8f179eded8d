#include "fabric/soft_hca/transport/datagram_receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "tests/fabric/soft_hca/transport/fake_link.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace wc_status = verbs::wc_status;

constexpr size_t kHeader = 40;  // the room for a GRH

class DatagramReceiverTest : public ::testing::Test {
 protected:
  DatagramReceiverTest() {
    link_.flush = [this] { receiver_.Flush(); };
  }

  static Packet Datagram(std::string_view text) {
    auto transport = std::make_shared<Transport>();
    transport->service = verbs::QpType::kUd;
    transport->first = transport->last = true;
    transport->message = FakeLink::BufferOf(text);
    transport->size = text.size();
    Packet packet;
    packet.slid = wire::Lid{5};
    packet.sl = 3;
    packet.source_qpn = 0x33;
    packet.transport = transport;
    return packet;
  }
  void Take(const Packet& packet) {
    receiver_.OnDatagram(packet, 9, 1);
    link_.timers.RunPending();
  }

  FakeLink link_{verbs::QpType::kUd};
  DatagramReceiver receiver_{link_};
};

TEST_F(DatagramReceiverTest, PutsADatagramBehindTheRoomForItsHeader) {
  link_.Receive(7, 100, 100);

  Take(Datagram("hello"));

  EXPECT_EQ(link_.memory->Text(100 + kHeader, 5), "hello");
  const auto completions = link_.Poll();
  ASSERT_THAT(completions, SizeIs(1));
  EXPECT_EQ(completions[0].wr_id, 7u);
  EXPECT_EQ(completions[0].byte_len, kHeader + 5);
  EXPECT_EQ(completions[0].src_qp, 0x33u);
  EXPECT_EQ(completions[0].slid, 5u);
  EXPECT_EQ(completions[0].sl, 3u);
  EXPECT_EQ(completions[0].pkey_index, 9u);
  EXPECT_EQ(completions[0].dlid_path_bits, 1u);
  EXPECT_EQ(completions[0].wc_flags, 0u);
}

TEST_F(DatagramReceiverTest, PutsTheHeaderInFrontOfTheDatagram) {
  link_.Receive(7, 0, 100);
  Packet packet = Datagram("hello");
  packet.grh = RouteHeader{
      .sgid = {.prefix = 0xfe80000000000000, .interface_id = 0x1234},
      .dgid = {},
      .hop_limit = 64};

  Take(packet);

  EXPECT_EQ(link_.memory->Text(0, 1), "\x60") << "version 6";
  EXPECT_EQ(link_.memory->Text(8, 2), "\xfe\x80") << "the sender's GID";
  EXPECT_EQ(link_.memory->Text(22, 2), "\x12\x34");
  const auto completions = link_.Poll();
  ASSERT_THAT(completions, SizeIs(1));
  EXPECT_EQ(completions[0].wc_flags, verbs::wc_flag::kGrh);
}

TEST_F(DatagramReceiverTest, LosesADatagramWithoutAReceiveRequest) {
  Take(Datagram("lost"));
  link_.Receive(1, 0, 100);

  Take(Datagram("hello"));

  EXPECT_EQ(link_.memory->Text(kHeader, 5), "hello");
  EXPECT_THAT(link_.Poll(), SizeIs(1));
}

TEST_F(DatagramReceiverTest, KeepsAReceiveRequestThatIsTooShort) {
  link_.Receive(1, 0, kHeader + 4);

  Take(Datagram("hello"));

  EXPECT_THAT(link_.Poll(), IsEmpty());
  EXPECT_THAT(link_.receives, SizeIs(1));
}

TEST_F(DatagramReceiverTest, KeepsAReceiveRequestWithoutAccess) {
  link_.Receive(1, 0, 100);
  link_.receives[0].sges[0].lkey += 256;

  Take(Datagram("hello"));

  EXPECT_THAT(link_.Poll(), IsEmpty());
  EXPECT_THAT(link_.receives, SizeIs(1));
}

TEST_F(DatagramReceiverTest, GoesOnAfterADatagramWhoseMemoryIsNotThere) {
  const auto beyond = *verbs::MemoryRegion::Register(
      link_.keys, {.pd = &link_.pd,
                   .memory = link_.memory,
                   .start = FakeLink::kStart + FakeLink::kSize,
                   .length = 100,
                   .address = 0,
                   .access = FakeLink::kAll});
  link_.receives.push_back({.id = 1, .sges = {{0, 100, beyond->lkey()}}});
  link_.Receive(2, 0, 100);

  Take(Datagram("lost"));
  Take(Datagram("hello"));

  EXPECT_THAT(link_.PollStatuses(),
              ElementsAre(wc_status::kLocalProtection, wc_status::kSuccess));
  EXPECT_THAT(link_.events, IsEmpty());
}

TEST_F(DatagramReceiverTest, FlushesADatagramOnItsWayToMemoryAtAnError) {
  link_.memory->SetDelay(absl::Microseconds(5));
  link_.Receive(1, 0, 100);
  Take(Datagram("hello"));

  link_.EnterError("");
  link_.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link_.PollStatuses(), ElementsAre(wc_status::kFlushed));
}

TEST_F(DatagramReceiverTest, CompletesNothingAfterAReset) {
  link_.memory->SetDelay(absl::Microseconds(5));
  link_.Receive(1, 0, 100);
  Take(Datagram("hello"));

  link_.context.guard.Invalidate();
  receiver_.Reset();
  link_.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link_.Poll(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric
