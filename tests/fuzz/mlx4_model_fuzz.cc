// A guest does anything to a modelled ConnectX-3 that is up, with a datagram
// queue pair and pairs of others that are connected to each other: reliable,
// unreliable, and reliable with a shared receive queue; and peers send it
// anything: it refuses, or fails, but goes on.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/parsed_packet.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"
#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;

constexpr uint32_t kDatagrams = 200, kReliable = 210, kPeer = 211;
constexpr uint32_t kUnreliable = 220, kUnreliablePeer = 221;
constexpr uint32_t kSharing = 230, kSharingPeer = 231;
constexpr uint32_t kPairs[] = {kDatagrams,     kReliable, kPeer,
                               kUnreliable,    kSharing,  kSharingPeer,
                               kUnreliablePeer};
constexpr uint32_t kFree = 21, kFreePages = 4;  // for fast registration
constexpr uint32_t kShared = 70;                // a shared receive queue
constexpr int kLogShared = 3;                   // its WQEs
constexpr size_t kSharedStride = 32;
constexpr Opcode kOpcodes[] = {
    Opcode::kQueryDevCap, Opcode::kQueryFw,   Opcode::kQueryAdapter,
    Opcode::kInitHca,     Opcode::kCloseHca,  Opcode::kInitPort,
    Opcode::kClosePort,   Opcode::kQueryHca,  Opcode::kSetPort,
    Opcode::kModStatCfg,  Opcode::kQueryPort, Opcode::kSensePort,
    Opcode::kRunFw,       Opcode::kUnmapIcm,  Opcode::kMapIcm,
    Opcode::kUnmapIcmAux, Opcode::kMapIcmAux, Opcode::kSetIcmSize,
    Opcode::kUnmapFa,     Opcode::kMapFa,     Opcode::kSw2HwMpt,
    Opcode::kQueryMpt,    Opcode::kHw2SwMpt,  Opcode::kReadMtt,
    Opcode::kWriteMtt,    Opcode::kSyncTpt,   Opcode::kMapEq,
    Opcode::kSw2HwEq,     Opcode::kHw2SwEq,   Opcode::kQueryEq,
    Opcode::kSw2HwCq,     Opcode::kHw2SwCq,   Opcode::kQueryCq,
    Opcode::kModifyCq,    Opcode::kSw2HwSrq,  Opcode::kHw2SwSrq,
    Opcode::kQuerySrq,    Opcode::kArmSrq,    Opcode::kRst2InitQp,
    Opcode::kInit2RtrQp,  Opcode::kRtr2RtsQp, Opcode::kRts2RtsQp,
    Opcode::kSqErr2RtsQp, Opcode::k2ErrQp,    Opcode::kRts2SqdQp,
    Opcode::kSqd2RtsQp,   Opcode::k2RstQp,    Opcode::kQueryQp,
    Opcode::kInit2InitQp, Opcode::kSqd2SqdQp, Opcode::kConfSpecialQp,
    Opcode::kMadIfc,      Opcode::kReadMcg,   Opcode::kWriteMcg,
    Opcode::kMgidHash,    Opcode::kDiagRprt,  Opcode::kNop,
    Opcode::kMadDemux};

void Require(bool holds) {
  if (!holds) std::abort();
}

class Guest {
 public:
  explicit Guest(testing::FuzzInput& input) : input_(input) {
    Start(kDatagrams, here_.Context(prm::QpService::kUd));
    prm::QpContext context = here_.Context(prm::QpService::kRc);
    context.primary.rlid = 5;  // its own
    context.primary.ack_timeout = 10;
    context.retry_count = context.rnr_retry = 2;
    context.log_sra_max = context.log_rra_max = 2;
    context.remote_read = context.remote_write = context.remote_atomic = true;
    context.fast_register = true;
    prm::Mpt entry = FakeDriver::FreeRegion(kFree, FakeHost::kPd, kFreePages);
    entry.mtt_addr = here_.MakeBuffer(kFreePages * prm::kIcmPageBytes).mtt;
    Require(here_.Give(Opcode::kSw2HwMpt, kFree, entry) ==
            prm::CommandStatus::kOk);
    StartBoth(kReliable, kPeer, context);
    StartShared();
    context.srq = true;
    context.srqn = kShared;
    StartBoth(kSharing, kSharingPeer, context);
    context.service = prm::QpService::kUc;
    context.srq = false;
    context.srqn = 0;
    StartBoth(kUnreliable, kUnreliablePeer, context);
  }

