// A stand-in for the adapter behind uverbs objects.
#ifndef IBEMU_TESTING_FAKE_PROVIDER_H_
#define IBEMU_TESTING_FAKE_PROVIDER_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "verbs/provider.h"

namespace ibemu::testing {

struct FakePd : verbs::Pd {};
struct FakeAh : verbs::Ah {};

// A FakeMr has constant keys and no memory.
struct FakeMr : verbs::Mr {
  uint32_t lkey() const override { return 0x11; }
  uint32_t rkey() const override { return 0x22; }
};

// A FakeCq hands out the completions that a test puts into it, and keeps how it
// was asked for notifications.
struct FakeCq : verbs::Cq {
  explicit FakeCq(verbs::CqListener& own) : listener(own) {}

  uint32_t size() const override { return entries; }
  absl::Status Resize(uint32_t size) override {
    entries = size;
    return absl::OkStatus();
  }
  size_t waiting() const override {
    return completions.size() - listener.taken();
  }
  size_t Poll(std::span<verbs::WorkCompletion> to) override {
    const size_t count = std::min(to.size(), completions.size());
    std::copy_n(completions.begin(), count, to.begin());
    completions.erase(completions.begin(),
                      completions.begin() + static_cast<long>(count));
    return count;
  }
  size_t Peek(size_t first,
              std::span<verbs::WaitingCompletion> to) const override {
    size_t count = 0;
    for (; count < to.size() && first + count < completions.size(); ++count) {
      to[count] = {completions[first + count], frees_sends};
    }
    return count;
  }
  void RequestNotify(bool solicited_only) override {
    requests.push_back(solicited_only);
    if (tells_at_once && !completions.empty()) listener.OnCompletion();
  }

  verbs::CqListener& listener;
  uint32_t entries = 0;
  std::vector<verbs::WorkCompletion> completions;
  uint32_t frees_sends = 0;  // each of them, once it is polled
  std::vector<bool> requests;
  bool tells_at_once = false;  // of completions that are there
};

// A FakeSrq keeps what is posted, up to its size.  It has no events unless a
// test calls its listener.
struct FakeSrq : verbs::Srq {
  explicit FakeSrq(verbs::ObjectListener& own) : listener(own) {}

  verbs::SrqAttributes Query() const override { return attributes; }
  size_t posted() const override { return received.size(); }
  absl::Status Resize(uint32_t most) override {
    attributes.max_requests = most;
    return absl::OkStatus();
  }
  absl::Status SetLimit(uint32_t limit) override {
    attributes.limit = limit;
    return absl::OkStatus();
  }
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override {
    for (verbs::ReceiveRequest& request : requests) {
      if (received.size() == attributes.max_requests) {
        return absl::ResourceExhaustedError("full");
      }
      received.push_back(std::move(request));
      ++taken;
    }
    return absl::OkStatus();
  }

  verbs::ObjectListener& listener;
  verbs::SrqAttributes attributes;
  std::vector<verbs::ReceiveRequest> received;
};

// A FakeQp keeps what is posted to it and what it was changed to: it is in
// whatever state it is told, and completes nothing.
struct FakeQp : verbs::Qp {
  FakeQp(const verbs::QpInit& own_init, verbs::ObjectListener& own)
      : init(own_init), listener(own) {}

  uint32_t number() const override { return 0x77; }
  verbs::QpCapacity capacity() const override { return init.capacity; }
  std::optional<verbs::QpPromise> promise() const override { return free; }
  void MakeRoom(size_t sends, size_t receives) override {
    made.sends += sends;
    made.receives += receives;
  }
  absl::Status Modify(const verbs::QpAttributes& to) override {
    attributes = to;
    return absl::OkStatus();
  }
  verbs::QpAttributes Query() const override { return attributes; }
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override {
    for (verbs::ReceiveRequest& request : requests) {
      received.push_back(std::move(request));
      ++taken;
    }
    return absl::OkStatus();
  }
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override {
    for (verbs::SendRequest& request : requests) {
      if (sent.size() == init.capacity.send_requests + made.sends) {
        return absl::ResourceExhaustedError("full");
      }
      sent.push_back(std::move(request));
      ++taken;
    }
    return absl::OkStatus();
  }
  absl::Status AttachMulticast(const verbs::GidBytes&, uint16_t) override {
    ++groups;
    return absl::OkStatus();
  }
  void DetachMulticast(const verbs::GidBytes&, uint16_t) override { --groups; }

  const verbs::QpInit init;
  verbs::ObjectListener& listener;
  verbs::QpAttributes attributes{};
  std::vector<verbs::ReceiveRequest> received;
  std::vector<verbs::SendRequest> sent;
  int groups = 0;
  std::optional<verbs::QpPromise> free = verbs::QpPromise{};
  verbs::QpPromise made;
};

// A FakeProvider answers what a test sets and records what it is told.  It
// points to the last CQ, SRQ and QP created, which may have ended since.
class FakeProvider : public verbs::Provider {
 public:
  FakeProvider() {
    device.vendor_id = 0x2c9;  // which Context does not pass on
    device.vendor_part_id = 0x1021;
    device.phys_port_cnt = 1;
    port.lid = 7;
    port.state = 4;
  }

  verbs::DeviceAttributes QueryDevice() const override { return device; }
  absl::StatusOr<verbs::PortAttributes> QueryPort(int number) const override {
    if (number != 1) return absl::InvalidArgumentError("there is port 1 only");
    return port;
  }
  absl::StatusOr<std::unique_ptr<verbs::Pd>> CreatePd(
      uint64_t process) override {
    pd_process = process;
    return std::make_unique<FakePd>();
  }
  absl::StatusOr<std::unique_ptr<verbs::Mr>> CreateMr(
      const verbs::MrInit& init) override {
    mr_init = init;
    return std::make_unique<FakeMr>();
  }
  absl::Duration TakeMrDelay(uint64_t /*process*/) override { return mr_delay; }
  absl::StatusOr<std::unique_ptr<verbs::Ah>> CreateAh(
      verbs::Pd&, const verbs::AddressAttributes&) override {
    return std::make_unique<FakeAh>();
  }
  absl::StatusOr<std::unique_ptr<verbs::Cq>> CreateCq(
      uint32_t size, verbs::CqListener& listener) override {
    if (size == 0) return absl::InvalidArgumentError("none");
    auto made = std::make_unique<FakeCq>(listener);
    made->entries = size;
    cq = made.get();
    return made;
  }
  absl::StatusOr<std::unique_ptr<verbs::Srq>> CreateSrq(
      verbs::Pd&, const verbs::SrqAttributes& attributes,
      verbs::ObjectListener& listener) override {
    auto made = std::make_unique<FakeSrq>(listener);
    made->attributes = attributes;
    srq = made.get();
    return made;
  }
  absl::StatusOr<std::unique_ptr<verbs::Qp>> CreateQp(
      const verbs::QpInit& init, verbs::ObjectListener& listener) override {
    auto made = std::make_unique<FakeQp>(init, listener);
    qp = made.get();
    return made;
  }
  void AddListener(verbs::AsyncEventListener& to) override { listener = &to; }
  void RemoveListener(verbs::AsyncEventListener&) override {
    listener = nullptr;
  }

  verbs::DeviceAttributes device{};
  verbs::PortAttributes port{};
  uint64_t pd_process = 0;
  verbs::MrInit mr_init;
  absl::Duration mr_delay = absl::ZeroDuration();
  FakeCq* cq = nullptr;
  FakeSrq* srq = nullptr;
  FakeQp* qp = nullptr;
  verbs::AsyncEventListener* listener = nullptr;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FAKE_PROVIDER_H_
