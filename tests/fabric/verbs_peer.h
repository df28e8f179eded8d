// One end of a conversation between queue pairs of a RowFabric.
#ifndef IBEMU_TESTS_FABRIC_VERBS_PEER_H_
#define IBEMU_TESTS_FABRIC_VERBS_PEER_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/soft_hca/queue_pair.h"
#include "testing/fake_memory.h"
#include "testing/qp_steps.h"
#include "tests/fabric/small_fabric.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

using testing::FakeMemory;

class VerbsPeer final : public verbs::CqListener {
 public:
  static constexpr uint32_t kAll =
      verbs::access::kLocalWrite | verbs::access::kRemoteWrite |
      verbs::access::kRemoteRead | verbs::access::kRemoteAtomic;
  static constexpr size_t kSize = size_t{1} << 20;

  VerbsPeer(RowFabric& row, topology::NodeId node, verbs::QpType type,
            uint32_t rights = kAll)
      : provider(row.fabric.provider(node)),
        memory(std::make_shared<FakeMemory>(row.timers, kSize)),
        pd(*provider.CreatePd(memory->process())),
        mr(*provider.CreateMr({.pd = pd.get(),
                               .memory = memory,
                               .start = FakeMemory::kStart,
                               .length = kSize,
                               .address = FakeMemory::kStart,
                               .access = rights})),
        cq(*provider.CreateCq(1000, *this)) {
    verbs::QpInit init;
    init.type = type;
    init.signal_all = true;
    init.capacity = {.send_requests = 100,
                     .receive_requests = 100,
                     .send_sges = 4,
                     .receive_sges = 4,
                     .inline_bytes = 64};
    init.pd = pd.get();
    init.send_cq = init.receive_cq = cq.get();
    qp = *provider.CreateQp(init, *this);
  }

  // RESET to RTS, towards `peer` at `lid`; `mtu` is a code.
  void Connect(const VerbsPeer& peer, uint16_t lid, uint32_t mtu = 3) {
    verbs::QpAttributes to{};
    to.port_num = 1;
    to.qp_access_flags = kAll;
    to.qkey = 0x1234;
    to.path_mtu = mtu;
    to.dest_qp_num = peer.qp->number();
    to.ah_attr.dlid = lid;
    to.ah_attr.port_num = 1;
    to.rq_psn = to.sq_psn = 0xfffffe;  // about to wrap
    to.max_rd_atomic = to.max_dest_rd_atomic = 4;
    to.timeout = 14;
    to.retry_cnt = to.rnr_retry = 3;
    to.min_rnr_timer = 12;
    for (const auto state :
         {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
          verbs::QpState::kReadyToSend}) {
      Modify(to, static_cast<uint32_t>(state), testing::StepTo(state, Type()));
    }
  }

  ib_uverbs_sge Sge(size_t offset, size_t size) const {
    return {FakeMemory::kStart + offset, static_cast<uint32_t>(size),
            mr->lkey()};
  }
  absl::Status Receive(size_t offset, size_t size) {
    std::vector<verbs::ReceiveRequest> requests = {
        {.id = 100, .sges = {Sge(offset, size)}}};
    size_t taken = 0;
    return qp->PostReceive(requests, taken);
  }
  verbs::SendRequest Request(uint32_t opcode, size_t offset,
                             size_t size) const {
    verbs::SendRequest request{};
    request.work.wr_id = 7;
    request.work.opcode = opcode;
    request.sges = {Sge(offset, size)};
    return request;
  }
  absl::Status Post(verbs::SendRequest request) {
    size_t taken = 0;
    return qp->PostSend({&request, 1}, taken);
  }
  absl::Status Send(size_t offset, size_t size) {
    return Post(Request(IB_UVERBS_WR_SEND, offset, size));
  }
  // To or from `there` in the peer's memory.
  absl::Status Rdma(uint32_t opcode, size_t offset, size_t size,
                    const VerbsPeer& peer, size_t there) {
    verbs::SendRequest request = Request(opcode, offset, size);
    request.work.wr.rdma.remote_addr = FakeMemory::kStart + there;
    request.work.wr.rdma.rkey = peer.mr->rkey();
    return Post(std::move(request));
  }

  // At `there` in the peer's memory; what was there comes to `offset`.
  verbs::SendRequest Atomic(uint32_t opcode, size_t offset,
                            const VerbsPeer& peer, size_t there,
                            uint64_t compare_add, uint64_t swap = 0) const {
    verbs::SendRequest request = Request(opcode, offset, 8);
    request.work.wr.atomic.remote_addr = FakeMemory::kStart + there;
    request.work.wr.atomic.rkey = peer.mr->rkey();
    request.work.wr.atomic.compare_add = compare_add;
    request.work.wr.atomic.swap = swap;
    return request;
  }

  std::vector<verbs::WorkCompletion> Poll() {
    std::vector<verbs::WorkCompletion> all(1000);
    all.resize(cq->Poll(all));
    return all;
  }
  std::vector<uint32_t> PollStatuses() {
    std::vector<uint32_t> statuses;
    for (const auto& completion : Poll()) statuses.push_back(completion.status);
    return statuses;
  }
  verbs::QpState State() const {
    return verbs::QpState{static_cast<uint8_t>(qp->Query().qp_state)};
  }

  void OnArrival() override { ++arrivals; }
  void OnCompletion() override { ++notices; }
  void OnEvent(verbs::EventType type) override { events.push_back(type); }

  verbs::Provider& provider;
  std::shared_ptr<FakeMemory> memory;
  std::unique_ptr<verbs::Pd> pd;
  std::unique_ptr<verbs::Mr> mr;
  std::unique_ptr<verbs::Cq> cq;
  std::unique_ptr<verbs::Qp> qp;
  int notices = 0, arrivals = 0;
  std::vector<verbs::EventType> events;

 private:
  verbs::QpType Type() const {
    return static_cast<const QueuePair&>(*qp).type();
  }
  void Modify(verbs::QpAttributes to, uint32_t state, uint32_t mask) {
    to.qp_state = state;
    to.qp_attr_mask = mask | verbs::qp_attribute::kState;
    const absl::Status status = qp->Modify(to);
    EXPECT_TRUE(status.ok()) << status;
  }
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_VERBS_PEER_H_
