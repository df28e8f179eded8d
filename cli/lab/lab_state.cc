#include "cli/lab/lab_state.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ibemu::cli {
namespace {

constexpr int kSignalled = 128;  // and the signal's number, in a shell's status

std::string StatusText(int status) {
  const int number = status - kSignalled;
  if (number <= 0 || number >= SIGRTMIN) {
    return absl::StrCat("exit status ", status);
  }
  return absl::StrFormat("ended by signal %d (%s)", number, strsignal(number));
}

}  // namespace

bool LabState::MayStart(size_t program) const {
  return programs_[program].phase == Phase::kWaiting &&
         std::ranges::all_of(
             plan_.programs[program].after,
             [this](size_t other) { return programs_[other].ready; });
}

std::vector<size_t> LabState::TakeStarts() {
  std::vector<size_t> starts;
  if (ending_) return starts;
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (MayStart(i)) starts.push_back(i);
  }
  for (const size_t i : starts) programs_[i].phase = Phase::kRunning;
  return starts;
}

void LabState::OnLine(size_t program, std::string_view line) {
  const auto& text = plan_.programs[program].ready;
  if (text && line.find(*text) != std::string_view::npos) {
    programs_[program].ready = true;
  }
}

const LabProgram* LabState::WaiterFor(size_t program) const {
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (programs_[i].phase == Phase::kWaiting &&
        std::ranges::count(plan_.programs[i].after, program) > 0) {
      return &plan_.programs[i];
    }
  }
  return nullptr;
}

bool LabState::CommandsHaveEnded() const {
  bool any = false;
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (plan_.programs[i].kind != LabProgram::Kind::kCommand) continue;
    any = true;
    if (programs_[i].phase != Phase::kEnded) return false;
  }
  return any;
}

void LabState::OnEnd(size_t program, int status) {
  programs_[program].phase = Phase::kEnded;
  if (ending_) return;
  const LabProgram& ended = plan_.programs[program];
  if (status != 0) {
    return Fail(program, status, StatusText(status));
  }
  if (ended.kind == LabProgram::Kind::kService) {
    return Fail(program, 1, "a service has ended, with exit status 0");
  }
  if (!ended.ready) {
    programs_[program].ready = true;
  } else if (!programs_[program].ready) {
    if (const LabProgram* waiter = WaiterFor(program)) {
      return Fail(program, 1,
                  absl::StrFormat("ended without a line that has \"%s\" in it, "
                                  "which %s waits for",
                                  *ended.ready, waiter->label));
    }
  }
  if (CommandsHaveEnded()) ending_ = true;
}

void LabState::Fail(size_t program, int status, std::string_view what) {
  const LabProgram& failed = plan_.programs[program];
  Stop(status, absl::StrFormat("%s:%d: %s: %s", plan_.file, failed.line,
                               failed.label, what));
}

void LabState::Stop(int status, std::string reason) {
  if (ending_) return;
  ending_ = true;
  status_ = status;
  reason_ = std::move(reason);
}

bool LabState::ended() const {
  return std::ranges::none_of(programs_, [this](const Program& program) {
    return program.phase == Phase::kRunning ||
           (program.phase == Phase::kWaiting && !ending_);
  });
}

bool LabState::up() const {
  for (size_t i = 0; i < programs_.size(); ++i) {
    if (programs_[i].phase == Phase::kWaiting) return false;
    if (plan_.programs[i].ready && !programs_[i].ready) return false;
  }
  return true;
}

}  // namespace ibemu::cli
