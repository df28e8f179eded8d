#include "cuse/umad/umad_rings.h"

#include <random>

#include "tests/cuse/umad/ringed_umad.h"
#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

using fast_path::Way;

class UmadRingsTest : public UmadTest {
 protected:
  UmadRingsTest() {
    EXPECT_EQ(ringed_.Attach(), Errno::kOk);
    ib_user_mad_reg_req plain = Request();
    EXPECT_EQ(Register(ringed_.driver(), plain), Errno::kOk);  // agent 0
    ib_user_mad_reg_req rmpp = Request();
    rmpp.rmpp_version = 1;
    EXPECT_EQ(Register(ringed_.driver(), rmpp), Errno::kOk);  // agent 1
  }

  // A turn of the loop, and what comes of it.
  void Turn() {
    ringed_.set().Look();
    Settle();
  }
  Way WayOf(Bytes data) {
    ringed_.Write(data);
    return ringed_.last_way;
  }
  static std::vector<std::byte> Smp(std::array<uint8_t, 3> path,
                                    uint8_t hop_pointer = 0,
                                    uint8_t slid = 0xff) {
    mad::MadBytes mad =
        testing::MakeMad({.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute,
                          .method = mad::Method::kGet,
                          .tid = 1});
    mad[6] = std::byte{hop_pointer};
    mad[7] = std::byte{path[0]};
    mad[32] = mad[33] = std::byte{slid};
    mad[34] = mad[35] = std::byte{0xff};
    mad[129] = std::byte{path[1]};
    mad[130] = std::byte{path[2]};
    return Umad(HeaderTo(wire::Lid::kPermissive), mad);
  }

  RingedUmad ringed_{host_};
  Peer peer_{timers_, port_};
};

TEST_F(UmadRingsTest, ARequestAndItsAnswerTakeTheRings) {
  EXPECT_EQ(ringed_.Write(UmadRequest(5)), Errno::kOk);
  EXPECT_EQ(ringed_.last_way, Way::kRing);
  EXPECT_EQ(ringed_.Poll(), uint32_t{kUmadIdle});
  Turn();
  EXPECT_EQ(ringed_.Poll(), uint32_t{kUmadReadable});
  const FileDriver::Answer answer = ringed_.Read(kWholeMad);
  EXPECT_EQ(answer.data.size(), kWholeMad);
  EXPECT_EQ(TidIn(answer.data) & 0xffffffff, 5u);
  EXPECT_EQ(ringed_.ways[false], 0);
  EXPECT_EQ(ringed_.Poll(), uint32_t{kUmadIdle});
}

TEST_F(UmadRingsTest, ACallOfTheFileFindsTheRingsEmptied) {
  EXPECT_EQ(ringed_.Write(UmadRequest(1)), Errno::kOk);
  EXPECT_EQ(ringed_.last_way, Way::kRing);
  EXPECT_EQ(ringed_.driver().Write(UmadRequest(2)), Errno::kOk);
  Settle();
  EXPECT_EQ(TidIn(ringed_.driver().Read(1024).data) & 0xffffffff, 1u);
  EXPECT_EQ(TidIn(ringed_.Read(1024).data) & 0xffffffff, 2u);
}

TEST_F(UmadRingsTest, TheSameTidIsTheDaemonsToJudge) {
  EXPECT_EQ(WayOf(UmadRequest(9)), Way::kRing);
  EXPECT_EQ(ringed_.Write(UmadRequest(9)), Errno::kInvalid);
  EXPECT_EQ(ringed_.last_way, Way::kOutstanding);
  Turn();
  EXPECT_EQ(WayOf(UmadRequest(9)), Way::kRing);  // it has its answer
}

TEST_F(UmadRingsTest, ASendByTheFileIsOutstandingForTheRings) {
  port_.on_transmit = nullptr;
  ASSERT_EQ(ringed_.driver().Write(UmadRequest(9)), Errno::kOk);
  EXPECT_EQ(ringed_.Write(UmadRequest(9)), Errno::kInvalid);
  EXPECT_EQ(ringed_.last_way, Way::kOutstanding);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_EQ(WayOf(UmadRequest(9)), Way::kRing);
}

