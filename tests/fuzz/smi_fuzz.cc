// A directed-route SMP, whatever is in it, takes a step that its node can take,
// and changes nothing but its hop pointer and its return path.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "mad/smi.h"
#include "mad/wire/smp.h"
#include "testing/fuzz_input.h"

namespace ibemu::mad {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckChanges(MadBytes before, const MadBytes& after) {
  constexpr size_t kHopPointerOffset = 6;
  constexpr size_t kReturnPathOffset = 192;
  before[kHopPointerOffset] = after[kHopPointerOffset];
  std::copy(after.begin() + kReturnPathOffset, after.end(),
            before.begin() + kReturnPathOffset);
  Require(before == after);
}

void CheckVerdict(const SmiVerdict& verdict, const MadBytes& smp,
                  SmiNode node) {
  if (verdict.step == SmiStep::kForward) {
    Require(verdict.egress >= 1 && verdict.egress <= node.port_count);
  }
  if (verdict.step == SmiStep::kDiscard ||
      verdict.step == SmiStep::kAsAddressed) {
    return;
  }
  Require(wire::Get<&Smp::hop_pointer>(smp) <=
          wire::Get<&Smp::hop_count>(smp) + 1);
}

// What agents rely on: SmiReceive()'s promise.
void CheckDelivered(const MadBytes& smp) {
  const bool returning = wire::Get<&Smp::direction>(smp);
  Require(wire::Get<&Smp::hop_pointer>(smp) ==
          (returning ? 0 : wire::Get<&Smp::hop_count>(smp) + 1));
}

}  // namespace
}  // namespace ibemu::mad

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu::mad;
  ibemu::testing::FuzzInput input(data, size);
  const uint8_t choice = input.Byte();
  const SmiNode node{.is_switch = (choice & 4) != 0,
                     .port_count = input.Byte()};
  const uint8_t port = input.Byte();
  MadBytes smp = input.Mad();
  const MadBytes before = smp;
  switch (choice % 4) {
    case 0:
      CheckVerdict(SmiSend(smp, node, port), smp, node);
      break;
    case 1:
      CheckVerdict(SmiAnswer(smp, node, port), smp, node);
      break;
    default: {
      const SmiVerdict verdict = SmiReceive(smp, node, port);
      CheckVerdict(verdict, smp, node);
      if (verdict.step == SmiStep::kDeliver) CheckDelivered(smp);
    }
  }
  CheckChanges(before, smp);
  return 0;
}
