// A client of verbs: one end of a conversation between queue pairs.
#ifndef IBEMU_TESTING_VERBS_END_H_
#define IBEMU_TESTING_VERBS_END_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/fake_memory.h"
#include "testing/qp_steps.h"
#include "verbs/provider.h"
#include "verbs/vendor_error.h"
#include "verbs/wc_status.h"

namespace ibemu::testing {

// Returns text in which each byte tells where it is.
inline std::string Pattern(size_t size) {
  std::string text(size, ' ');
  for (size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>(i * 7 + i / 251);
  }
  return text;
}

// A VerbsEnd is a process that uses an adapter: a protection domain, memory
// that is registered as a whole, a completion queue, a queue pair, and a shared
// receive queue if it asks for one.
class VerbsEnd final : public verbs::CqListener {
 public:
  static constexpr size_t kSize = size_t{8} << 20;  // of its memory
  static constexpr uint32_t kQKey = 0x1234;
  static constexpr uint32_t kAllRights =
      verbs::access::kLocalWrite | verbs::access::kRemoteWrite |
      verbs::access::kRemoteRead | verbs::access::kRemoteAtomic;

  struct Options {
    verbs::QpType type = verbs::QpType::kRc;
    verbs::QpCapacity capacity{.send_requests = 100,
                               .receive_requests = 100,
                               .send_sges = 4,
                               .receive_sges = 4,
                               .inline_bytes = 64};
    bool signal_all = true;
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
    init.signal_all = options.signal_all;
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

  // Attributes towards a queue pair at `lid`; times are short: a retry after
  // 4.2 ms, a receiver that is not ready is asked again after 0.64 ms.
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

  static verbs::QpAttributes Towards(const VerbsEnd& peer) {
    return Towards(peer.qp->number(),
                   static_cast<uint16_t>(peer.provider.QueryPort(1)->lid));
  }

  // A connection, or two that exchange datagrams; `mtu` is a code.
  static void Join(VerbsEnd& one, VerbsEnd& other, uint32_t mtu = 3) {
    verbs::QpAttributes to_one = Towards(one), to_other = Towards(other);
    to_one.path_mtu = to_other.path_mtu = mtu;
    one.Connect(to_other);
    other.Connect(to_one);
  }

  // RESET to RTS.
  void Connect(const verbs::QpAttributes& to) {
    for (const auto state :
         {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
          verbs::QpState::kReadyToSend}) {
      Modify(to, state, StepTo(state, type_));
    }
  }
  void Modify(const verbs::QpAttributes& to, verbs::QpState state,
              uint32_t mask = 0) {
    const absl::Status status = TryModify(to, state, mask);
    EXPECT_TRUE(status.ok()) << status;
  }
  absl::Status TryModify(verbs::QpAttributes to, verbs::QpState state,
                         uint32_t mask = 0) {
    to.qp_state = static_cast<uint32_t>(state);
    to.qp_attr_mask = mask | verbs::qp_attribute::kState;
    return qp->Modify(to);
  }
  // Asks to be told of the end.
  void Drain() {
    verbs::QpAttributes drain{};
    drain.en_sqd_async_notify = 1;
    Modify(drain, verbs::QpState::kSendQueueDrain,
           verbs::qp_attribute::kNotifyDrained);
  }
  // A path from port `port` to `lid`, with the timeout of Towards().
  static verbs::QpAttributes AlternatePath(uint8_t port, uint16_t lid) {
    verbs::QpAttributes path{};
    path.qp_attr_mask = verbs::qp_attribute::kAlternatePath;
    path.alt_port_num = path.alt_ah_attr.port_num = port;
    path.alt_ah_attr.dlid = lid;
    path.alt_timeout = 10;
    return path;
  }
  // Loads an alternate path, and asks for Rearm.
  absl::Status Rearm(verbs::QpAttributes path) {
    path.qp_attr_mask |= verbs::qp_attribute::kMigrationState;
    path.path_mig_state = static_cast<uint32_t>(verbs::MigrationState::kRearm);
    return qp->Modify(path);
  }
  verbs::QpState State() const {
    return verbs::QpState{static_cast<uint8_t>(qp->Query().qp_state)};
  }

