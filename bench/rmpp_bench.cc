// One long message between two hosts of a simulated subnet: segments, ACKs and
// reassembly, without the devices.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "mad/host.h"
#include "mad/wire/mad_header.h"
#include "testing/virtual_timers.h"
#include "topology/generators.h"

namespace ibemu::fabric {
namespace {

constexpr wire::Lid kReceiver{2};  // ConfigureStatically() counts from 1
constexpr size_t kRmppFlags = 26;

class Inbox : public mad::AgentClient {
 public:
  void OnMad(mad::Agent& /*agent*/, mad::IncomingMessage message) override {
    bytes += message.mad.size();
  }
  void OnSendDone(mad::Agent& /*agent*/, uint64_t /*cookie*/) override {}
  void OnSendTimeout(mad::Agent& /*agent*/, uint64_t /*cookie*/) override {}

  size_t bytes = 0;
};

// The argument is the number of bytes of the message.
void Message(benchmark::State& state) {
  testing::VirtualTimers timers;
  Fabric fabric(*topology::GenerateTopology("back-to-back"), timers, {});
  if (!ConfigureStatically(fabric).ok()) state.SkipWithError("refused");
  mad::Host sending(timers, fabric.device(topology::NodeId{0}));
  mad::Host receiving(timers, fabric.device(topology::NodeId{1}));
  mad::Registration sa{
      .mgmt_class = 3, .mgmt_class_version = 2, .rmpp_version = 1};
  Inbox nothing, inbox;
  const auto sender = sending.Register(1, sa, nothing);
  sa.methods.set(static_cast<size_t>(mad::Method::kSet));
  const auto receiver = receiving.Register(1, sa, inbox);

  const auto size = static_cast<size_t>(state.range(0));
  uint64_t tid = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::byte> message(size, std::byte{1});
    wire::Encode(
        mad::MadHeader{.mgmt_class = mad::MgmtClass::kSubnetAdministration,
                       .class_version = 2,
                       .method = mad::Method::kSet,
                       .tid = ++tid},
        message);
    message[kRmppFlags] = std::byte{1};  // active
    state.ResumeTiming();
    (*sender)
        ->Send({.to = {.dlid = kReceiver, .qpn = 1}, .mad = std::move(message)})
        .IgnoreError();
    timers.RunPending();
  }
  if (inbox.bytes != size * state.iterations()) {
    state.SkipWithError("lost messages");
  }
  state.SetBytesProcessed(static_cast<int64_t>(inbox.bytes));
}
BENCHMARK(Message)
    ->Arg(64 << 10)
    ->Arg(1 << 20)
    ->Arg(16 << 20)
    ->Arg(64 << 20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ibemu::fabric

BENCHMARK_MAIN();
