// Calls that are more than one request, and the read that fails with data, over
// a kernel with small requests.
#include <thread>

#include "cuse/client/caller_memory.h"
#include "cuse/fuse/running_thread.h"
#include "tests/cuse/blocked_reader.h"
#include "tests/cuse/fuse/tree_fixture.h"
#include "tests/cuse/long_writer.h"
#include "tests/cuse/peer.h"

namespace ibemu::cuse {
namespace {

using testing::KernelSide;

constexpr size_t kPiece = KernelSide::kPiece;
constexpr pid_t kNobody = 0x3fffffff;  // no thread to look at

class LongCallsTest : public TreeTest {
 protected:
  LongCallsTest() {
    kernel_.SetCaller(kNobody);
    RegisterSender(file_, /*rmpp_version=*/1);
  }

  size_t TableLength() const { return kOldUmadHeader + 56 + peer_.table_bytes; }

  // Lets a table of `bytes` wait to be read.
  void AskForTable(size_t bytes) {
    peer_.table_bytes = bytes;
    ASSERT_EQ(kernel_.Write(file_, TableRequest(1)).error, 0);
    timers_.RunPending();
  }

  // An answer by RMPP that makes a write() of `size` bytes, whose segments are
  // counted.
  std::vector<std::byte> LongAnswer(size_t size) {
    mad::MadBytes front =
        testing::MakeMad({.mgmt_class = mad::MgmtClass::kSubnetAdministration,
                          .class_version = 2,
                          .method = mad::Method::kGetTableResp,
                          .tid = 1});
    testing::SetRmpp(front, {.type = mad::RmppType::kData});
    std::vector<std::byte> written = Umad(HeaderTo(kPeer, 1), front);
    written.resize(size);
    port_.on_transmit = [this](const mad::Outgoing& sent) {
      const auto rmpp = testing::RmppOf(sent.mad);
      announced_ = (rmpp.length_or_window + 219) / 220;
    };
    return written;
  }
  static size_t Segments(size_t written) {
    return (written - kOldUmadHeader - 56 + 199) / 200;
  }

  KernelSide::Reply WritePiece(mad::Bytes data, size_t from, size_t to) {
    return kernel_.Write(file_, data.subspan(from, to - from), from);
  }

