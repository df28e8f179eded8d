// Programs that use the verbs of two modelled adapters, and talk.
#ifndef IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_
#define IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/fake_memory.h"
#include "testing/qp_steps.h"
#include "tests/hca/mlx4/driver_bench.h"
#include "verbs/provider.h"
#include "verbs/wc_status.h"

namespace ibemu::hca::mlx4 {

using testing::FakeMemory;

// One program: a domain, its memory, a completion queue, and a queue pair.
class VerbsEnd final : public verbs::CqListener {
 public:
  static constexpr size_t kSize = size_t{8} << 20;
  static constexpr uint32_t kQKey = 0x1234;

  struct Options {
    verbs::QpType type = verbs::QpType::kRc;
    verbs::QpCapacity capacity{.send_requests = 100,
                               .receive_requests = 100,
                               .send_sges = 4,
                               .receive_sges = 4,
                               .inline_bytes = 64};
    bool shared = false;         // with a shared receive queue
    uint32_t srq_requests = 20;  // of that
    uint32_t rights = verbs::access::kLocalWrite;  // of its memory
    std::shared_ptr<FakeMemory> memory = nullptr;  // null: of its own process
  };

  VerbsEnd(Timers& timers, verbs::Provider& its, const Options& options)
      : provider(its),
        memory(options.memory ? options.memory
                              : std::make_shared<FakeMemory>(timers, kSize)),
        pd(*provider.CreatePd(memory->process())),
        mr(*provider.CreateMr({.pd = pd.get(),
                               .memory = memory,
                               .start = FakeMemory::kStart,
                               .length = kSize,
                               .address = FakeMemory::kStart,
                               .access = options.rights})),
        cq(*provider.CreateCq(1000, *this)),
        type_(options.type) {
    verbs::QpInit init;
    init.type = options.type;
    init.signal_all = true;
    init.capacity = options.capacity;
    init.pd = pd.get();
    init.send_cq = init.receive_cq = cq.get();
    if (options.shared) {
      srq = *provider.CreateSrq(
          *pd,
          {.max_requests = options.srq_requests, .max_sges = 2, .limit = 0},
          *this);
      init.srq = srq.get();
    }
    qp = Made(provider.CreateQp(init, *this));
  }
  ~VerbsEnd() { Forget(); }
  VerbsEnd(const VerbsEnd&) = delete;
  VerbsEnd& operator=(const VerbsEnd&) = delete;

  void Forget() {
    qp.reset();
    srq.reset();
    cq.reset();
    mr.reset();
    pd.reset();
  }

  static verbs::QpAttributes Towards(uint32_t qpn, uint16_t lid) {
    verbs::QpAttributes to{};
    to.port_num = 1;
    to.qkey = kQKey;
    to.qp_access_flags = verbs::access::kRemoteWrite |
                         verbs::access::kRemoteRead |
                         verbs::access::kRemoteAtomic;
    to.path_mtu = 3;
    to.dest_qp_num = qpn;
    to.ah_attr.dlid = lid;
    to.ah_attr.port_num = 1;
    to.rq_psn = to.sq_psn = 0xfffffe;  // about to wrap
    to.max_rd_atomic = to.max_dest_rd_atomic = 4;
    to.timeout = 10;
    to.retry_cnt = to.rnr_retry = 3;
    to.min_rnr_timer = 12;
    return to;
  }

  // RESET to RTS.
  void Connect(const verbs::QpAttributes& to) {
    for (const auto state :
         {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
          verbs::QpState::kReadyToSend}) {
      Modify(to, state, testing::StepTo(state, type_));
    }
  }
  void Modify(verbs::QpAttributes to, verbs::QpState state, uint32_t mask = 0) {
    to.qp_state = static_cast<uint32_t>(state);
    to.qp_attr_mask = mask | verbs::qp_attribute::kState;
    const absl::Status status = qp->Modify(to);
    EXPECT_TRUE(status.ok()) << status;
  }
  verbs::QpState State() const {
    return verbs::QpState{static_cast<uint8_t>(qp->Query().qp_state)};
  }