  ib_uverbs_sge Sge(size_t offset, size_t size) const {
    return {FakeMemory::kStart + offset, static_cast<uint32_t>(size),
            mr->lkey()};
  }
  absl::Status Receive(size_t offset, size_t size, uint64_t id = 100) {
    return PostReceive({.id = id, .sges = {Sge(offset, size)}});
  }
  // The request has a key that nobody gave out.
  absl::Status ReceiveWithAWrongKey(size_t size, uint64_t id) {
    verbs::ReceiveRequest request{.id = id, .sges = {Sge(0, size)}};
    request.sges[0].lkey ^= kOtherKey;
    return PostReceive(std::move(request));
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
  absl::Status SendWithAWrongKey(size_t size, uint64_t id = 7) {
    verbs::SendRequest wrong = Request(IB_UVERBS_WR_SEND, 0, size, id);
    wrong.sges[0].lkey ^= kOtherKey;
    return Post(std::move(wrong));
  }

  // To or from `there` in the peer's memory.
  verbs::SendRequest RdmaRequest(uint32_t opcode, size_t offset, size_t size,
                                 const VerbsEnd& peer, size_t there,
                                 uint64_t id = 7) const {
    verbs::SendRequest request = Request(opcode, offset, size, id);
    request.work.wr.rdma.remote_addr = FakeMemory::kStart + there;
    request.work.wr.rdma.rkey = peer.mr->rkey();
    return request;
  }
  absl::Status Rdma(uint32_t opcode, size_t offset, size_t size,
                    const VerbsEnd& peer, size_t there, uint64_t id = 7) {
    return Post(RdmaRequest(opcode, offset, size, peer, there, id));
  }
  // At `there` in the peer's memory; what was there comes to `offset`.
  verbs::SendRequest Atomic(uint32_t opcode, size_t offset,
                            const VerbsEnd& peer, size_t there,
                            uint64_t compare_add, uint64_t swap = 0) const {
    verbs::SendRequest request = Request(opcode, offset, 8);
    request.work.wr.atomic.remote_addr = FakeMemory::kStart + there;
    request.work.wr.atomic.rkey = peer.mr->rkey();
    request.work.wr.atomic.compare_add = compare_add;
    request.work.wr.atomic.swap = swap;
    return request;
  }
  absl::Status Add(size_t offset, const VerbsEnd& peer, size_t there,
                   uint64_t value) {
    return Post(
        Atomic(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, offset, peer, there, value));
  }

  std::vector<verbs::WorkCompletion> Poll() {
    std::vector<verbs::WorkCompletion> all(1000);
    all.resize(cq->Poll(all));
    return all;
  }
  // A failure has one of the vendor's numbers that go with its status, if any
  // do.
  static void CheckVendorError(const verbs::WorkCompletion& completion) {
    const auto known = verbs::FindVendorError(completion.vendor_err);
    if (verbs::VendorErrorOf(completion.status) == 0) {
      EXPECT_EQ(completion.vendor_err, 0u);
    } else {
      EXPECT_TRUE(known && known->status == completion.status)
          << completion.status << " " << completion.vendor_err;
    }
  }
  // Identifier and status of each.
  using Ends = std::vector<std::pair<uint64_t, uint32_t>>;
  Ends PollEnds() {
    Ends ends;
    for (const auto& completion : Poll()) {
      CheckVendorError(completion);
      ends.emplace_back(completion.wr_id, completion.status);
    }
    return ends;
  }
  std::vector<uint32_t> PollStatuses() {
    std::vector<uint32_t> statuses;
    for (const auto& completion : Poll()) {
      CheckVendorError(completion);
      statuses.push_back(completion.status);
    }
    return statuses;
  }

  void OnArrival() override { ++arrivals; }
  void OnCompletion() override { ++notices; }
  size_t taken() const override { return client_took; }
  void OnDrop() override { ++drops; }
  uint64_t process() const override { return memory->process(); }
  void OnEvent(verbs::AsyncEventType type) override { events.push_back(type); }
  void OnNoReceive() override {
    if (on_no_receive) on_no_receive();
  }

  verbs::Provider& provider;
  std::function<void()> on_no_receive;  // or null
  std::shared_ptr<FakeMemory> memory;
  std::unique_ptr<verbs::Pd> pd;
  std::unique_ptr<verbs::Mr> mr;
  std::unique_ptr<verbs::Cq> cq;
  std::unique_ptr<verbs::Srq> srq;
  std::unique_ptr<verbs::Qp> qp;
  size_t client_took = 0;  // completions, which nobody has polled
  int drops = 0;           // how often completions were about to be dropped
  int notices = 0, arrivals = 0;
  std::vector<verbs::AsyncEventType> events;

 private:
  static constexpr uint32_t kOtherKey = 0x100;

  static std::unique_ptr<verbs::Qp> Made(
      absl::StatusOr<std::unique_ptr<verbs::Qp>> qp) {
    if (!qp.ok()) throw std::runtime_error(std::string(qp.status().message()));
    return *std::move(qp);
  }
  absl::Status PostReceive(verbs::ReceiveRequest request) {
    size_t taken = 0;
    return srq ? srq->PostReceive({&request, 1}, taken)
               : qp->PostReceive({&request, 1}, taken);
  }

  const verbs::QpType type_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_VERBS_END_H_
