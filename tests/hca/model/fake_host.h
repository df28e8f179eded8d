// An adapter that is up, with queues and a queue pair to send and receive with.
#ifndef IBEMU_TESTS_HCA_MODEL_FAKE_HOST_H_
#define IBEMU_TESTS_HCA_MODEL_FAKE_HOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hca/prm/mlx4_wqe.h"
#include "tests/hca/model/fake_driver.h"

namespace ibemu::hca::model {

// The queue pair under test.
constexpr uint32_t kQpn = 200;

// A FakeHost has an adapter that is up, with queues of completions and
// of events, and makes queue pairs.
class FakeHost : public FakeDriver {
 public:
  static constexpr uint32_t kAsyncEq = 4;  // events
  static constexpr uint32_t kEq = 5;       // completions
  static constexpr uint32_t kSendCq = 130, kReceiveCq = 131;
  static constexpr uint32_t kPd = 7;
  static constexpr uint32_t kRegion = 20;
  static constexpr uint64_t kRegionStart = 0x10000;
  static constexpr uint64_t kRegionBytes = 1 << 16;
  static constexpr uint32_t kKey = kRegion << 8;
  static constexpr uint32_t kSpecialBase = 64;
  static constexpr int kLogWqes = 3;  // of each queue
  static constexpr size_t kStride = 256;

  explicit FakeHost(testing::VirtualTimers& timers, uint16_t lid = 5)
      : FakeDriver(timers) {
    cables[0].info.lid = wire::Lid{lid};
    cables[0].gid0 = lid;
    cables[0].listener->OnPortEvent();  // nobody is told yet
    Initialise();
    StartEq(kAsyncEq, 6);
    StartEq(kEq, 4);
    Command(Opcode::kMapEq, kAsyncEq, 0,
            ~prm::EventBit(prm::EqeType::kCommand) & ~uint64_t{1});
    StartCq(kSendCq, 4, kEq);
    StartCq(kReceiveCq, 4, kEq);
    region = StartRegion(kRegion, kPd, kRegionStart, kRegionBytes);
    Command(Opcode::kConfSpecialQp, kSpecialBase);
    Command(Opcode::kInitPort, 1);
  }

  // As the Linux driver asks for it: queues of 8 WQEs of 256 bytes, the send
  // queue first.
  prm::QpContext Context(prm::QpService service) {
    prm::QpContext context;
    context.service = service;
    context.pd = kPd;
    context.mtu = 3;  // 1,024 bytes
    context.log_msg_max = 30;
    context.log_rq_size = context.log_sq_size = kLogWqes;
    context.log_rq_stride = context.log_sq_stride = 4;
    context.usr_page = kUar;
    context.cqn_send = kSendCq;
    context.cqn_receive = kReceiveCq;
    context.primary.sched_queue = prm::SchedQueue(1, 0);
    return context;
  }

  Status Modify(Opcode opcode, uint32_t qpn, const prm::QpContext& context,
                uint32_t optional = 0, uint32_t flags = 0) {
    machine.Put(inbox + prm::kQpContextInMailbox, context);
    machine.PutWord(inbox, optional);
    const uint8_t op_modifier =
        opcode == Opcode::k2RstQp ? prm::kFromAnyState : uint8_t{0};
    return Command(opcode, qpn | flags, op_modifier, inbox);
  }
  // With memory of its own.
  Status Create(uint32_t qpn, prm::QpContext context, uint32_t optional = 0) {
    Pair& pair = pairs[qpn];
    const Buffer buffer = MakeBuffer(2 * (kStride << kLogWqes));
    pair = {.sends = buffer.memory,
            .receives = buffer.memory + (kStride << kLogWqes),
            .record = machine.Allocate(4)};
    // Software owns all WQEs of the first round.
    for (uint32_t i = 0; i < 1u << kLogWqes; ++i) {
      machine.PutWord(pair.sends + i * kStride, 0x80000000);
    }
    context.mtt_base_addr = buffer.mtt;
    context.db_record_addr = pair.record;
    return Modify(Opcode::kRst2InitQp, qpn, context, optional);
  }
  void ToRts(uint32_t qpn, const prm::QpContext& context) {
    const bool connected = context.service == prm::QpService::kRc ||
                           context.service == prm::QpService::kUc;
    const uint32_t optional = connected ? 0u : uint32_t{prm::kOptQKey};
    Modify(Opcode::kInit2RtrQp, qpn, context, optional);
    Modify(Opcode::kRtr2RtsQp, qpn, context, optional);
  }
  prm::QpContext Query(uint32_t qpn) {
    Ask(Opcode::kQueryQp, qpn);
    return Out<prm::QpContext>(prm::kQpContextInMailbox);
  }