TEST_F(UmadRingsTest, AnAgentThatGoesTakesItsSendsWithIt) {
  port_.on_transmit = nullptr;
  ASSERT_EQ(WayOf(UmadRequest(9)), Way::kRing);
  uint32_t id = 0;
  ASSERT_EQ(Change(ringed_.driver(), IB_USER_MAD_UNREGISTER_AGENT, id),
            Errno::kOk);
  EXPECT_EQ(ringed_.Write(UmadRequest(10)), Errno::kIo);
  EXPECT_EQ(ringed_.last_way, Way::kCommand);
  ib_user_mad_reg_req again = Request();
  ASSERT_EQ(Register(ringed_.driver(), again), Errno::kOk);
  EXPECT_EQ(WayOf(UmadRequest(9)), Way::kRing);
}

TEST_F(UmadRingsTest, WhatOnlyTheDaemonJudgesGoesByTheFile) {
  EXPECT_EQ(WayOf(UmadRequest(1, 2)), Way::kCommand);   // no such agent
  EXPECT_EQ(WayOf(UmadRequest(1, 32)), Way::kCommand);  // no such id
  EXPECT_EQ(WayOf(UmadRequest(1, 1)), Way::kCommand);   // no class of RMPP
  EXPECT_EQ(WayOf(TableRequest(1, 1)), Way::kRing);
  std::vector<std::byte> rmpp = TableRequest(2, 1);
  rmpp[kOldUmadHeader + 26] |= std::byte{1};
  EXPECT_EQ(WayOf(rmpp), Way::kCommand);
  std::vector<std::byte> routed = UmadRequest(3);
  routed[32] = std::byte{1};  // grh_present
  EXPECT_EQ(WayOf(routed), Way::kCommand);
  std::vector<std::byte> response = UmadRequest(4);
  response[kOldUmadHeader + 3] |= std::byte{0x80};
  EXPECT_EQ(WayOf(response), Way::kCommand);
  std::vector<std::byte> longer = UmadRequest(5);
  longer.push_back(std::byte{0});
  EXPECT_EQ(WayOf(longer), Way::kCommand);
}

TEST_F(UmadRingsTest, ADirectedRouteHasToBeginHereAndToLeadOut) {
  EXPECT_EQ(WayOf(Smp({1, 1, 0})), Way::kRing);
  Turn();
  EXPECT_EQ(WayOf(Smp({2, 1, 9})), Way::kRing);
  Turn();
  EXPECT_EQ(WayOf(Smp({0, 1, 0})), Way::kCommand);
  EXPECT_EQ(WayOf(Smp({64, 1, 0})), Way::kCommand);
  EXPECT_EQ(WayOf(Smp({1, 2, 0})), Way::kCommand);  // another port
  EXPECT_EQ(WayOf(Smp({1, 1, 0}, 1)), Way::kCommand);
  EXPECT_EQ(WayOf(Smp({1, 1, 0}, 0, 0x12)), Way::kCommand);
}

TEST_F(UmadRingsTest, ABufferThatTheKernelHasNotSeenIsTheKernels) {
  const std::vector<std::byte> request = UmadRequest(1);
  EXPECT_EQ(ringed_.client().Write(request.data(), request.size()), Way::kPage);
  EXPECT_EQ(ringed_.client().Write(nullptr, request.size()), Way::kPage);
  ringed_.Write(request);
  Turn();
  size_t length = 0;
  EXPECT_EQ(ringed_.client().Read(nullptr, 1024, length), Way::kPage);
  EXPECT_EQ(ringed_.Read(1024).data.size(), kWholeMad);
}

TEST_F(UmadRingsTest, WhoFindsTheDaemonAsleepWakesItByTheFile) {
  EXPECT_TRUE(ringed_.set().BeforeSleep());
  EXPECT_EQ(WayOf(UmadRequest(1)), Way::kAsleep);
  ringed_.set().AfterSleep();
  EXPECT_EQ(WayOf(UmadRequest(2)), Way::kRing);
}

TEST_F(UmadRingsTest, OnlyOneAtATimeFillsTheRing) {
  ringed_.memory().control.filler = 1;
  EXPECT_EQ(WayOf(UmadRequest(1)), Way::kBusy);
  ringed_.memory().control.filler = 0;
  EXPECT_EQ(WayOf(UmadRequest(2)), Way::kRing);
}

TEST_F(UmadRingsTest, AFullRingIsTheFilesToEmpty) {
  port_.on_transmit = nullptr;
  uint64_t tid = 0;
  while (WayOf(UmadRequest(++tid)) == Way::kRing) ASSERT_LT(tid, 5000u);
  EXPECT_EQ(ringed_.last_way, Way::kBusy);
  EXPECT_GT(tid, 400u);
  EXPECT_EQ(port_.sent.size(), tid);
}

