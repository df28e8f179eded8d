#include "fabric/history/queue_pair_history.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

// Whether `now` is counted as `before` once more.  States and paths come and
// go: each change is one of its own.  Of dropped and delayed packets the place
// counts, not which.
bool IsSame(const Incident& before, const Incident& now) {
  return before.kind == now.kind && !IsChange(now.kind) &&
         before.drop == now.drop && before.delay == now.delay &&
         before.text == now.text &&
         (before.psn == now.psn || now.drop || now.delay);
}

}  // namespace

void QueuePairHistory::Note(Incident::Kind kind, Psn psn, std::string text,
                            absl::Duration ago) {
  Add({.kind = kind, .psn = psn, .text = std::move(text)}, ago);
}

void QueuePairHistory::NoteDrop(Psn psn, const Incident::Drop& drop) {
  Add({.kind = Incident::Kind::kDropped, .psn = psn, .drop = drop},
      absl::ZeroDuration());
}

void QueuePairHistory::NoteDelay(Psn psn, const Incident::Delay& delay) {
  Add({.kind = Incident::Kind::kDelayed, .psn = psn, .delay = delay},
      absl::ZeroDuration());
}

void QueuePairHistory::NoteFault(Psn psn, std::string_view name,
                                 std::string_view deed) {
  Note(Incident::Kind::kFault, psn, absl::StrFormat("%s %s", name, deed));
}

void QueuePairHistory::NoteError(std::string change) {
  Note(Incident::Kind::kState, std::nullopt, change);
  error_ = std::move(change);
}

void QueuePairHistory::SetFacts(const QueuePairFacts& facts) {
  facts_ = facts;
  facts_->time = timers_.Now();
}

void QueuePairHistory::NoteFailure(Failure failure) {
  failure.time = timers_.Now();
  const Kept kept =
      Keep({.kind = Incident::Kind::kFailed,
            .psn = failure.psn,
            .text = absl::StrFormat("work request %d (%s): %s", failure.id,
                                    failure.what,
                                    verbs::wc_status::NameOf(failure.status))},
           absl::ZeroDuration());
  if (failure_) return;
  failure_ = std::move(failure);
  Tell(kept.incident);
}

// Lossy links would push the changes out, which tell most.
void QueuePairHistory::MakeRoom() {
  const auto oldest = std::ranges::find_if(
      incidents_,
      [](const Incident& incident) { return !IsChange(incident.kind); });
  incidents_.erase(oldest == incidents_.end() ? incidents_.begin() : oldest);
}

void QueuePairHistory::Add(Incident incident, absl::Duration ago) {
  const Kept kept = Keep(std::move(incident), ago);
  if (kept.is_new) Tell(kept.incident);
}

QueuePairHistory::Kept QueuePairHistory::Keep(Incident incident,
                                              absl::Duration ago) {
  const absl::Time now = timers_.Now();
  const auto same =
      std::ranges::find_if(incidents_, [&](const Incident& other) {
        return other.last >= restarted_ && IsSame(other, incident);
      });
  if (same != incidents_.end()) {
    ++same->count;
    same->psn = incident.psn;
    same->last = now;
    return {*same, false};
  }
  incident.first = now - ago;
  incident.last = now;
  if (incidents_.size() == kMax) MakeRoom();
  return {incidents_.emplace_back(std::move(incident)), true};
}

template <class Wanted>
const Incident* QueuePairHistory::FindLatest(absl::Time since,
                                             Wanted wanted) const {
  const Incident* latest = nullptr;
  for (const Incident& incident : incidents_) {
    if (!wanted(incident) || incident.last < since) continue;
    if (latest == nullptr || incident.last >= latest->last) latest = &incident;
  }
  return latest;
}

const Incident* QueuePairHistory::Latest(Incident::Kind kind,
                                         absl::Time since) const {
  return FindLatest(since, [kind](const Incident& incident) {
    return incident.kind == kind;
  });
}

const Incident* QueuePairHistory::LatestOf(Incident::Kind kind, Psn psn) const {
  return FindLatest(restarted_, [kind, psn](const Incident& incident) {
    return incident.kind == kind && incident.psn == psn;
  });
}

}  // namespace ibemu::fabric