  // Puts a WQE into the send queue; its control segment's `owner` and `size`
  // are set here.
  template <class Control>
  void Post(uint32_t qpn, Control control,
            const std::vector<std::byte>& segments, bool ring = true) {
    Pair& pair = pairs[qpn];
    const uint64_t slot = pair.posted & ((1u << kLogWqes) - 1);
    const uint64_t place = pair.sends + slot * kStride;
    control.owner = (pair.posted >> kLogWqes & 1) != 0;
    control.size = static_cast<uint8_t>((segments.size() + 16) / 16);
    std::ranges::copy(segments,
                      machine.Bytes(place + 16, kStride - 16).begin());
    machine.Put(place, control);
    ++pair.posted;
    // The one after it is software's.
    const uint32_t next = pair.posted;
    const bool round = (next >> kLogWqes & 1) != 0;
    machine.PutWord(pair.sends + (next & ((1u << kLogWqes) - 1)) * kStride,
                    round ? 0 : 0x80000000);
    if (ring) Ring(qpn);
  }
  void Ring(uint32_t qpn, uint32_t uar = kUar) {
    device.WriteBar(2, uar * 4096 + prm::kSendDoorbell, 4,
                    __builtin_bswap32(qpn << 8));
  }
  void PostReceive(uint32_t qpn, const std::vector<prm::DataSegment>& list) {
    Pair& pair = pairs[qpn];
    uint64_t place = pair.receives +
                     (pair.receives_posted & ((1u << kLogWqes) - 1)) * kStride;
    for (const prm::DataSegment& segment : list) {
      machine.Put(place, segment);
      place += 16;
    }
    machine.Put(place, prm::DataSegment{.lkey = prm::kInvalidLKey});
    ++pair.receives_posted;
    machine.PutWord(pair.record, pair.receives_posted);
  }

  // Of the region, `offset` bytes in.
  static prm::DataSegment At(uint64_t offset, uint32_t bytes) {
    return {
        .byte_count = bytes, .lkey = kKey, .address = kRegionStart + offset};
  }
  void Fill(uint64_t offset, std::string_view text) {
    std::ranges::copy(std::as_bytes(std::span(text)),
                      machine.Bytes(region + offset, text.size()).begin());
  }
  std::string_view Text(uint64_t offset, size_t count) {
    return {reinterpret_cast<const char*>(
                machine.Bytes(region + offset, count).data()),
            count};
  }

  // The next completion that software has not read; an empty one (owner true)
  // if there is none.
  prm::Cqe NextCqe(uint32_t cqn) {
    uint32_t& consumer = consumers[cqn];
    const prm::Cqe entry = CompletionAt(cqn, consumer & 15);
    if (entry.owner != ((consumer >> 4 & 1) != 0)) return {.owner = true};
    ++consumer;
    ReadCq(cqn, consumer);
    prm::Cqe found = entry;
    found.owner = false;
    last = machine.Get<prm::ErrorCqe>(cqs[cqn].memory +
                                      uint64_t{(consumer - 1) & 15} * 32);
    return found;
  }
  bool Empty(uint32_t cqn) {
    const uint32_t consumer = consumers[cqn];
    return CompletionAt(cqn, consumer & 15).owner != ((consumer >> 4 & 1) != 0);
  }
  // How the next request ended, kNone if well.
  prm::CqeSyndrome NextSyndrome(uint32_t cqn) {
    const prm::Cqe entry = NextCqe(cqn);
    return entry.opcode == prm::kCqeError ? last.syndrome
                                          : prm::CqeSyndrome::kNone;
  }
  // The types of all events so far.
  std::vector<prm::EqeType> Events() {
    std::vector<prm::EqeType> types;
    for (uint32_t i = 0; i < 64 && !EventAt(kAsyncEq, i).owner; ++i) {
      types.push_back(EventAt(kAsyncEq, i).type);
    }
    return types;
  }

  struct Pair {
    uint64_t sends = 0, receives = 0, record = 0;
    uint32_t posted = 0, receives_posted = 0;
  };
  std::map<uint32_t, Pair> pairs;
  std::map<uint32_t, uint32_t> consumers;
  prm::ErrorCqe last;
  uint64_t region = 0;  // on the bus
};

// The bytes of segments, one after the other.
template <wire::Structure... Segments>
std::vector<std::byte> Concat(const Segments&... segments) {
  std::vector<std::byte> bytes;
  (wire::Append(segments, bytes), ...);
  return bytes;
}

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_HCA_MODEL_FAKE_HOST_H_
