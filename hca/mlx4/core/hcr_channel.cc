#include "hca/mlx4/core/hcr_channel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"
#include "hca/mlx4/core/presence.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// Most commands are done after some reads; those that take longer may take
// seconds.
constexpr int kReadsWithoutPause = 50;
constexpr absl::Duration kFirstPause = absl::Microseconds(10);
constexpr absl::Duration kLongestPause = absl::Milliseconds(1);

std::string CommandText(const FirmwareCommand& command) {
  return absl::StrFormat(
      "%s (0x%03x)", Absl(prm::Name(static_cast<prm::Opcode>(command.opcode))),
      command.opcode);
}

uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }

}  // namespace

absl::StatusOr<std::unique_ptr<HcrChannel>> HcrChannel::Create(
    PciFunction& function, Bar& control, Timers& timers, Pause pause) {
  IBEMU_ASSIGN_OR_RETURN(auto in, function.Allocate(prm::kMailboxBytes));
  IBEMU_ASSIGN_OR_RETURN(auto out, function.Allocate(prm::kMailboxBytes));
  return std::unique_ptr<HcrChannel>(new HcrChannel(
      control, timers, std::move(pause), std::move(in), std::move(out)));
}

uint32_t HcrChannel::ReadStatus() {
  return ReadBe32(control_, prm::kHcr + prm::kHcrStatus);
}

template <class Condition>
absl::StatusOr<uint32_t> HcrChannel::WaitFor(Condition done,
                                             absl::Duration limit) {
  const absl::Time deadline = timers_.Now() + limit;
  absl::Duration pause = kFirstPause;
  for (int reads = 0;; ++reads) {
    const uint32_t status = ReadStatus();
    if (status == kAllOnes) return GoneFromBus();
    if (done(status)) return status;
    if (timers_.Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("no end of it after ", absl::FormatDuration(limit)));
    }
    if (reads < kReadsWithoutPause) continue;
    if (health_) IBEMU_RETURN_IF_ERROR(health_->Check());
    pause_(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

absl::Status HcrChannel::Die(absl::Status why) {
  dead_ = absl::UnavailableError(
      absl::StrCat("the adapter is dead: ", why.message()));
  return why;
}

void HcrChannel::Close(const absl::Status& why) {
  if (dead_.ok()) Die(why).IgnoreError();
}

void HcrChannel::Post(const FirmwareCommand& command) {
  const uint64_t in = command.in.empty() ? command.in_parameter : in_->iova();
  const uint64_t out = command.out.empty() ? 0 : out_->iova();
  const auto put = [this](size_t offset, uint32_t value) {
    WriteBe32(control_, prm::kHcr + offset, value);
  };
  put(prm::kHcrInParam, High(in));
  put(prm::kHcrInParam + 4, Low(in));
  put(prm::kHcrInModifier, command.in_modifier);
  put(prm::kHcrOutParam, High(out));
  put(prm::kHcrOutParam + 4, Low(out));
  put(prm::kHcrToken, 0);  // used only by commands that end with an event
  put(prm::kHcrStatus, prm::kHcrGo | (toggle_ ? prm::kHcrToggle : 0) |
                           static_cast<uint32_t>(command.op_modifier)
                               << prm::kHcrOpModifierShift |
                           command.opcode);
}

absl::StatusOr<CommandResult> HcrChannel::Execute(
    const FirmwareCommand& command) {
  if (!dead_.ok()) return dead_;
  if (std::max(command.in.size(), command.out.size()) > prm::kMailboxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(CommandText(command), ": a mailbox has at most ",
                     prm::kMailboxBytes, " bytes"));
  }
  const auto name = [&command](const absl::Status& why) {
    return absl::Status(
        why.code(), absl::StrCat(CommandText(command), ": ", why.message()));
  };
  const auto free = WaitFor(
      [](uint32_t status) { return (status & prm::kHcrGo) == 0; }, kGoTimeout);
  if (!free.ok()) return Die(name(free.status()));

  if (!command.in.empty()) {
    std::ranges::fill(in_->bytes(), std::byte{0});
    std::ranges::copy(command.in, in_->bytes().begin());
  }
  // Cleared, so that what the firmware leaves out of its answer is not read
  // from the previous one.
  std::ranges::fill(out_->bytes(), std::byte{0});
  Post(command);
  const uint32_t toggle = toggle_ ? prm::kHcrToggle : 0;
  const auto done = WaitFor(
      [toggle](uint32_t status) {
        return (status & prm::kHcrGo) == 0 &&
               (status & prm::kHcrToggle) == toggle;
      },
      kTimeout);
  if (!done.ok()) return Die(name(done.status()));
  toggle_ = !toggle_;

  CommandResult result;
  result.status = static_cast<uint8_t>(*done >> prm::kHcrStatusShift);
  result.out_parameter =
      static_cast<uint64_t>(ReadBe32(control_, prm::kHcr + prm::kHcrOutParam))
          << 32 |
      ReadBe32(control_, prm::kHcr + prm::kHcrOutParam + 4);
  std::ranges::copy(out_->bytes().first(command.out.size()),
                    command.out.begin());
  return result;
}

}  // namespace ibemu::hca::mlx4
