// Peers send anything to a host whose ConnectX-3 our driver drives, while
// programs use its verbs and its agents: nobody falls, and what they write
// reaches only the receive requests of whom they write to.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hca/mlx4/mlx4_device.h"
#include "hca/model/in_process_function.h"
#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "mad/host.h"
#include "testing/fake_memory.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"
#include "tests/fuzz/mlx4/agent_cable.h"
#include "tests/fuzz/mlx4/mlx4_program.h"
#include "wire/opcode.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace opcode = wire::opcode;
using testing::FuzzInput;

void Require(bool holds) {
  if (!holds) std::abort();
}

// A ForgetfulClient drops what its agents get.
class ForgetfulClient : public mad::AgentClient {
 public:
  void OnMad(mad::Agent&, mad::IncomingMessage) override {}
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override {}
};

// A GuardedMemory is the memory of a program, of which a part may change.
class GuardedMemory {
 public:
  GuardedMemory(Timers& timers, size_t may_change)
      : memory_(std::make_shared<FakeMemory>(timers, Program::kMemory)),
        may_change_(may_change),
        guarded_(Program::kMemory - may_change, 'g') {
    memory_->Put(may_change_, guarded_);
  }
  const std::shared_ptr<FakeMemory>& memory() const { return memory_; }
  void Check() const {
    Require(memory_->Text(may_change_, guarded_.size()) == guarded_);
  }

 private:
  const std::shared_ptr<FakeMemory> memory_;
  const size_t may_change_;
  const std::string guarded_;
};

class Scene {
 public:
  Scene() {
    auto device = Mlx4Device::Start(
        function_, timers_,
        {.pause = [this](absl::Duration span) { timers_.RunFor(span); },
         .note = [](std::string_view) {},
         .name = "0000:3b:00.0"});
    Require(device.ok());
    device_ = *std::move(device);
    host_ = std::make_unique<mad::Host>(timers_, *device_);
    for (const int mgmt_class : {3, 4, 7}) AddAgent(mgmt_class);
    receiver_ = std::make_unique<Program>(device_->provider(), own_.memory());
    sender_ = std::make_unique<Program>(device_->provider(), other_.memory());
    Require(receiver_->Start() && sender_->Start());
    for (size_t which = 0; which < kQps; ++which) {
      known_.push_back(receiver_->Qpn(which));
      known_.push_back(sender_->Qpn(which));
    }
  }

  void Step(FuzzInput& input) {
    switch (input.Byte() % 8) {
      case 0:
        timers_.RunFor(absl::Milliseconds(1) * input.Byte());
        break;
      case 1:
        Deliver(input.Take(input.Short() % 5000));
        break;
      case 2:
        SendMad(input);
        break;
      case 3:
      case 4:
        receiver_->Step(input);
        break;
      default:
        SendPacket(input);
        break;
    }
    cable_.sent.clear();
    timers_.RunFor(absl::Microseconds(50));
    device_->OnInterrupt();
    own_.Check();
    other_.Check();
  }

 private:
  void AddAgent(int mgmt_class) {
    mad::Registration wanted{.qp = 1,
                             .mgmt_class = static_cast<uint8_t>(mgmt_class),
                             .mgmt_class_version = 2};
    wanted.methods.set();
    auto agent = host_->Register(1, wanted, client_);
    if (agent.ok()) agents_.push_back(*std::move(agent));
  }

  void Deliver(mad::Bytes packet) { cable_.listener->OnPacket(packet); }

  // The queue pairs of both programs, those of management, groups, and others.
  uint32_t SomeQpn(FuzzInput& input) {
    const size_t which = input.Byte();
    if (which < 0xe0) return known_[which % known_.size()];
    if (which < 0xf0) return which % 4;
    return which < 0xf8 ? model::mlx4::kMulticastQpn : input.Short();
  }

