// Our driver has an adapter that says anything: in the answers of its commands,
// its events, its completions and its registers, while programs use its verbs
// and its ports.  It refuses, or takes the adapter for dead, but goes on.
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "hca/mlx4/mlx4_device.h"
#include "hca/model/in_process_function.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"
#include "tests/fuzz/mlx4/agent_cable.h"
#include "tests/fuzz/mlx4/lying_adapter.h"
#include "tests/fuzz/mlx4/mlx4_program.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::FakeMemory;

class Machine {
 public:
  explicit Machine(testing::FuzzInput& input) : input_(input) {
    // So many lies from the beginning on; most have none there.
    for (int i = input_.Byte() % 4; i > 0; --i) adapter_.LieInMemory();
    auto device = Mlx4Device::Start(
        function_, timers_,
        {.pause = [this](absl::Duration span) { timers_.RunFor(span); },
         .note = [](std::string_view) {},
         .name = "0000:3b:00.0"});
    if (!device.ok()) return;
    device_ = *std::move(device);
    program_.emplace(device_->provider(), memory_);
    if (!program_->Start()) program_.reset();
  }
  bool running() const { return program_.has_value(); }

  void Step() {
    switch (input_.Byte() % 8) {
      case 0:
        adapter_.LieInMemory();
        break;
      case 1:
        adapter_.LieInRegister();
        break;
      case 2:
        adapter_.AddEntry();
        Serve();
        break;
      case 3:
        adapter_.Scribble();
        break;
      case 4:
        Run(absl::Microseconds(50) * (1 + input_.Byte()));
        break;
      case 5:
      case 6:
        program_->Step(input_);
        break;
      case 7:
        Disturb();
        break;
    }
  }

 private:
  void Serve() {
    adapter_.Interrupt();
    device_->OnInterrupt();
  }
  void Run(absl::Duration span) {
    timers_.RunFor(span);
    Serve();
  }
  void Disturb() {
    mad::Port& port = device_->port(1);
    switch (input_.Byte() % 5) {
      case 0:
        model_.Fail(1);
        break;
      case 1: {
        mad::Outgoing packet;
        packet.qp = input_.Byte() & 1;
        packet.to.dlid = wire::Lid{5};
        packet.mad = input_.Mad();
        port.Transmit(packet).IgnoreError();
        break;
      }
      case 2: {
        mad::Arrival request;
        request.qp = input_.Byte() & 1;
        request.mad = input_.Mad();
        mad::MadBytes reply{};
        port.ProcessLocal(request, reply);
        break;
      }
      case 3:
        port.SetIsSm((input_.Byte() & 1) != 0);
        break;
      case 4:
        // Health, and queues that lost their interrupts.
        Run(absl::Seconds(1));
        break;
    }
  }

  testing::FuzzInput& input_;
  testing::VirtualTimers timers_;
  std::shared_ptr<FakeMemory> memory_ =
      std::make_shared<FakeMemory>(timers_, size_t{1} << 16);
  model::AgentCable cable_;
  model::ConnectX3Model model_{timers_, {&cable_}};
  LyingAdapter adapter_{model_, input_};
  model::InProcessFunction function_{adapter_};
  std::unique_ptr<Mlx4Device> device_;
  std::optional<Program> program_;
};

}  // namespace
}  // namespace ibemu::hca::mlx4

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::hca::mlx4::Machine machine(input);
  while (machine.running() && !input.empty()) machine.Step();
  return 0;
}
