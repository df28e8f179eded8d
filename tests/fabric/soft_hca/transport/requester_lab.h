// A requester over a FakeLink, whose peer is the test.
#ifndef IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_LAB_H_
#define IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_LAB_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/soft_hca/transport/requester.h"
#include "tests/fabric/soft_hca/transport/fake_link.h"
#include "wire/psn.h"

namespace ibemu::fabric {

class RequesterLab {
 public:
  using Syndrome = Transport::Syndrome;

  // The local ACK timeout of code 14, which FakeLink has.
  static constexpr absl::Duration kTimeout =
      absl::Nanoseconds(int64_t{4096} << 14);

  explicit RequesterLab(verbs::QpType type) : link(type), requester(link) {
    link.flush = [this] { requester.Flush(); };
    requester.Start(FakeLink::kPsn);
    requester.RenewRetries();
  }

  static uint32_t Psn(uint32_t count) { return FakeLink::Psn(count); }

  verbs::SendRequest Request(uint32_t opcode, size_t offset,
                             size_t size) const {
    verbs::SendRequest request{};
    request.work.wr_id = ids_++;
    request.work.opcode = opcode;
    request.sges = {link.Sge(offset, size)};
    return request;
  }
  absl::Status Post(verbs::SendRequest request) {
    size_t taken = 0;
    absl::Status status = requester.Post({&request, 1}, taken);
    link.timers.RunPending();
    return status;
  }
  absl::Status Send(size_t size) {
    return Post(Request(IB_UVERBS_WR_SEND, 0, size));
  }
  absl::Status Read(size_t offset, size_t size) {
    verbs::SendRequest request = Request(IB_UVERBS_WR_RDMA_READ, offset, size);
    request.work.wr.rdma.remote_addr = kRemote;
    request.work.wr.rdma.rkey = kKey;
    return Post(std::move(request));
  }
  absl::Status Add(size_t offset, uint64_t value) {
    verbs::SendRequest request =
        Request(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, offset, 8);
    request.work.wr.atomic.remote_addr = kRemote;
    request.work.wr.atomic.compare_add = value;
    request.work.wr.atomic.rkey = kKey;
    return Post(std::move(request));
  }

  void Acknowledge(uint32_t psn, Syndrome syndrome = Syndrome::kAck,
                   uint8_t rnr_timer = 0) {
    Transport answer;
    answer.operation = Transport::Operation::kAcknowledge;
    answer.syndrome = syndrome;
    answer.rnr_timer = rnr_timer;
    answer.psn = psn;
    requester.OnAnswer(answer);
    link.timers.RunPending();
  }
  // A part of the response to an RDMA READ: `text` in packets of `payload`
  // bytes.
  void Respond(uint32_t psn, std::string_view text,
               size_t payload = FakeLink::kMtu) {
    Transport answer;
    answer.operation = Transport::Operation::kReadResponse;
    answer.last = true;
    answer.psn = psn;
    answer.message = FakeLink::BufferOf(text);
    answer.size = text.size();
    answer.packets = wire::PacketsFor(text.size(), payload);
    answer.payload = static_cast<uint32_t>(payload);
    requester.OnAnswer(answer);
    link.timers.RunPending();
  }
  void RespondAtomic(uint32_t psn, uint64_t original) {
    Transport answer;
    answer.operation = Transport::Operation::kAtomicResponse;
    answer.first = answer.last = true;
    answer.psn = psn;
    answer.original = original;
    requester.OnAnswer(answer);
    link.timers.RunPending();
  }
  void Reset() {
    link.Reset();
    requester.Reset();
  }

  static constexpr uint64_t kRemote = 0x7000;  // the peer's memory
  static constexpr uint32_t kKey = 0x99;

  FakeLink link;
  Requester requester;

 private:
  mutable uint64_t ids_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_SOFT_HCA_TRANSPORT_REQUESTER_LAB_H_
