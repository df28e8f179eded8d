// Loading and configuration of large subnets, for which a user waits at start.
#include <benchmark/benchmark.h>

#include <string>

#include "fabric/routing/static_sm.h"
#include "fabric/subnet/links.h"
#include "topology/formats/load_topology.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

namespace {

namespace fabric = ibemu::fabric;
namespace topology = ibemu::topology;

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
    benchmark::DoNotOptimize(topology::GenerateTopology(SpecOf(state)));
  }
  state.SetLabel(SpecOf(state));
}
BENCHMARK(Generate)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void Parse(benchmark::State& state) {
  const std::string text =
      topology::FormatIbnetdiscover(*topology::GenerateTopology(SpecOf(state)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(topology::ParseTopology(text, "bench.net"));
  }
  state.SetLabel(SpecOf(state));
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) *
                          static_cast<int64_t>(state.iterations()));
}
BENCHMARK(Parse)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void Format(benchmark::State& state) {
  const topology::Topology topology =
      *topology::GenerateTopology(SpecOf(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(topology::FormatIbnetdiscover(topology));
  }
  state.SetLabel(SpecOf(state));
}
BENCHMARK(Format)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

struct NoEvents : fabric::FabricEvents {
  void OnPortChange(fabric::PortId) override {}
  void OnClientReregister(fabric::PortId) override {}
  void OnLinkStateChange(topology::NodeId) override {}
};

void ConfigureSubnet(benchmark::State& state) {
  const topology::Topology topology =
      *topology::GenerateTopology(SpecOf(state));
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