  KernelSide::OpenFile file_ = OpenUmadWithAgent();
  Peer peer_{timers_, port_};
  size_t announced_ = 0;  // segments of a message that went out
};

TEST_F(LongCallsTest, AReadGoesOnWhereItsFirstPieceEnded) {
  AskForTable(2 * kPiece);
  const size_t first = kPiece - 16;
  EXPECT_EQ(kernel_.Read(file_, first).data.size(), first);
  const auto second = kernel_.Read(file_, kPiece, first).data;
  EXPECT_EQ(second.size(), kPiece);
  EXPECT_EQ(second[0], Peer::TableByte(first - kOldUmadHeader - 56));
  const size_t left = TableLength() - first - kPiece;
  EXPECT_EQ(kernel_.Read(file_, kPiece, first + kPiece).data.size(), left);
  EXPECT_EQ(kernel_.Read(file_, kPiece, TableLength()).data.size(), 0u);
}

TEST_F(LongCallsTest, ASecondPieceNeverWaits) {
  const KernelSide::Reply reply = kernel_.Read(file_, 100, kPiece);
  EXPECT_EQ(reply.error, 0);
  EXPECT_TRUE(reply.data.empty());
}

TEST_F(LongCallsTest, ANewReadForgetsTheRestOfTheLast) {
  AskForTable(2 * kPiece);
  EXPECT_EQ(kernel_.Read(file_, kPiece).data.size(), kPiece);
  ASSERT_EQ(kernel_.Write(file_, UmadRequest(2)).error, 0);  // is answered
  timers_.RunPending();
  EXPECT_EQ(kernel_.Read(file_, 1024).data.size(), kOldUmadHeader + 256);
  EXPECT_TRUE(kernel_.Read(file_, kPiece, kPiece).data.empty());
}

TEST_F(LongCallsTest, TheRestOfAReadWaitsAsLongAsItsThreadIsInThere) {
  AskForTable(2 * kPiece);
  const BlockedReader client(3 * kPiece);
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(kernel_.Read(file_, kPiece).data.size(), kPiece);
  timers_.RunFor(absl::Minutes(1));
  EXPECT_EQ(kernel_.Read(file_, kPiece, kPiece).data.size(), kPiece);
}

TEST_F(LongCallsTest, TheRestOfAReadThatBrokeOffIsDropped) {
  AskForTable(2 * kPiece);
  BlockedReader client(3 * kPiece);
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(kernel_.Read(file_, kPiece).data.size(), kPiece);
  client.BreakOff();
  timers_.RunFor(absl::Milliseconds(100));
  EXPECT_TRUE(kernel_.Read(file_, kPiece, kPiece).data.empty());
}

TEST_F(LongCallsTest, AFileThatIsClosedLooksAtNoReader) {
  AskForTable(2 * kPiece);
  const BlockedReader client(3 * kPiece);
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(kernel_.Read(file_, kPiece).data.size(), kPiece);
  kernel_.Release(file_);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(LongCallsTest, PiecesOfAWriteAreOneMessage) {
  const auto written = LongAnswer(2 * kPiece);
  const size_t first = kPiece - 16;
  EXPECT_EQ(WritePiece(written, 0, first).error, 0);
  EXPECT_EQ(WritePiece(written, first, first + kPiece).error, 0);
  EXPECT_EQ(announced_, 0u);
  EXPECT_EQ(WritePiece(written, first + kPiece, written.size()).error, 0);
  EXPECT_EQ(announced_, Segments(written.size()));
}

// Another thread of the client asks for the longer header meanwhile.
TEST_F(LongCallsTest, AWriteWhoseHeaderGrewBetweenItsPiecesIsInvalid) {
  const KernelSide::OpenFile file = kernel_.Open("dev/umad0", O_RDWR);
  const auto written = LongAnswer(kPiece + 1000);
  const auto pieces = mad::Bytes(written);
  EXPECT_EQ(kernel_.Write(file, pieces.first(kPiece)).error, 0);
  ASSERT_EQ(kernel_.Ioctl(file, IB_USER_MAD_ENABLE_PKEY, {}, 0).error, 0);
  EXPECT_EQ(kernel_.Write(file, pieces.subspan(kPiece), kPiece).error, EINVAL);
}

// The kernel takes each write() to the end of the file, which it moves.
TEST_F(LongCallsTest, WritesThatAppendAreMessagesLikeAllOthers) {
  uint64_t end = uint64_t{1} << 40;
  const auto append = [&](mad::Bytes data) {
    const int error = kernel_.Write(file_, data, end, O_APPEND).error;
    end += data.size();
    return error;
  };
  EXPECT_EQ(append(UmadRequest(1)), 0);
  const auto written = LongAnswer(2 * kPiece + 1000);
  const auto pieces = mad::Bytes(written);
  EXPECT_EQ(append(pieces.first(kPiece)), 0);
  EXPECT_EQ(append(pieces.subspan(kPiece, kPiece)), 0);
  EXPECT_EQ(announced_, 0u);
  EXPECT_EQ(append(pieces.subspan(2 * kPiece)), 0);
  EXPECT_EQ(announced_, Segments(written.size()));
  EXPECT_EQ(append(UmadRequest(2)), 0);
}

// As after an fstat(), from which the kernel learns again where the file ends.
TEST_F(LongCallsTest, WhatIsAppendedElsewhereIsAnotherWrite) {
  EXPECT_EQ(kernel_.Write(file_, LongAnswer(kPiece), 0, O_APPEND).error, 0);
  EXPECT_EQ(kernel_.Write(file_, UmadRequest(1), 0, O_APPEND).error, 0);
  EXPECT_NE(port_.sent.size(), 1u);  // both
}

TEST_F(LongCallsTest, AWriteThatMayHaveEndedHasEndedWhenNothingFollows) {
  const auto written = LongAnswer(kPiece);
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  EXPECT_EQ(announced_, 0u);
  timers_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(announced_, Segments(written.size()));
}

TEST_F(LongCallsTest, AnotherThreadMayWriteBetweenThePieces) {
  const auto written = LongAnswer(kPiece + 1000);
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  kernel_.SetCaller(kNobody + 1);
  EXPECT_EQ(kernel_.Write(file_, UmadRequest(2)).error, 0);
  kernel_.SetCaller(kNobody);
  EXPECT_EQ(WritePiece(written, kPiece, written.size()).error, 0);
  EXPECT_EQ(announced_, Segments(written.size()));
}

TEST_F(LongCallsTest, AWriteThatMayHaveEndedHasEndedWhenAnotherBegins) {
  const auto written = LongAnswer(kPiece);
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  EXPECT_EQ(kernel_.Write(file_, UmadRequest(1)).error, 0);
  EXPECT_NE(port_.sent.size(), 1u);  // both
}

TEST_F(LongCallsTest, AFileThatIsClosedForgetsAnUnfinishedWrite) {
  EXPECT_EQ(WritePiece(LongAnswer(kPiece), 0, kPiece).error, 0);
  kernel_.Release(file_);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_EQ(announced_, 0u);
}

TEST_F(LongCallsTest, PiecesWaitAsLongAsTheirThreadIsInItsWrite) {
  const auto written = LongAnswer(kPiece + 1000);
  const LongWriter client(written.size());
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  timers_.RunFor(absl::Minutes(1));
  EXPECT_EQ(WritePiece(written, kPiece, written.size()).error, 0);
  EXPECT_EQ(announced_, Segments(written.size()));
}

TEST_F(LongCallsTest, PiecesOfAThreadThatDoesSomethingElseAreDropped) {
  const auto written = LongAnswer(kPiece + 1000);
  LongWriter client(written.size());
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  client.BreakOff();
  timers_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(WritePiece(written, kPiece, written.size()).error, EINVAL);
  EXPECT_EQ(announced_, 0u);
}

TEST_F(LongCallsTest, PiecesOfAThreadThatRunsOnAreDropped) {
  const auto written = LongAnswer(kPiece + 1000);
  LongWriter client(written.size());
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(WritePiece(written, 0, kPiece).error, 0);
  client.BreakOff(LongWriter::Then::kRun);
  for (int look = 0; look < 10; ++look) {
    const auto before = CpuTimeOf(client.tid());
    ASSERT_TRUE(before.ok());
    while (CpuTimeOf(client.tid()) == before) std::this_thread::yield();
    timers_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_EQ(WritePiece(written, kPiece, written.size()).error, EINVAL);
  EXPECT_EQ(announced_, 0u);
}

TEST(RunningThreadTest, OneThatGetsNoProcessorTimeMayBeInItsWrite) {
  RunningThread thread;
  for (int look = 0; look < 100; ++look) {
    EXPECT_FALSE(thread.IsElsewhere(absl::Milliseconds(5)));
  }
  for (int look = 0; look < 8; ++look) {
    EXPECT_FALSE(thread.IsElsewhere(absl::Milliseconds(6 + look)));
  }
  EXPECT_TRUE(thread.IsElsewhere(absl::Milliseconds(20)));
}

TEST(RunningThreadTest, WhereItsTimeIsNotCountedEachLookCounts) {
  RunningThread thread;
  for (int look = 0; look < 9; ++look) {
    EXPECT_FALSE(thread.IsElsewhere(absl::NotFoundError("")));
  }
  EXPECT_TRUE(thread.IsElsewhere(absl::NotFoundError("")));
}

TEST_F(LongCallsTest, AMessageThatIsTooLongFindsNoMemory) {
  const LongWriter client((size_t{256} << 20) + 1);
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(WritePiece(LongAnswer(kPiece), 0, kPiece).error, ENOMEM);
}

TEST_F(LongCallsTest, AnIssmTakesNoLongWrites) {
  const KernelSide::OpenFile issm = kernel_.Open("dev/issm0", O_RDWR);
  const LongWriter client(2 * kPiece);
  kernel_.SetCaller(client.tid());
  EXPECT_EQ(kernel_.Write(issm, LongAnswer(kPiece)).error, EINVAL);
}

TEST_F(LongCallsTest, ATooShortBufferIsFilledAndGetsEnospc) {
  AskForTable(1000);
  const BlockedReader client(TableLength() - 1);
  kernel_.SetCaller(client.tid());
  const uint64_t read = kernel_.StartRead(file_, client.buffer().size());
  Pump();
  kernel_.Interrupt(read);  // must not get in the way
  EXPECT_EQ(kernel_.WaitForWorker(read).error, ENOSPC);
  EXPECT_EQ(HeaderIn(client.buffer()).length, TableLength());
  EXPECT_EQ(client.buffer()[kOldUmadHeader + 56 + 99], Peer::TableByte(99));

  kernel_.SetCaller(kNobody);
  EXPECT_EQ(kernel_.Read(file_, TableLength()).data.size(), TableLength());
}

TEST_F(LongCallsTest, ALongReadWhoseSizeIsKnownGetsEnospcToo) {
  AskForTable(4 * kPiece);
  const BlockedReader client(2 * kPiece);
  kernel_.SetCaller(client.tid());
  const uint64_t read = kernel_.StartRead(file_, kPiece);
  Pump();
  EXPECT_EQ(kernel_.WaitForWorker(read).error, ENOSPC);
  EXPECT_EQ(HeaderIn(client.buffer()).length, TableLength());
}

TEST_F(LongCallsTest, AReadThatIsBeingAnsweredFailsWhenTheTreeEnds) {
  AskForTable(1000);
  const BlockedReader client(TableLength() - 1);
  kernel_.SetCaller(client.tid());
  const uint64_t read = kernel_.StartRead(file_, client.buffer().size());
  while (tree_->HandleOne() != FuseResult::kEnded && timers_.idle()) {
  }
  serving_ = false;
  tree_.reset();
  EXPECT_EQ(kernel_.Wait(read).error, EIO);
}

}  // namespace
}  // namespace ibemu::cuse
