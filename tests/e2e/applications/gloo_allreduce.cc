// gloo_allreduce DIRECTORY RANK SIZE DEVICE ROUNDS: sums vectors of all ranks
// by gloo's transport of verbs, and prints "rank RANK: ROUNDS sums are right".
//
// The ranks meet by files in DIRECTORY.  An error is a line on stderr and
// status 1.
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kElements = 100'000;
constexpr std::chrono::seconds kPatience(30);

int Sum(char** args) {
  const int rank = std::atoi(args[2]), size = std::atoi(args[3]);
  gloo::rendezvous::FileStore store(args[1]);
  auto device = gloo::transport::ibverbs::CreateDevice(
      {.name = args[4], .port = 1, .index = 0});
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(kPatience);
  context->connectFullMesh(store, device);

  std::vector<float> values(kElements);
  gloo::AllreduceRingChunked<float> allreduce(context, {values.data()},
                                              kElements);
  const int rounds = std::atoi(args[5]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kElements; ++i) {
      values[i] = static_cast<float>((i + round) % 1000 + rank);
    }
    allreduce.run();
    for (int i = 0; i < kElements; ++i) {
      const int each = size * ((i + round) % 1000) + size * (size - 1) / 2;
      if (values[i] == static_cast<float>(each)) continue;
      std::fprintf(stderr, "rank %d, round %d: [%d] is %g, not %d\n", rank,
                   round, i, values[i], each);
      return 1;
    }
  }
  // The ring does not wait until its last notification was sent, which an
  // acknowledgement that was lost holds up, and its destructor aborts if it was
  // not: a rank that ended at once would take it along.
  const auto done = [](int of) { return "done-" + std::to_string(of); };
  store.set(done(rank), {'1'});
  std::vector<std::string> all;
  for (int other = 0; other < size; ++other) all.push_back(done(other));
  store.wait(all, kPatience);
  std::printf("rank %d: %d sums are right\n", rank, rounds);
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  try {
    return Sum(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %s: %s\n", argv[2], error.what());
    return 1;
  }
}
