// A client does anything to the memory that it shares with the daemon for its
// uverbs file, while the daemon looks there and what was begun goes on.  Each
// command that is begun is answered once, in its slot, and a client that breaks
// the rules is cut off.
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cuse/uverbs/uverbs_rings.h"
#include "fabric/fabric.h"
#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/topologies.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/rings/client_memory_file.h"
#include "tests/fuzz/fuzzed_command.h"
#include "verbs/uverbs/context.h"

namespace ibemu::cuse {
namespace {

using Input = testing::FuzzInput;
using Memory = fast_path::UverbsRingMemory;
using Slot = fast_path::CommandSlot;

void Require(bool holds) {
  if (!holds) std::abort();
}

class Scene final : private verbs::ContextClient, private UverbsRings::Owner {
 public:
  Scene() {
    Require(fabric::ConfigureStatically(fabric_).ok());
    Write(testing::PlainCommand(
        IB_USER_VERBS_CMD_GET_CONTEXT,
        testing::Answered<ib_uverbs_get_context>(testing::FakeMemory::kStart),
        8));
  }

  void Step(Input& input) {
    const uint8_t what = input.Byte();
    switch (what & 0x0f) {
      case 0:
        Scribble(input);
        break;
      case 1:
        memory_.asked |= uint64_t{1} << (input.Byte() % Memory::kSlots);
        break;
      case 2:
        rings_->CatchUp();
        break;
      case 3:
        timers_.RunFor(absl::Microseconds(input.Byte()));
        break;
      case 4:
        Write(testing::FuzzedCommand(input));
        break;
      case 5:
        Reopen();
        break;
      default:
        Ask(input);
        break;
    }
    set_.Look();
    timers_.RunPending();
    Require(set_.BeforeSleep() || memory_.asked != 0);
    set_.AfterSleep();
  }

 private:
  // Bytes as they come, somewhere.
  void Scribble(Input& input) {
    const size_t place = (size_t{input.Short()} << 2) % sizeof(Memory);
    const Bytes bytes =
        input.Take(std::min<size_t>(input.Byte(), sizeof(Memory) - place));
    std::memcpy(static_cast<std::byte*>(file_.address()) + place, bytes.data(),
                bytes.size());
  }
  void Ask(Input& input) {
    const size_t number = input.Byte() % Memory::kSlots;
    Slot& slot = memory_.slots[number];
    const testing::CommandBytes command = testing::FuzzedCommand(input);
    std::memcpy(slot.command, command.data(),
                std::min(command.size(), sizeof slot.command));
    slot.command_length = static_cast<uint32_t>(command.size());
    const uint8_t length = input.Byte();
    const Bytes data = input.Take(length);
    std::memcpy(slot.data, data.data(), data.size());
    slot.data_length = length == 0 ? Slot::kNoData : length;
    slot.state = fast_path::CommandState::kAsked;
    memory_.asked |= uint64_t{1} << number;
  }

  // By the file.
  void Write(const testing::CommandBytes& command) {
    if (rings_ != nullptr) rings_->CatchUp();
    context_.Execute(command, 1, [](const verbs::Answer&) {});
  }

  void Reopen() {
    rings_.reset();
    under_way_.clear();  // it has answered them
    ++life_;
    file_.Renew();
    rings_ = Attach();
  }
  std::unique_ptr<UverbsRings> Attach() {
    return std::make_unique<UverbsRings>(
        set_, RingSet::Client{.user = getuid(), .file = {}},
        *SharedMemory::Of(getpid(), file_.fd(), sizeof(Memory)),
        static_cast<UverbsRings::Owner&>(*this));
  }

  bool MayCommand() override { return true; }
  void Execute(size_t slot, Bytes command, std::optional<Bytes> data) override {
    Require(under_way_.insert(slot).second);
    context_.Execute(
        command, 0,
        [this, slot, life = life_](const verbs::Answer& answer) {
          if (life != life_) return;
          Require(under_way_.erase(slot) == 1);
          Require(answer.response.size() <= Slot::kMostAnswer);
          rings_->Answer(slot, Errno::kOk, answer.response);
        },
        data ? std::optional<verbs::ReadData>({1, *data}) : std::nullopt);
  }

  absl::StatusOr<int> GiveDescriptor(
      Events /*events*/, pid_t caller,
      std::shared_ptr<verbs::EventQueue> queue) override {
    Require(caller != 0);
    queues_.push_back(std::move(queue));
    return static_cast<int>(queues_.size());
  }
  // Of those alone who wait in a write().
  std::shared_ptr<verbs::Memory> MemoryOf(pid_t caller) override {
    return caller == 0 ? none_ : memory_of_client_;
  }
  void OnEmptyQueue(uint32_t cq) override { rings_->SetEmpty(cq); }
  void OnUnknownQueue(uint32_t cq) override { rings_->SetUnknown(cq); }

  testing::VirtualTimers timers_;
  fabric::Fabric fabric_{testing::Chain(1), timers_, {}};
  std::shared_ptr<verbs::Memory> memory_of_client_ =
      std::make_shared<testing::FakeMemory>(timers_, 1 << 16);
  std::shared_ptr<verbs::Memory> none_ =
      std::make_shared<testing::FakeMemory>(timers_, 0);
  std::vector<std::shared_ptr<verbs::EventQueue>> queues_;
  ClientMemoryFile file_{sizeof(Memory)};
  Memory& memory_ = *static_cast<Memory*>(file_.address());
  RingSet set_;
  std::set<size_t> under_way_;
  int life_ = 0;
  std::unique_ptr<UverbsRings> rings_ = Attach();
  verbs::Context context_{fabric_.provider(topology::NodeId{0}),
                          verbs::AdapterIdentity{},
                          static_cast<verbs::ContextClient&>(*this), timers_};
};

}  // namespace
}  // namespace ibemu::cuse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::cuse::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