  ib_uverbs_sge Sge(size_t offset, size_t size) const {
    return {FakeMemory::kStart + offset, static_cast<uint32_t>(size),
            mr->lkey()};
  }
  absl::Status Receive(size_t offset, size_t size, uint64_t id = 100) {
    std::vector<verbs::ReceiveRequest> requests = {
        {.id = id, .sges = {Sge(offset, size)}}};
    size_t taken = 0;
    return srq ? srq->PostReceive(requests, taken)
               : qp->PostReceive(requests, taken);
  }
  verbs::SendRequest Request(uint32_t opcode, size_t offset, size_t size,
                             uint64_t id = 7) const {
    verbs::SendRequest request{};
    request.work.wr_id = id;
    request.work.opcode = opcode;
    request.sges = {Sge(offset, size)};
    return request;
  }
  absl::Status Post(verbs::SendRequest request) {
    size_t taken = 0;
    return qp->PostSend({&request, 1}, taken);
  }
  absl::Status Send(size_t offset, size_t size, uint64_t id = 7) {
    return Post(Request(IB_UVERBS_WR_SEND, offset, size, id));
  }

  std::vector<verbs::WorkCompletion> Poll() {
    std::vector<verbs::WorkCompletion> all(1000);
    all.resize(cq->Poll(all));
    return all;
  }
  // Identifier and status of each.
  using Ends = std::vector<std::pair<uint64_t, uint32_t>>;
  Ends PollEnds() {
    Ends ends;
    for (const auto& completion : Poll()) {
      ends.emplace_back(completion.wr_id, completion.status);
    }
    return ends;
  }

  void OnArrival() override { ++arrivals; }
  void OnCompletion() override { ++notices; }
  void OnEvent(verbs::EventType type) override { events.push_back(type); }

  verbs::Provider& provider;
  std::shared_ptr<FakeMemory> memory;
  std::unique_ptr<verbs::Pd> pd;
  std::unique_ptr<verbs::Mr> mr;
  std::unique_ptr<verbs::Cq> cq;
  std::unique_ptr<verbs::Srq> srq;
  std::unique_ptr<verbs::Qp> qp;
  int notices = 0, arrivals = 0;
  std::vector<verbs::EventType> events;

 private:
  static std::unique_ptr<verbs::Qp> Made(
      absl::StatusOr<std::unique_ptr<verbs::Qp>> qp) {
    if (!qp.ok()) throw std::runtime_error(std::string(qp.status().message()));
    return *std::move(qp);
  }

  const verbs::QpType type_;
};

// Two hosts with one switch between them, both of them adapters of ours.
class VerbsBench : public DriverBench {
 protected:
  using Options = VerbsEnd::Options;

  VerbsBench() {
    device_a_ = Start(host_a_);
    device_b_ = Start(host_b_);
    if (!device_a_ || !device_b_) throw std::runtime_error("no driver");
    Run(absl::Milliseconds(10));
  }
  ~VerbsBench() override {
    a_.reset();
    b_.reset();
  }

  void Make(const Options& a, const Options& b) {
    a_ = std::make_unique<VerbsEnd>(timers_, device_a_->provider(), a);
    b_ = std::make_unique<VerbsEnd>(timers_, device_b_->provider(), b);
  }
  // A connection, or two that exchange datagrams.
  void Connect(const Options& a, const Options& b) {
    Make(a, b);
    a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
    b_->Connect(VerbsEnd::Towards(a_->qp->number(), LidOf(*device_a_)));
  }
  void Connect() { Connect({}, {}); }

  static uint16_t LidOf(Mlx4Device& device) {
    return static_cast<uint16_t>(device.port(1).Info().lid);
  }

  void Run(absl::Duration span = absl::Milliseconds(5)) {
    std::vector<Mlx4Device*> devices;
    if (device_a_) devices.push_back(device_a_.get());
    if (device_b_) devices.push_back(device_b_.get());
    RunFor(span, devices);
  }

  static std::string Pattern(size_t size) {
    std::string text(size, ' ');
    for (size_t i = 0; i < size; ++i) {
      text[i] = static_cast<char>(i * 7 + i / 251);
    }
    return text;
  }

  ModelledHost& host_a_ = PlugIn("host-1");
  ModelledHost& host_b_ = PlugIn("host-2");
  std::unique_ptr<Mlx4Device> device_a_, device_b_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_