  void Step() {
    switch (input_.Byte() % 10) {
      case 0:
        here_.device.WriteBar(0, ControlRegister(), 4, Word());
        break;
      case 1:
        here_.device.ReadBar(0, ControlRegister(), 4);
        break;
      case 2:
        WriteDoorbell();
        break;
      case 3:
        WriteMemory();
        break;
      case 4:
        GiveCommand();
        break;
      case 5:
        ReceivePacket();
        break;
      case 6:
        PostSend();
        break;
      case 7:
        PostReceive();
        break;
      case 8:
        timers_.RunFor(absl::Milliseconds(input_.Byte()));
        break;
      case 9:
        Disturb();
        break;
    }
  }

 private:
  void Start(uint32_t qpn, const prm::QpContext& context) {
    here_.Create(qpn, context);
    if (context.srq) {
      PostShared(FakeHost::At(0, 4096));
    } else {
      here_.PostReceive(qpn, {FakeHost::At(0, 4096)});
    }
    here_.ToRts(qpn, context);
    Require(here_.Query(qpn).state == prm::QpContextState::kRts);
  }
  void StartBoth(uint32_t one, uint32_t other, prm::QpContext context) {
    context.remote_qpn = other;
    Start(one, context);
    context.remote_qpn = one;
    Start(other, context);
  }

  void StartShared() {
    const auto buffer = here_.MakeBuffer(kSharedStride << kLogShared);
    shared_wqes_ = buffer.memory;
    shared_record_ = here_.machine.Allocate(4);
    for (uint16_t i = 0; i < 1u << kLogShared; ++i) {
      const auto next = static_cast<uint16_t>((i + 1) % (1u << kLogShared));
      here_.machine.Put(shared_wqes_ + i * kSharedStride,
                        prm::NextSegment{.next_wqe_index = next});
    }
    prm::SrqContext context;
    context.pd = FakeHost::kPd;
    context.log_srq_size = kLogShared;
    context.log_stride = 1;
    context.mtt_base_addr = buffer.mtt;
    context.db_record_addr = shared_record_;
    Require(here_.Give(Opcode::kSw2HwSrq, kShared, context) ==
            prm::CommandStatus::kOk);
  }
  void PostShared(const prm::DataSegment& segment) {
    const uint32_t slot = shared_posted_ % (1u << kLogShared);
    here_.machine.Put(
        shared_wqes_ + slot * kSharedStride + wire::kBytes<prm::NextSegment>,
        segment);
    here_.machine.PutWord(shared_record_, ++shared_posted_ & 0xffff);
  }
  void PostReceive() {
    const uint32_t qpn = Pair();
    if (qpn == kSharing || qpn == kSharingPeer) {
      PostShared(Segment());
    } else {
      here_.PostReceive(qpn, {Segment()});
    }
  }

  uint32_t Word() {
    const uint32_t high = input_.Short();
    return high << 16 | input_.Short();
  }
  uint32_t FreeKey() { return kFree << 8 | (input_.Byte() & 3); }
  uint32_t Pair() { return kPairs[input_.Byte() % std::size(kPairs)]; }
  // Mostly of the region.
  prm::DataSegment Segment() {
    return {.byte_count = input_.Short(),
            .lkey = FakeHost::kKey ^ input_.Byte(),
            .address = FakeHost::kRegionStart + input_.Short()};
  }
  size_t ControlRegister() {
    constexpr size_t kPlaces[] = {prm::kOwner, prm::kReset,
                                  prm::kResetSemaphore, mlx4::kErrorBuffer};
    const uint8_t place = input_.Byte();
    if (place % 4 == 0) return kPlaces[place / 4 % std::size(kPlaces)];
    return prm::kHcr + place / 4 % (prm::kHcrBytes / 4) * 4;
  }
  void WriteDoorbell() {
    constexpr size_t kPlaces[] = {prm::kSendDoorbell, prm::kCqDoorbell,
                                  prm::kCqDoorbell + 4, prm::kEqDoorbell,
                                  prm::kEqDoorbell + 8};
    const uint8_t how = input_.Byte();
    const size_t page = (how & 1) != 0 ? FakeHost::kUar : input_.Byte();
    const size_t place = kPlaces[how / 4 % std::size(kPlaces)];
    if ((how & 2) != 0) {
      here_.device.WriteBar(2, page * prm::kUarPageSize + place / 8 * 8, 8,
                            uint64_t{Word()} << 32 | Word());
    } else {
      here_.device.WriteBar(2, page * prm::kUarPageSize + place, 4, Word());
    }
  }

