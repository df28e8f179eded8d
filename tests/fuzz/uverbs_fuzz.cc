// A client writes anything to two uverbs contexts of two hosts of one fabric,
// with handles that are mostly right, while what it started goes on.  Each
// command is answered once, and with no more than there is room for.
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/topologies.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "tests/fuzz/fuzzed_command.h"
#include "verbs/uverbs/context.h"

namespace ibemu::verbs {
namespace {

using Input = testing::FuzzInput;

void Require(bool holds) {
  if (!holds) std::abort();
}

class Client final : private ContextClient {
 public:
  Client(Timers& timers, Provider& provider)
      : timers_(timers),
        provider_(provider),
        memory_(std::make_shared<testing::FakeMemory>(timers, 1 << 16)) {
    Reopen();
  }

  void Reopen() {
    context_ =
        std::make_unique<Context>(provider_, AdapterIdentity{},
                                  static_cast<ContextClient&>(*this), timers_);
    queues_.clear();
    Write(testing::PlainCommand(
        IB_USER_VERBS_CMD_GET_CONTEXT,
        testing::Answered<ib_uverbs_get_context>(testing::FakeMemory::kStart),
        8));
  }

  void Command(Input& input) { Write(testing::FuzzedCommand(input)); }
  void Anything(Input& input) {
    const Bytes bytes = input.Take(input.Byte());
    Write({bytes.begin(), bytes.end()});
  }
  void ReadEvents() {
    for (const auto& queue : queues_) {
      while (!queue->empty()) queue->Take();
    }
  }

 private:
  void Write(const testing::CommandBytes& command) {
    auto answered = std::make_shared<bool>(false);
    size_t room = 0;
    if (const auto parsed = ParseCommand(command); parsed.ok()) {
      room = parsed->room;
    }
    context_->Execute(command, 1, [answered, room](const Answer& answer) {
      Require(!*answered);
      Require(answer.response.size() <= room);
      *answered = true;
    });
  }

  absl::StatusOr<int> GiveDescriptor(
      Events /*events*/, pid_t /*caller*/,
      std::shared_ptr<EventQueue> queue) override {
    queues_.push_back(std::move(queue));
    return static_cast<int>(queues_.size());
  }
  std::shared_ptr<Memory> MemoryOf(pid_t /*caller*/) override {
    return memory_;
  }

  Timers& timers_;
  Provider& provider_;
  std::shared_ptr<testing::FakeMemory> memory_;
  std::vector<std::shared_ptr<EventQueue>> queues_;
  std::unique_ptr<Context> context_;
};

class Scene {
 public:
  Scene() { Require(fabric::ConfigureStatically(fabric_).ok()); }

  void Step(Input& input) {
    const uint8_t what = input.Byte();
    Client& client = clients_[what >> 7];
    switch (what & 0x0f) {
      case 0:
        client.Reopen();
        break;
      case 1:
        client.Anything(input);
        break;
      case 2:
        client.ReadEvents();
        break;
      case 3:
        timers_.RunFor(absl::Milliseconds(input.Byte()));
        break;
      default:
        client.Command(input);
        break;
    }
    timers_.RunPending();
  }

 private:
  testing::VirtualTimers timers_;
  fabric::Fabric fabric_{testing::Chain(1), timers_, {}};
  std::array<Client, 2> clients_ = {
      Client(timers_, fabric_.provider(topology::NodeId{0})),
      Client(timers_, fabric_.provider(topology::NodeId{2}))};
};

}  // namespace
}  // namespace ibemu::verbs

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::verbs::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
