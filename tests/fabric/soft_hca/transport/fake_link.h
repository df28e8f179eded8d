// A queue pair for tests of its parts: no fabric, no adapter.
#ifndef IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_FAKE_LINK_H_
#define IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_FAKE_LINK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/posted_send.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "testing/fake_memory.h"
#include "testing/virtual_timers.h"
#include "verbs/parts/memory_region.h"
#include "wire/psn.h"

namespace ibemu::fabric {

// A FakeLink is a queue pair in RTS, connected to nobody.  It keeps what its
// part sends.  Its memory is one region with all rights; its receive queue and
// its completion queue are real.
class FakeLink final : public QueuePairLink, private verbs::CqListener {
 public:
  static constexpr uint32_t kAll =
      verbs::access::kLocalWrite | verbs::access::kRemoteWrite |
      verbs::access::kRemoteRead | verbs::access::kRemoteAtomic;
  static constexpr size_t kSize = size_t{4} << 20;
  static constexpr uint64_t kStart = testing::FakeMemory::kStart;
  static constexpr size_t kMtu = 1024;
  static constexpr uint32_t kPsn = 0xfffffe;  // the first one; about to wrap

  explicit FakeLink(verbs::QpType type)
      : memory(std::make_shared<testing::FakeMemory>(timers, kSize)),
        mr(Register(kAll)),
        cq(1000, 1000, *this),
        context{.number = 0x11,
                .init = {.type = type,
                         .signal_all = true,
                         .capacity = {.send_requests = 20,
                                      .receive_requests = 20,
                                      .send_sges = 4,
                                      .receive_sges = 4,
                                      .inline_bytes = 64},
                         .pd = &pd,
                         .send_cq = &cq,
                         .receive_cq = &cq,
                         .srq = nullptr},
                .listener = *this,
                .timers = timers,
                .keys = keys,
                .bounces = bounces,
                .atomics = atomics,
                .history = history,
                .counters = counters} {
    context.state = verbs::QpState::kReadyToSend;
    verbs::QpAttributes& to = context.attributes;
    to.port_num = 1;
    to.qp_access_flags = kAll;
    to.dest_qp_num = 0x22;
    to.ah_attr.dlid = 2;
    to.max_rd_atomic = to.max_dest_rd_atomic = 4;
    to.timeout = 14;
    to.retry_cnt = to.rnr_retry = 2;
    to.min_rnr_timer = 12;
  }

  std::unique_ptr<verbs::MemoryRegion> Register(uint32_t access) {
    return *verbs::MemoryRegion::Register(keys, {.pd = &pd,
                                                 .memory = memory,
                                                 .start = kStart,
                                                 .length = kSize,
                                                 .address = kStart,
                                                 .access = access});
  }
  ib_uverbs_sge Sge(size_t offset, size_t size) const {
    return {kStart + offset, static_cast<uint32_t>(size), mr->lkey()};
  }
  void Receive(uint64_t id, size_t offset, size_t size) {
    receives.push_back({.id = id, .sges = {Sge(offset, size)}});
  }

  // Returns the PSN that comes `count` packets after the first one.
  static uint32_t Psn(uint32_t count) { return wire::PsnAfter(kPsn, count); }
  static verbs::Buffer BufferOf(std::string_view text) {
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (const char c : text) bytes->push_back(std::byte(c));
    return bytes;
  }

  // Resets the queue pair, whose part is reset by its own test.
  void Reset() {
    context.guard.Invalidate();
    context.state = verbs::QpState::kReset;
  }

  // Return what came since they were called last.
  std::vector<Transport> TakeSent() {
    timers.RunPending();
    std::vector<Transport> taken;
    for (const auto& packets : std::exchange(sent, {})) {
      taken.push_back(*packets);
    }
    return taken;
  }
  std::vector<verbs::WorkCompletion> Poll() {
    timers.RunPending();
    std::vector<verbs::WorkCompletion> all(1000);
    all.resize(cq.Poll(all));
    return all;
  }
  std::vector<uint32_t> PollStatuses() {
    std::vector<uint32_t> statuses;
    for (const auto& completion : Poll()) statuses.push_back(completion.status);
    return statuses;
  }

  const QueuePairContext& qp() const override { return context; }
  size_t Mtu() const override { return kMtu; }
  void Transmit(std::shared_ptr<const Transport> packets) override {
    sent.push_back(std::move(packets));
  }
  void TransmitDatagram(std::shared_ptr<const Transport> packet,
                        const PostedSend& send) override {
    destinations.push_back(send.request.work.wr.ud.remote_qpn);
    sent.push_back(std::move(packet));
  }
  std::optional<verbs::ReceiveRequest> TakeReceive(QueuePairHistory::Psn,
                                                   absl::string_view) override {
    if (receives.empty()) return std::nullopt;
    verbs::ReceiveRequest request = std::move(receives.front());
    receives.pop_front();
    return request;
  }
  bool MoveToAlternatePath(absl::string_view) override {
    return std::exchange(armed, false);
  }
  void PutBackReceive(verbs::ReceiveRequest request) override {
    receives.push_front(std::move(request));
  }
  void EnterError(absl::string_view) override {
    if (context.state == verbs::QpState::kError) return;
    context.guard.Invalidate();
    context.state = verbs::QpState::kError;
    flush();
  }
  void EnterSendQueueError(absl::string_view) override {
    context.state = verbs::QpState::kSendQueueError;
  }
  CompletionFate FateOf(WorkQueue /*queue*/) override { return fate; }
  void OnLostCompletion() override { ++lost_completions; }

  testing::VirtualTimers timers;
  std::shared_ptr<testing::FakeMemory> memory;
  verbs::Pd pd;
  verbs::KeyTable keys{100};
  std::unique_ptr<verbs::MemoryRegion> mr;
  verbs::BounceBuffers bounces;
  AtomicUnit atomics;
  verbs::CompletionQueue cq;
  std::deque<verbs::ReceiveRequest> receives;
  QueuePairHistory history{timers};
  verbs::HwCounters counters;
  QueuePairContext context;
  CompletionFate fate;  // of every completion that would be successful
  std::vector<std::shared_ptr<const Transport>> sent;
  std::vector<uint32_t> destinations;  // of datagrams
  std::vector<verbs::AsyncEventType> events;
  int lost_completions = 0;
  bool armed = false;  // an alternate path, which it can take once
  std::function<void()> flush = [] {};  // flushes the part under test

 private:
  void OnArrival() override {}
  void OnCompletion() override {}
  void OnEvent(verbs::AsyncEventType type) override { events.push_back(type); }
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_FAKE_LINK_H_