  // Where something lies that the adapter reads.
  uint64_t Place() {
    const uint8_t which = input_.Byte();
    FakeHost::Pair& pair = here_.pairs[kPairs[which / 8 % std::size(kPairs)]];
    if (which == 0xff) return shared_wqes_;
    switch (which % 8) {
      case 0:
        return here_.inbox;
      case 1:
        return pair.sends;
      case 2:
        return pair.receives;
      case 3:
        return pair.record;
      case 4:
        return here_.cq_records[FakeHost::kSendCq];
      case 5:
        return here_.multicast_table;
      case 6:
        return here_.region;
      default:  // tables in ICM, what was mapped last
        return FakePciHost::kBase + uint64_t{input_.Short()} * 256;
    }
  }
  void WriteMemory() {
    const uint64_t place = Place() + input_.Short() % 4096;
    here_.machine.WriteMemory(place, input_.Take(input_.Byte()));
  }
  void GiveCommand() {
    const Opcode opcode = kOpcodes[input_.Byte() % std::size(kOpcodes)];
    const uint8_t how = input_.Byte();
    const uint64_t in = (how & 0x10) != 0 ? Word() : here_.inbox;
    const uint64_t out = (how & 0x20) != 0 ? here_.inbox : here_.outbox;
    here_.Command(opcode, (how & 0x40) != 0 ? Word() : input_.Byte(), how & 0xf,
                  in, out, (how & 0x80) != 0 ? prm::kHcrEvent : 0);
  }

  // Headers as a peer makes them, whatever they say.
  void ReceivePacket() {
    const uint8_t opcode = input_.Byte();
    const uint32_t qpn = Pair();
    const uint32_t psn = input_.Byte();
    const mad::Bytes payload = input_.Take(input_.Byte() * size_t{5});
    std::vector<std::byte> packet =
        mlx4::BuildPacket({.dlid = wire::Lid{5}, .slid = wire::Lid{5}}, {},
                          {.opcode = opcode,
                           .p_key = 0xffff,
                           .destination_qpn = qpn,
                           .ack_request = (psn & 1) != 0,
                           .psn = psn / 2 % 32},
                          {}, payload);
    if ((psn & 0x80) != 0) std::ranges::copy(payload, packet.begin());
    here_.cables[0].listener->OnPacket(packet);
  }

  void PostSend() {
    const uint32_t qpn = Pair();
    const prm::ControlSegment control{
        .opcode = static_cast<prm::WqeOpcode>(input_.Byte() & 0x1f),
        .completion = prm::kCompletionRequested,
        .immediate = kFree << 8};  // what a SEND with invalidate names
    std::vector<std::byte> segments;
    if (qpn == kDatagrams) {
      prm::DatagramSegment to;
      to.address.pd = FakeHost::kPd;
      to.address.port = 1;
      to.address.rlid = 5;
      to.remote_qpn = kDatagrams;
      wire::Append(to, segments);
    } else if (control.opcode == prm::WqeOpcode::kFastRegister) {
      const uint8_t rights = input_.Byte();
      wire::Append(prm::FastRegisterSegment{.local_read = (rights & 1) != 0,
                                            .local_write = (rights & 2) != 0,
                                            .remote_read = (rights & 4) != 0,
                                            .remote_write = (rights & 8) != 0,
                                            .atomic = (rights & 16) != 0,
                                            .key = FreeKey(),
                                            .page_list = Place(),
                                            .start = Word(),
                                            .length = input_.Short(),
                                            .log_page_size = input_.Byte()},
                   segments);
      return here_.Post(qpn, control, segments);
    } else if (control.opcode == prm::WqeOpcode::kLocalInvalidate) {
      wire::Append(prm::LocalInvalidateSegment{.key = FreeKey()}, segments);
      return here_.Post(qpn, control, segments);
    } else if (input_.Byte() % 2 == 0) {
      wire::Append(prm::RemoteAddressSegment{.address = FakeHost::kRegionStart +
                                                        input_.Short(),
                                             .rkey = FakeHost::kKey},
                   segments);
    }
    for (int i = input_.Byte() % 3; i >= 0; --i) {
      wire::Append(Segment(), segments);
    }
    here_.Post(qpn, control, segments);
  }

  void Disturb() {
    const uint8_t what = input_.Byte();
    switch (what % 4) {
      case 0:
        here_.device.Fail(what + 1u);
        break;
      case 1:
        here_.machine.unmapped = Place() / 4096 * 4096;
        break;
      case 2:
        here_.EnableFunction();
        here_.machine.unmapped = 0;
        break;
      case 3:
        here_.cables[0].info.lid = wire::Lid{what};
        here_.cables[0].listener->OnPortEvent();
        break;
    }
  }

  testing::FuzzInput& input_;
  testing::VirtualTimers timers_;
  FakeHost here_{timers_};
  uint64_t shared_wqes_ = 0, shared_record_ = 0;  // on the bus
  uint32_t shared_posted_ = 0;
};

}  // namespace
}  // namespace ibemu::hca::model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::hca::model::Guest guest(input);
  while (!input.empty()) guest.Step();
  return 0;
}
