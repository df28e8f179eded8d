// A queue pair that promises to take what the test says.
#ifndef IBEMU_TESTS_CUSE_UVERBS_PROMISING_QUEUE_PAIR_H_
#define IBEMU_TESTS_CUSE_UVERBS_PROMISING_QUEUE_PAIR_H_

#include <memory>

#include "testing/fake_provider.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::cuse {

// A PromisingQueuePair is a QpObject of a fake provider; nobody hears of it.
class PromisingQueuePair : private verbs::ContextClient {
 public:
  PromisingQueuePair() {
    auto made = std::make_unique<testing::FakeQp>(init_, object);
    fake = made.get();
    object.qp = std::move(made);
  }

  verbs::QpObject object{*this, std::make_shared<verbs::EventQueue>(8), 0};
  testing::FakeQp* fake;  // its promise is `free`

 private:
  absl::StatusOr<int> GiveDescriptor(
      Events, pid_t, std::shared_ptr<verbs::EventQueue>) override {
    return absl::AbortedError("");
  }
  std::shared_ptr<verbs::Memory> MemoryOf(pid_t) override { return nullptr; }

  const verbs::QpInit init_{.capacity = {.send_requests = 9,
                                         .receive_requests = 9,
                                         .send_sges = 2,
                                         .receive_sges = 3,
                                         .inline_bytes = 64}};
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_UVERBS_PROMISING_QUEUE_PAIR_H_
