// Program: what uses the verbs of an adapter while a fuzzer disturbs that.
#ifndef IBEMU_TESTS_FUZZ_MLX4_MLX4_PROGRAM_H_
#define IBEMU_TESTS_FUZZ_MLX4_MLX4_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/qp_steps.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

using testing::FakeMemory;
using verbs::QpType;

struct Sort {
  QpType type = QpType::kRc;
  bool shares = false;  // a shared receive queue
  size_t peer = 0;
};
inline constexpr std::array kSorts = {
    Sort{.type = QpType::kRc, .shares = false, .peer = 1},
    Sort{.type = QpType::kRc, .shares = false, .peer = 0},
    Sort{.type = QpType::kRc, .shares = true, .peer = 3},
    Sort{.type = QpType::kRc, .shares = true, .peer = 2},
    Sort{.type = QpType::kUc, .shares = false, .peer = 5},
    Sort{.type = QpType::kUc, .shares = false, .peer = 4},
    Sort{.type = QpType::kUd, .shares = false, .peer = 6},
};
inline constexpr size_t kQps = kSorts.size();

// A Program has a queue pair of each sort; those of a sort talk to each other.
// Of its memory the last quarter is in no request.
class Program final : private verbs::CqListener {
 public:
  static constexpr size_t kMemory = 1 << 16;
  static constexpr uint32_t kQKey = 0x1234;

  Program(verbs::Provider& provider, std::shared_ptr<FakeMemory> memory)
      : provider_(provider), memory_(std::move(memory)) {}

  // False: the adapter did not give all of it.
  bool Start() {
    auto pd = provider_.CreatePd(memory_->process());
    if (!pd.ok()) return false;
    pd_ = *std::move(pd);
    auto mr = provider_.CreateMr({.pd = pd_.get(),
                                  .memory = memory_,
                                  .start = FakeMemory::kStart,
                                  .length = kMemory,
                                  .address = FakeMemory::kStart,
                                  .access = verbs::access::kLocalWrite});
    auto cq = provider_.CreateCq(256, *this);
    auto ah = provider_.CreateAh(*pd_, Attributes(0).ah_attr);
    if (!mr.ok() || !cq.ok() || !ah.ok()) return false;
    mr_ = *std::move(mr);
    cq_ = *std::move(cq);
    ah_ = *std::move(ah);
    auto srq = provider_.CreateSrq(
        *pd_, {.max_requests = 7, .max_sges = 2, .limit = 0}, *this);
    if (!srq.ok()) return false;
    srq_ = *std::move(srq);
    for (size_t i = 0; i < kQps; ++i) {
      if (!Create(i)) return false;
    }
    for (size_t i = 0; i < kQps; ++i) Connect(i);
    return true;
  }

  // 0: it has none of this sort now.
  uint32_t Qpn(size_t which) const {
    return qps_[which] ? qps_[which]->number() : 0;
  }

  void Step(testing::FuzzInput& input) {
    const size_t which = input.Byte() % kQps;
    if (!qps_[which] && !Create(which)) return;
    switch (input.Byte() % 9) {
      case 0:
        Send(input, which);
        break;
      case 1:
        Receive(input, which);
        break;
      case 2:
        Modify(which, verbs::QpState{static_cast<uint8_t>(input.Byte() % 7)},
               input.Short() << 5);
        break;
      case 3:
        qps_[which]->Query();
        break;
      case 4:
        Join(which, input.Byte());
        break;
      case 5:
        qps_[which].reset();
        break;
      case 6:
        Connect(which);
        break;
      case 7:
        srq_->SetLimit(input.Byte() % 8).IgnoreError();
        break;
      case 8:
        Poll(input.Byte());
        break;
    }
  }

 private:
  void OnArrival() override {}
  void OnCompletion() override {}
  void OnEvent(verbs::AsyncEventType) override {}

