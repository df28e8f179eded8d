#include "hca/mlx4/verbs/solicited_completions.h"

#include "hca/mlx4/verbs/queue_pair_core.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// A queue is shorter, so an index that is further ahead is behind.
constexpr uint32_t kHalf = (prm::kCqIndexMask + 1) / 2;

uint32_t Ahead(uint32_t index, uint32_t of) {
  return (index - of) & prm::kCqIndexMask;
}

}  // namespace

bool SolicitedCompletions::MayBeSolicited(uint32_t index) {
  if (core_.gone) return true;
  if (!known_ || Ahead(known_->producer_index, index) >= kHalf) {
    const auto context =
        core_.provider->resources().commands().Ask<prm::CqContext>(
            prm::Opcode::kQueryCq,
            {.in = core_.adapter_qp.completions().number()});
    if (!context.ok()) return true;
    known_ = *context;
  }
  return Ahead(known_->solicit_producer_index, index) <=
         Ahead(known_->producer_index, index);
}

}  // namespace ibemu::hca::mlx4
