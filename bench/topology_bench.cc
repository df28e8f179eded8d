// Loading and configuring large subnets: what a user waits for at start.
#include <benchmark/benchmark.h>

#include <string>

#include "fabric/formats/load_topology.h"
#include "fabric/links.h"
#include "fabric/static_sm.h"
#include "fabric/topology.h"

namespace {

namespace fabric = ibemu::fabric;

constexpr const char* kSpecs[] = {
    "fat-tree:radix=36,levels=2",              // 648 hosts
    "fat-tree:radix=36,levels=3",              // 11,664 hosts
    "fat-tree:radix=64,levels=3,hosts=45056",  // nearly all LIDs
    "fat-tree:radix=64,levels=3",              // 65,536 hosts
};

const char* SpecOf(const benchmark::State& state) {
  return kSpecs[static_cast<size_t>(state.range(0))];
}

void Generate(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(fabric::GenerateTopology(SpecOf(state)));
  }
  state.SetLabel(SpecOf(state));
}
BENCHMARK(Generate)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void Parse(benchmark::State& state) {
  const std::string text =
      fabric::FormatIbnetdiscover(*fabric::GenerateTopology(SpecOf(state)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fabric::ParseTopology(text, "bench.net"));
  }
  state.SetLabel(SpecOf(state));
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) *
                          static_cast<int64_t>(state.iterations()));
}
BENCHMARK(Parse)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void Format(benchmark::State& state) {
  const fabric::Topology topology = *fabric::GenerateTopology(SpecOf(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fabric::FormatIbnetdiscover(topology));
  }
  state.SetLabel(SpecOf(state));
}
BENCHMARK(Format)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

struct NoEvents : fabric::FabricEvents {
  void OnPortChange(fabric::PortId) override {}
  void OnClientReregister(fabric::PortId) override {}
  void OnLinkStateChange(fabric::NodeId) override {}
};

void ConfigureSubnet(benchmark::State& state) {
  const fabric::Topology topology = *fabric::GenerateTopology(SpecOf(state));
  NoEvents events;
  for (auto _ : state) {
    state.PauseTiming();
    fabric::Subnet subnet(topology);
    const fabric::Links links(subnet, events);
    state.ResumeTiming();
    if (!fabric::ConfigureSubnet(subnet).ok()) state.SkipWithError("refused");
  }
  state.SetLabel(SpecOf(state));
}
BENCHMARK(ConfigureSubnet)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