TEST_F(UmadRingsTest, WhatDoesNotFitIntoTheRingWaitsBehindIt) {
  constexpr uint64_t kMany = 3000;
  for (uint64_t tid = 1; tid <= kMany; ++tid) {
    ASSERT_EQ(ringed_.Write(UmadRequest(tid)), Errno::kOk);
    if (tid % 50 == 0) Turn();
  }
  Turn();
  for (uint64_t tid = 1; tid <= kMany; ++tid) {
    EXPECT_EQ(ringed_.Poll(), uint32_t{kUmadReadable});
    ASSERT_EQ(TidIn(ringed_.Read(1024).data) & 0xffffffff, tid);
  }
  EXPECT_EQ(ringed_.Read(1024).error, Errno::kTryAgain);
}

TEST_F(UmadRingsTest, ALongMessageIsTheFilesAndKeepsItsPlace) {
  peer_.table_bytes = 1000;
  ringed_.Write(UmadRequest(1));
  Turn();
  ringed_.Write(TableRequest(2));
  Turn();
  timers_.RunFor(absl::Seconds(1));
  ringed_.Write(UmadRequest(3));
  Turn();
  EXPECT_EQ(TidIn(ringed_.Read(4096).data) & 0xffffffff, 1u);
  EXPECT_EQ(ringed_.Poll(), uint32_t{kUmadReadable});
  EXPECT_EQ(ringed_.Read(kWholeMad).error, Errno::kNoSpace);
  EXPECT_GT(ringed_.Read(4096).data.size(), 1000u);
  EXPECT_EQ(TidIn(ringed_.Read(4096).data) & 0xffffffff, 3u);
}

TEST_F(UmadRingsTest, AMessageThatDoesNotFitStaysFirst) {
  ringed_.Write(UmadRequest(1));
  Turn();
  EXPECT_EQ(ringed_.Read(kWholeMad - 1).error, Errno::kInvalid);
  EXPECT_EQ(ringed_.Read(kOldUmadHeader - 1).error, Errno::kInvalid);
  EXPECT_EQ(ringed_.Read(kWholeMad).data.size(), kWholeMad);
}

TEST_F(UmadRingsTest, AReaderThatWaitsGetsWhatComes) {
  const RequestId read = ringed_.driver().StartRead(1024);
  ringed_.Write(UmadRequest(1));
  Turn();
  const auto answer = ringed_.driver().AnswerTo(read);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(TidIn(answer->data) & 0xffffffff, 1u);
  EXPECT_EQ(ringed_.Read(1024).error, Errno::kTryAgain);
}

TEST_F(UmadRingsTest, ATimeoutComesByTheRing) {
  port_.on_transmit = nullptr;
  ringed_.Write(UmadRequest(7));
  Turn();
  timers_.RunFor(absl::Seconds(1));
  const FileDriver::Answer answer = ringed_.Read(1024);
  EXPECT_EQ(HeaderIn(answer.data).status, uint32_t{ETIMEDOUT});
  EXPECT_EQ(answer.data.size(), kOldUmadHeader + 24);
  EXPECT_EQ(ringed_.ways[false], 0);
}

TEST_F(UmadRingsTest, WhatWasWrittenIsSentThoughTheWriterIsGone) {
  port_.on_transmit = nullptr;
  ringed_.Write(UmadRequest(1));
  EXPECT_TRUE(port_.sent.empty());
  ringed_.Release();
  EXPECT_EQ(port_.sent.size(), 1u);
  EXPECT_NE(ringed_.memory().control.closed.load(), 0u);
}

TEST_F(UmadRingsTest, AnAdapterThatGoesEndsTheRings) {
  ringed_.Write(UmadRequest(1));
  Turn();
  ringed_.memory().control.waiting = 1;
  device_.Remove();
  Settle();
  EXPECT_EQ(ringed_.memory().control.waiting.load(), 0u);  // it was woken
  EXPECT_EQ(ringed_.Read(1024).error, Errno::kIo);
  EXPECT_EQ(ringed_.Write(UmadRequest(2)), Errno::kIo);
  EXPECT_EQ(ringed_.Poll(), uint32_t{POLLERR});
}

TEST_F(UmadRingsTest, RingsComeBeforeTheFirstAgentAndOnce) {
  EXPECT_EQ(ringed_.Attach(), Errno::kBusy);
  RingedUmad late(host_);
  ib_user_mad_reg_req request = Request();
  ASSERT_EQ(Register(late.driver(), request), Errno::kOk);
  EXPECT_EQ(late.Attach(), Errno::kBusy);
}

