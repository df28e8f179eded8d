// Decoding and encoding of the attributes that sweeps and counter queries use.
#include <array>

#include "benchmark/benchmark.h"
#include "mad/wire/node_info.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"

namespace ibemu::mad {
namespace {

std::array<std::byte, kMadBytes> SomeBytes() {
  std::array<std::byte, kMadBytes> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 37);
  }
  return bytes;
}

template <class T>
void Decode(benchmark::State& state) {
  const auto bytes = SomeBytes();
  for (auto _ : state) {
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
    T value = wire::Decode<T>(bytes);
    benchmark::DoNotOptimize(&value);
    benchmark::ClobberMemory();
  }
}

template <class T>
void Encode(benchmark::State& state) {
  auto bytes = SomeBytes();
  T value = wire::Decode<T>(bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(&value);
    benchmark::ClobberMemory();
    wire::Encode(value, bytes);
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK(Decode<PortInfo>);
BENCHMARK(Encode<PortInfo>);
BENCHMARK(Decode<NodeInfo>);
BENCHMARK(Encode<NodeInfo>);
BENCHMARK(Decode<PortCounters>);
BENCHMARK(Encode<PortCounters>);
BENCHMARK(Decode<Smp>);
BENCHMARK(Encode<Smp>);

}  // namespace
}  // namespace ibemu::mad

BENCHMARK_MAIN();
