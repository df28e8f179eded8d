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
#include "fast_path/preload/completion_reader.h"
#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/qp_steps.h"
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
    MakeQueuePair();
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
      case 14:
      case 15:
        Leave(input);
        break;
      default:
        Ask(input);
        break;
    }
    if ((what & 0x10) != 0) Take();
    set_.Look();
    timers_.RunPending();
    Require(set_.BeforeSleep() || memory_.asked != 0 || memory_.receives != 0);
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
    Fill(input, number, testing::FuzzedCommand(input));
    memory_.slots[number].awaited = 1;
    memory_.asked |= uint64_t{1} << number;
  }
  // Takes completions of all queues, as a client does.
  void Take() {
    for (auto& ring : memory_.completions) {
      const uint64_t queue = ring.queue;
      if (queue == 0) continue;
      fast_path::CompletionReader reader;
      reader.Take(ring, static_cast<uint32_t>(queue - 1), 4);
      for (const auto& entry : reader.entries()) {
        memory_.Free(entry.queue_pair,
                     static_cast<uint32_t>(entry.frees_sends));
      }
    }
  }
  // A post that nobody waits for, mostly where it belongs.
  void Leave(Input& input) {
    const uint8_t what = input.Byte();
    const size_t number = input.Byte() % Memory::kSlots;
    const bool sends = (what & 1) != 0;
    testing::CommandBytes body;
    auto header = verbs::Blank<ib_uverbs_post_recv>();
    header.response = testing::FakeMemory::kStart;
    header.qp_handle = qp_ + ((what & 2) != 0 ? input.Byte() : 0);
    header.wr_count = what >> 6;
    header.sge_count = what >> 6;
    header.wqe_size =
        sends ? sizeof(ib_uverbs_send_wr) : sizeof(ib_uverbs_recv_wr);
    testing::Append(body, header);
    const Bytes rest = input.Take(
        (header.wqe_size + sizeof(ib_uverbs_sge)) * header.wr_count & ~3u);
    body.insert(body.end(), rest.begin(), rest.end());
    testing::CommandBytes command;
    testing::Append(
        command,
        ib_uverbs_cmd_hdr{sends ? uint32_t{IB_USER_VERBS_CMD_POST_SEND}
                                : uint32_t{IB_USER_VERBS_CMD_POST_RECV},
                          static_cast<uint16_t>(2 + body.size() / 4), 1});
    command.insert(command.end(), body.begin(), body.end());
    Fill(input, number, command);
    memory_.slots[number].awaited = 0;
    memory_.slots[number].order = input.Short() * 0x10001u;
    const bool among_receives = sends == ((what & 4) != 0);
    (among_receives ? memory_.receives : memory_.asked) |= uint64_t{1}
                                                           << number;
  }
  void Fill(Input& input, size_t number, const testing::CommandBytes& command) {
    Slot& slot = memory_.slots[number];
    std::memcpy(slot.command, command.data(),
                std::min(command.size(), sizeof slot.command));
    slot.command_length = static_cast<uint32_t>(command.size());
    const uint8_t length = input.Byte();
    const Bytes data = input.Take(length);
    std::memcpy(slot.data, data.data(), data.size());
    slot.data_length = length == 0 ? Slot::kNoData : length;
    slot.state = fast_path::CommandState::kAsked;
  }

  template <class Response, class Request>
  Response Make(uint32_t number, Request request) {
    auto made = verbs::Blank<Response>();
    request.response = testing::FakeMemory::kStart;
    context_.Execute(testing::PlainCommand(number, request, sizeof made), 1,
                     [place = &made](const verbs::Answer& answer) {
                       Require(answer.status.ok());
                       *place = verbs::ReadAs<Response>(answer.response);
                     });
    return made;
  }
  // Makes a queue pair that is connected to itself.
  void MakeQueuePair() {
    auto queue = verbs::Blank<ib_uverbs_create_cq>();
    queue.cqe = 16;
    queue.comp_channel = -1;
    auto pair = verbs::Blank<ib_uverbs_create_qp>();
    pair.pd_handle =
        Make<ib_uverbs_alloc_pd_resp>(IB_USER_VERBS_CMD_ALLOC_PD,
                                      verbs::Blank<ib_uverbs_alloc_pd>())
            .pd_handle;
    pair.send_cq_handle = pair.recv_cq_handle =
        Make<ib_uverbs_create_cq_resp>(IB_USER_VERBS_CMD_CREATE_CQ, queue)
            .cq_handle;
    pair.max_send_wr = pair.max_recv_wr = 8;
    pair.max_send_sge = pair.max_recv_sge = 2;
    pair.max_inline_data = 64;
    pair.qp_type = static_cast<uint8_t>(verbs::QpType::kRc);
    const auto made =
        Make<ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, pair);
    qp_ = made.qp_handle;
    auto to = verbs::Blank<ib_uverbs_modify_qp>();
    to.qp_handle = qp_;
    to.dest_qp_num = made.qpn;
    to.path_mtu = 1;
    to.port_num = to.dest.port_num = 1;
    to.dest.dlid = static_cast<uint16_t>(
        fabric_.provider(topology::NodeId{0}).QueryPort(1)->lid);
    to.timeout = 10;
    for (const auto state :
         {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
          verbs::QpState::kReadyToSend}) {
      to.qp_state = static_cast<uint8_t>(state);
      to.attr_mask = verbs::qp_attribute::kState |
                     testing::StepTo(state, verbs::QpType::kRc);
      context_.Execute(
          testing::PlainCommand(IB_USER_VERBS_CMD_MODIFY_QP, to, 0), 1,
          [](const verbs::Answer& answer) { Require(answer.status.ok()); });
    }
  }

  // By the file.
  void Write(const testing::CommandBytes& command) {
    if (rings_ != nullptr) rings_->CatchUp();
    context_.PollTaken();
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
  void PollTaken() override { context_.PollTaken(); }
  void Execute(size_t slot, Bytes command, std::optional<Bytes> data,
               bool awaited) override {
    Require(under_way_.insert(slot).second);
    context_.Execute(
        command, 0,
        [this, slot, life = life_](const verbs::Answer& answer) {
          if (life != life_) return;
          Require(under_way_.erase(slot) == 1);
          Require(answer.response.size() <= Slot::kMaxAnswer);
          rings_->Answer(slot, Errno::kOk, answer.response);
        },
        data ? std::optional<verbs::ReadData>({1, *data}) : std::nullopt,
        awaited);
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
  verbs::ClientCompletions* CompletionsOf(uint32_t cq) override {
    return rings_ == nullptr ? nullptr : rings_->CompletionsOf(cq);
  }
  verbs::ClientCompletions* PlaceFor(uint32_t cq) override {
    return rings_ == nullptr ? nullptr : rings_->PlaceFor(cq);
  }
  void OnCqGone(uint32_t cq) override {
    if (rings_ != nullptr) rings_->OnCqGone(cq);
  }
  void OnArrival() override {
    if (rings_ != nullptr) rings_->OnArrival();
  }
  void OnNoReceive() override { rings_->TakeReceives(); }
  void OnPromise(uint32_t handle, const verbs::QpObject* qp) override {
    if (rings_ != nullptr) rings_->OnPromise(handle, qp);
  }

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
  uint32_t qp_ = 0;
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