  // The further headers that a packet of this opcode has, with any content.
  static std::vector<std::byte> Headers(uint8_t code, FuzzInput& input) {
    std::vector<std::byte> headers;
    const uint8_t operation = code & opcode::kOperationMask;
    if (code >> opcode::kServiceShift == opcode::kUnreliableDatagram) {
      const uint32_t key = input.Byte() % 4 != 0 ? Program::kQKey : 0x80010000;
      wire::Append(wire::DatagramHeader{.q_key = key, .source_qpn = 1},
                   headers);
    }
    if (operation == opcode::kWriteFirst ||
        (operation >= opcode::kWriteOnly &&
         operation <= opcode::kReadRequest)) {
      wire::Append(wire::RdmaHeader{.address = Address(input),
                                    .key = Key(input),
                                    .length = input.Short()},
                   headers);
    } else if (operation >= opcode::kSendLastInvalidate) {
      wire::Append(wire::InvalidateHeader{.key = Key(input)}, headers);
    } else if (operation >= opcode::kCompareSwap) {
      wire::Append(wire::AtomicHeader{.address = Address(input),
                                      .key = Key(input),
                                      .swap_or_add = 1,
                                      .compare = 0},
                   headers);
    } else if (operation >= opcode::kReadResponseFirst &&
               operation != opcode::kReadResponseMiddle) {
      wire::Append(wire::AcknowledgeHeader{.syndrome = input.Byte(),
                                           .message_number = input.Byte()},
                   headers);
    }
    return headers;
  }
  static uint64_t Address(FuzzInput& input) {
    return FakeMemory::kStart + input.Short();
  }
  // Keys are small numbers with a byte that changes; an adapter's own have it
  // at the bottom.
  static uint32_t Key(FuzzInput& input) { return input.Short(); }

  void SendPacket(FuzzInput& input) {
    const uint8_t code = input.Byte();
    const uint32_t qpn = SomeQpn(input);
    const uint8_t psn = input.Byte();
    const std::vector<std::byte> headers = Headers(code, input);
    const mad::Bytes payload = input.Take(input.Byte() * size_t{17});
    Deliver(model::mlx4::BuildPacket(
        {.dlid = wire::Lid{qpn == model::mlx4::kMulticastQpn ? uint16_t{0xc001}
                                                             : uint16_t{5}},
         .slid = wire::Lid{static_cast<uint16_t>(psn & 0x80 ? 5 : 9)}},
        {},
        {.opcode = code,
         .p_key = 0xffff,
         .destination_qpn = qpn,
         .ack_request = (psn & 1) != 0,
         .psn = psn / 2u % 32},
        headers, payload));
  }

  void SendMad(FuzzInput& input) {
    const uint8_t qpn = input.Byte() & 1;
    std::vector<std::byte> headers;
    wire::Append(wire::DatagramHeader{.q_key = 0x80010000, .source_qpn = qpn},
                 headers);
    const mad::MadBytes mad = input.Mad();
    Deliver(
        model::mlx4::BuildPacket({.vl = static_cast<uint8_t>(qpn == 0 ? 15 : 0),
                                  .dlid = wire::Lid{5},
                                  .slid = wire::Lid{9}},
                                 {},
                                 {.opcode = opcode::kUdSendOnly,
                                  .p_key = 0xffff,
                                  .destination_qpn = qpn},
                                 headers, mad));
  }

  testing::VirtualTimers timers_;
  // Requests have the first three quarters.
  GuardedMemory own_{timers_, Program::kMemory / 4 * 3};
  // Of a program that posts no receive requests.
  GuardedMemory other_{timers_, 0};
  model::AgentCable cable_;
  model::ConnectX3Model model_{timers_, {&cable_}};
  model::InProcessFunction function_{model_};
  std::unique_ptr<Mlx4Device> device_;
  ForgetfulClient client_;
  std::unique_ptr<mad::Host> host_;
  std::vector<std::unique_ptr<mad::Agent>> agents_;
  std::unique_ptr<Program> receiver_, sender_;
  std::vector<uint32_t> known_;
};

}  // namespace
}  // namespace ibemu::hca::mlx4

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::hca::mlx4::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
