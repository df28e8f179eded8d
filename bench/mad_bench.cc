// Round trips and long messages between two hosts that a link connects.
#include <vector>

#include "benchmark/benchmark.h"
#include "mad/host.h"
#include "mad/mad_class.h"
#include "testing/one_port_device.h"
#include "testing/virtual_timers.h"
#include "testing/wired_port.h"

namespace ibemu::mad {
namespace {

constexpr size_t kSaHeader = 56;

std::vector<std::byte> SaMessage(Method method, uint64_t tid, size_t data) {
  std::vector<std::byte> message(kSaHeader + data);
  wire::Encode(MadHeader{.mgmt_class = MgmtClass::kSubnetAdministration,
                         .class_version = 2,
                         .method = method,
                         .tid = tid},
               message);
  return message;
}

// A Server answers GetTable with `data` bytes: in one MAD if they fit,
// otherwise by RMPP.
class Server : public AgentClient {
 public:
  explicit Server(size_t data) : data_(data) {}
  void OnMad(Agent& agent, IncomingMessage request) override {
    std::vector<std::byte> answer = SaMessage(
        Method::kGetTableResp, wire::Get<&MadHeader::tid>(request.mad), data_);
    if (answer.size() > kMadBytes) answer[26] = std::byte{1};
    agent
        .Send(
            {.to = {.dlid = request.slid, .qpn = 1}, .mad = std::move(answer)})
        .IgnoreError();
  }
  void OnSendDone(Agent&, uint64_t) override {}
  void OnSendTimeout(Agent&, uint64_t) override {}

 private:
  size_t data_;
};

class Asker : public AgentClient {
 public:
  void OnMad(Agent&, IncomingMessage answer) override {
    bytes += answer.mad.size();
  }
  void OnSendDone(Agent&, uint64_t) override {}
  void OnSendTimeout(Agent&, uint64_t) override {}

  size_t bytes = 0;
};

// The argument is the number of bytes of data in each answer.
void Query(benchmark::State& state) {
  testing::VirtualTimers timers;
  testing::WiredPort here(timers), there(timers);
  here.Connect(there);
  here.info.lid = wire::Lid{1};
  there.info.lid = wire::Lid{2};
  testing::OnePortDevice own(here), other(there);
  Host host(timers, own), peer(timers, other);
  Server server(static_cast<size_t>(state.range(0)));
  Asker asker;
  Registration sa{.mgmt_class = 3, .mgmt_class_version = 2, .rmpp_version = 1};
  sa.methods.set(static_cast<size_t>(Method::kGetTable));
  const auto serving = peer.Register(1, sa, server);
  const auto asking = host.Register(1, sa, asker);

  uint64_t tid = 0;
  for (auto _ : state) {
    (*asking)
        ->Send({.to = {.dlid = wire::Lid{2}, .qpn = 1},
                .mad = SaMessage(Method::kGetTable, ++tid, 200),
                .timeout = absl::Seconds(1)})
        .IgnoreError();
    timers.RunPending();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(asker.bytes));
}
BENCHMARK(Query)->Name("agent/query")->Arg(200)->Arg(64 << 10)->Arg(16 << 20);

}  // namespace
}  // namespace ibemu::mad

BENCHMARK_MAIN();
