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
#include <vector>

namespace {

constexpr int kElements = 100'000;

int Sum(char** args) {
  const int rank = std::atoi(args[2]), size = std::atoi(args[3]);
  gloo::rendezvous::FileStore store(args[1]);
  auto device = gloo::transport::ibverbs::CreateDevice(
      {.name = args[4], .port = 1, .index = 0});
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(std::chrono::seconds(30));
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
  std::printf("rank %d: %d sums are right\n", rank, rounds);
  std::fflush(stdout);
  // The ring does not wait until its last notification was sent, and its
  // destructor aborts if it was not.
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
