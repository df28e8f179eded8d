// What `ibemu why` and faults cost who does not need them: a message between
// two queue pairs, and a MAD that is answered.
#include <benchmark/benchmark.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/link_outages.h"
#include "daemon/why/mad_history.h"
#include "fabric/soft_hca/adapter_faults.h"
#include "mad/host.h"
#include "testing/lab.h"
#include "testing/mad_builder.h"
#include "testing/verbs_end.h"

namespace ibemu::daemon {
namespace {

using testing::Lab, testing::VerbsEnd;

constexpr char kHosts[] = "single-switch:hosts=4";

// The faults that there are, none of which concerns the two hosts.
enum Faults : int64_t { kNone, kOfAnotherLink, kOfAnotherQueuePair };

void AddFault(Lab& lab, int64_t which) {
  if (which == kOfAnotherLink) {
    lab.AddFault(lab.Host(4), 1, fabric::Fabric::Direction::kTransmit,
                 {.loss = 1});
  }
  if (which == kOfAnotherQueuePair) {
    lab.fabric.adapter_faults().packets.Add(
        fabric::FaultPlace::OfNode(lab.Host(4)),
        fabric::QueuePairDirection::kSent, std::nullopt, {.loss = 1}, {});
  }
}

void Message(benchmark::State& state) {
  Lab lab(kHosts, Lab::kStatically);
  VerbsEnd one(lab.timers, lab.Provider(1), {});
  VerbsEnd other(lab.timers, lab.Provider(2), {});
  VerbsEnd::Join(one, other);
  AddFault(lab, state.range(0));
  std::vector<verbs::WorkCompletion> done(2);
  for (auto _ : state) {
    other.Receive(0, 8).IgnoreError();
    one.Send(0, 8).IgnoreError();
    lab.timers.RunPending();
    if (one.cq->Poll(done) != 1 || other.cq->Poll(done) != 1) {
      state.SkipWithError("no completion");
      break;
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(Message)->Arg(kNone)->Arg(kOfAnotherLink)->Arg(kOfAnotherQueuePair);

class AnswerCounter : public mad::AgentClient {
 public:
  void OnMad(mad::Agent&, mad::IncomingMessage) override { ++answers; }
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override {}
  int64_t answers = 0;
};

// The argument: whether there is a history.
void AnsweredMad(benchmark::State& state) {
  Lab lab(kHosts, Lab::kStatically);
  const LinkOutages outages(lab.timers, lab.fabric);
  const Diagnosis diagnosis(
      lab.fabric, outages, [](uint32_t) { return std::string(); },
      lab.timers.Now());
  FabricAdapters adapters(lab.fabric);
  std::optional<MadHistory> history;
  HostTable hosts(lab.timers, adapters);
  if (state.range(0) != 0) {
    history.emplace(lab.timers, lab.fabric, diagnosis, hosts);
  }
  const std::shared_ptr<mad::Host> host = hosts.Get(*adapters.Find("node-1"));
  AnswerCounter client;
  const auto agent = host->Register(1, {.qp = 1}, client).value();
  const mad::Outgoing get =
      testing::LidGet(1, mad::MgmtClass::kPerformance, wire::Lid{2},
                      mad::AttributeId::kClassPortInfo);
  for (auto _ : state) {
    agent
        ->Send({.to = get.to,
                .mad = {get.mad.begin(), get.mad.end()},
                .timeout = absl::Seconds(1)})
        .IgnoreError();
    lab.timers.RunPending();
  }
  if (client.answers != static_cast<int64_t>(state.iterations())) {
    state.SkipWithError("lost MADs");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(AnsweredMad)->Arg(0)->Arg(1);

}  // namespace
}  // namespace ibemu::daemon

BENCHMARK_MAIN();