TEST_F(UmadRingsTest, OtherVersionsAndOtherMemoryAreRefused) {
  RingedUmad other(host_);
  EXPECT_EQ(other.Attach(fast_path::kRingsVersion + 1), Errno::kInvalid);
  EXPECT_EQ(other.Attach(fast_path::kRingsVersion, -1), Errno::kNoEntry);
  EXPECT_EQ(umad_.Ioctl(fast_path::kLookAtRings, {}).error, Errno::kNotTty);
  EXPECT_EQ(other.Attach(), Errno::kOk);
}

// What is in the memory is what the opener reads from the file.
TEST_F(UmadRingsTest, AreForWhoOpenedTheFile) {
  RingedUmad other(host_);
  const fast_path::AttachRings attach = {fast_path::kRingsVersion, 0};
  EXPECT_EQ(other.driver()
                .Ioctl({.command = fast_path::kAttachRings,
                        .in = std::as_bytes(std::span(&attach, 1)),
                        .caller = gettid(),
                        .is_opener = false})
                .error,
            Errno::kNotPermitted);
  EXPECT_EQ(other.Attach(), Errno::kOk);
}

// A client that writes what it likes into its memory: it has its file still.
class HostileRingsTest : public UmadRingsTest {
 protected:
  void ExpectFileOnly() {
    EXPECT_NE(ringed_.memory().control.closed.load(), 0u);
    EXPECT_EQ(ringed_.Write(UmadRequest(77)), Errno::kOk);
    EXPECT_EQ(ringed_.last_way, Way::kAsleep);
    Settle();
    EXPECT_EQ(TidIn(ringed_.Read(1024).data) & 0xffffffff, 77u);
  }
};

TEST_F(HostileRingsTest, MoreCallsThanTheRingHolds) {
  ringed_.memory().sent.tail = 5000;
  ringed_.set().Look();
  ExpectFileOnly();
}

TEST_F(HostileRingsTest, CallsThatWereTaken) {
  ringed_.Write(UmadRequest(1));
  Turn();
  ringed_.memory().sent.tail = 0;
  ringed_.set().Look();
  ExpectFileOnly();
}

TEST_F(HostileRingsTest, MessagesTakenThatNeverCame) {
  ringed_.memory().received.head = 17;
  EXPECT_EQ(ringed_.driver().Read(1024).error, Errno::kTryAgain);
  ExpectFileOnly();
}

TEST_F(HostileRingsTest, AMessageOfAnotherLength) {
  for (const uint32_t length : {0u, 55u, 321u, 0xffffffffu}) {
    RingedUmad other(host_);
    ASSERT_EQ(other.Attach(), Errno::kOk);
    ib_user_mad_reg_req request = Request();
    ASSERT_EQ(Register(other.driver(), request), Errno::kOk);
    other.Write(UmadRequest(1));
    other.set().Look();
    Settle();
    other.memory().received.slots[0].length = length;
    EXPECT_EQ(other.driver().Read(1 << 20).error, Errno::kTryAgain) << length;
    EXPECT_NE(other.memory().control.closed.load(), 0u) << length;
  }
}

TEST_F(HostileRingsTest, CallsThatTheFileWouldRefuseAreNotSent) {
  auto& ring = ringed_.memory().sent;
  for (uint64_t i = 0; i < 64; ++i) {
    std::memset(ring.slots[i].data, static_cast<int>(0x11 * i),
                sizeof ring.slots[i].data);
  }
  ring.tail = 64;
  ringed_.set().Look();
  EXPECT_TRUE(port_.sent.empty());
  EXPECT_EQ(ringed_.memory().control.closed.load(), 0u);
}

// One world with rings and one without see the same calls, some of which take
// the rings if they may.
class World {
 public:
  explicit World(bool has_rings) : has_rings_(has_rings) {
    if (has_rings && umad.Attach() != Errno::kOk) ADD_FAILURE();
  }

  Errno Write(Bytes data, bool by_file) {
    return by_file || !has_rings_ ? umad.driver().Write(data)
                                  : umad.Write(data);
  }
  FileDriver::Answer Read(size_t room, bool by_file) {
    return by_file || !has_rings_ ? umad.driver().Read(room) : umad.Read(room);
  }
  uint32_t Poll(bool by_file) {
    return by_file || !has_rings_ ? umad.file().Poll() : umad.Poll();
  }
  void Turn(absl::Duration time) {
    umad.set().Look();
    timers.RunFor(time);
  }

