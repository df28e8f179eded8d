// Whatever a kernel's network device sends, and whatever peers send to its
// host: what reaches a kernel is what a peer sent as IP, or a sound packet.
//
// Of an input, a byte says what happens, and two how long it is or how many
// bytes follow.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "ipoib/engine.h"
#include "ipoib/netdev/packet_path.h"
#include "testing/fuzz_input.h"
#include "testing/lab.h"
#include "tests/ipoib/engine_lab.h"

namespace {

using namespace ibemu::ipoib;

void Require(bool holds) {
  if (!holds) std::abort();
}

struct Kernel final : PacketPath::Device {
  void Receive(std::span<const std::byte> packet) override {
    Require(!packet.empty() && packet.size() <= 4096);
    ++received;
  }
  void OnLinkChange() override {}
  void OnRoom() override { Require(path->room() != 0); }

  PacketPath* path = nullptr;
  size_t received = 0;
};

enum Happening { kDeviceSends, kPeerSends, kPeerSendsToAll, kTimePasses };
constexpr int kHappenings = 4;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::Lab lab("single-switch:hosts=2",
                          ibemu::testing::Lab::kByItsManager);
  EngineHost host(lab, 1);
  EngineHost peer(lab, 2);
  Kernel kernel;
  PacketPath path(lab.timers, host.engine, kernel);
  kernel.path = &path;
  lab.timers.RunFor(absl::Milliseconds(100));
  Require(host.engine.up() && peer.engine.up());
  ibemu::testing::FuzzInput input(data, size);
  size_t taken = 0;
  while (!input.empty()) {
    const int happening = input.Byte() % kHappenings;
    const uint16_t number = input.Short();
    if (happening == kTimePasses) {
      lab.timers.RunFor(absl::Milliseconds(number % 10000));
      continue;
    }
    const auto bytes = input.Take(number);
    ++taken;
    if (happening == kDeviceSends) {
      path.Send(bytes);
    } else if (happening == kPeerSends) {
      peer.engine.SendTo(host.engine.hardware_address(),
                         {bytes.begin(), bytes.end()});
    } else {
      peer.engine.SendToGroup(*peer.engine.broadcast_group(), bytes);
    }
    lab.timers.RunPending();
  }
  lab.timers.RunFor(absl::Minutes(3));
  Require(kernel.received <= 2 * taken);
  return 0;
}