  bool Create(size_t which) {
    verbs::QpInit init;
    init.type = kSorts[which].type;
    init.signal_all = true;
    init.capacity = {.send_requests = 16,
                     .receive_requests = 16,
                     .send_sges = 2,
                     .receive_sges = 2,
                     .inline_bytes = 64};
    init.pd = pd_.get();
    init.send_cq = init.receive_cq = cq_.get();
    if (kSorts[which].shares) init.srq = srq_.get();
    auto qp = provider_.CreateQp(init, *this);
    if (qp.ok()) qps_[which] = *std::move(qp);
    return qp.ok();
  }

  // Its peer is of the same port.
  verbs::QpAttributes Attributes(size_t which) const {
    verbs::QpAttributes to{};
    to.port_num = 1;
    to.qkey = kQKey;
    to.path_mtu = 3;
    const auto& peer = qps_[kSorts[which].peer];
    to.dest_qp_num = peer ? peer->number() : 0;
    to.ah_attr.dlid = 5;
    to.ah_attr.port_num = 1;
    to.max_rd_atomic = to.max_dest_rd_atomic = 4;
    to.timeout = 10;
    to.retry_cnt = to.rnr_retry = 3;
    to.min_rnr_timer = 12;
    return to;
  }
  void Modify(size_t which, verbs::QpState state, uint32_t mask) {
    verbs::QpAttributes to = Attributes(which);
    to.qp_state = static_cast<uint32_t>(state);
    to.qp_attr_mask = mask | verbs::qp_attribute::kState;
    qps_[which]->Modify(to).IgnoreError();
  }
  void Connect(size_t which) {
    for (const auto state :
         {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
          verbs::QpState::kReadyToSend}) {
      Modify(which, state, testing::StepTo(state, kSorts[which].type));
    }
  }

  ib_uverbs_sge Sge(testing::FuzzInput& input) const {
    const uint64_t start = FakeMemory::kStart + input.Short() % (kMemory / 2);
    return {start, input.Short() % static_cast<uint32_t>(kMemory / 4),
            mr_->lkey()};
  }
  void Send(testing::FuzzInput& input, size_t which) {
    verbs::SendRequest request{};
    request.work.wr_id = which;
    request.work.opcode = input.Byte() % 7;
    request.sges = {Sge(input)};
    if (kSorts[which].type == QpType::kUd) {
      request.address = ah_.get();
      request.work.wr.ud.remote_qpn = qps_[which]->number();
      request.work.wr.ud.remote_qkey = kQKey;
    }
    size_t taken = 0;
    qps_[which]->PostSend({&request, 1}, taken).IgnoreError();
  }
  void Receive(testing::FuzzInput& input, size_t which) {
    verbs::ReceiveRequest request{.id = which, .sges = {Sge(input)}};
    size_t taken = 0;
    const auto posted = kSorts[which].shares
                            ? srq_->PostReceive({&request, 1}, taken)
                            : qps_[which]->PostReceive({&request, 1}, taken);
    posted.IgnoreError();
  }
  void Join(size_t which, uint8_t group) {
    verbs::GidBytes gid{};
    gid[0] = 0xff;
    gid[15] = group / 2;
    constexpr uint16_t kLid = 0xc001;
    if (group % 2 == 0) {
      qps_[which]->AttachMulticast(gid, kLid).IgnoreError();
    } else {
      qps_[which]->DetachMulticast(gid, kLid);
    }
  }
  void Poll(uint8_t how) {
    std::array<verbs::WorkCompletion, 16> completions{};
    cq_->Poll(completions);
    if (how % 2 == 0) cq_->RequestNotify(how % 4 == 0);
  }

  verbs::Provider& provider_;
  const std::shared_ptr<FakeMemory> memory_;
  std::unique_ptr<verbs::Pd> pd_;
  std::unique_ptr<verbs::Mr> mr_;
  std::unique_ptr<verbs::Cq> cq_;
  std::unique_ptr<verbs::Ah> ah_;
  std::unique_ptr<verbs::Srq> srq_;
  std::array<std::unique_ptr<verbs::Qp>, kQps> qps_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_FUZZ_MLX4_MLX4_PROGRAM_H_