  testing::VirtualTimers timers;
  testing::FakeDevice device{2};
  testing::FakePort& port = device.port(1);
  std::shared_ptr<mad::Host> host = std::make_shared<mad::Host>(timers, device);
  RingedUmad umad{host};
  Peer peer{timers, port};

 private:
  bool has_rings_;
};

class InterleavingTest : public ::testing::TestWithParam<unsigned> {
 protected:
  unsigned Pick(unsigned most) {
    return static_cast<unsigned>(chance_() % most);
  }

  std::vector<std::byte> SomeWrite() {
    const uint32_t agent = Pick(8) == 0 ? Pick(34) : Pick(3);
    const uint64_t tid = Pick(12);
    if (agent == 1 && Pick(2) == 0) return TableRequest(tid, agent);
    std::vector<std::byte> data = UmadRequest(tid, agent);
    switch (Pick(12)) {
      case 0:
        data[kOldUmadHeader + 3] |= std::byte{0x80};  // an answer
        break;
      case 1:
        data[kOldUmadHeader + 1] = std::byte{0x81};
        data[kOldUmadHeader + 7] = std::byte(Pick(3));
        break;
      case 2:
        data[32] = std::byte{1};  // grh_present
        break;
      case 3:
        data.resize(Pick(400));
        break;
      case 4:
        data[8] = data[9] = std::byte{0};  // timeout_ms
        break;
      default:
        break;
    }
    return data;
  }

  void Step() {
    const bool by_file = Pick(3) == 0;
    switch (Pick(16)) {
      case 0: {
        ib_user_mad_reg_req request{};
        request.qpn = 1;
        request.rmpp_version = Pick(3) == 0;
        ib_user_mad_reg_req same = request;
        EXPECT_EQ(Ioctl(ringed_, IB_USER_MAD_REGISTER_AGENT, request),
                  Ioctl(plain_, IB_USER_MAD_REGISTER_AGENT, same));
        EXPECT_EQ(request.id, same.id);
        break;
      }
      case 1: {
        if (Pick(3) != 0) break;
        uint32_t id = Pick(4), same = id;
        EXPECT_EQ(Ioctl(ringed_, IB_USER_MAD_UNREGISTER_AGENT, id),
                  Ioctl(plain_, IB_USER_MAD_UNREGISTER_AGENT, same));
        break;
      }
      case 2:
      case 3: {
        const auto time = absl::Milliseconds(Pick(300));
        ringed_.Turn(time);
        plain_.Turn(time);
        break;
      }
      case 4:
        ringed_.umad.set().BeforeSleep();
        if (Pick(2) == 0) ringed_.umad.set().AfterSleep();
        break;
      case 5:
      case 6:
        EXPECT_EQ(ringed_.Poll(by_file), plain_.Poll(true));
        break;
      case 7:
      case 8:
      case 9: {
        const size_t room = Pick(4) == 0 ? Pick(400) : 4096;
        const FileDriver::Answer one = ringed_.Read(room, by_file);
        const FileDriver::Answer other = plain_.Read(room, true);
        EXPECT_EQ(one.error, other.error);
        EXPECT_EQ(one.data, other.data);
        break;
      }
      default: {
        const std::vector<std::byte> data = SomeWrite();
        EXPECT_EQ(ringed_.Write(data, by_file), plain_.Write(data, true));
        break;
      }
    }
  }

  template <class T>
  static Errno Ioctl(World& world, uint32_t command, T& argument) {
    const FileDriver::Answer answer = world.umad.driver().Ioctl(
        command, std::as_bytes(std::span(&argument, 1)));
    if (answer.data.size() == sizeof argument) {
      std::memcpy(&argument, answer.data.data(), sizeof argument);
    }
    return answer.error;
  }

  std::mt19937 chance_{GetParam()};
  World ringed_{true}, plain_{false};
};

TEST_P(InterleavingTest, OfCallsByRingsAndByTheFileIsAFileWithoutRings) {
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    Step();
    if (step == 2900) {
      for (World* const world : {&ringed_, &plain_}) {
        world->Turn(absl::ZeroDuration());
        world->device.Remove();
        world->Turn(absl::ZeroDuration());
      }
    }
  }
  EXPECT_GT(ringed_.umad.ways[true], 200);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InterleavingTest, ::testing::Range(1u, 13u));

}  // namespace
}  // namespace ibemu::cuse
