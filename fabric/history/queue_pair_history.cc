#include "fabric/history/queue_pair_history.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {

void QueuePairHistory::Note(Incident::Kind kind, uint32_t psn, std::string text,
                            absl::Duration ago) {
  Add({.kind = kind, .psn = psn, .text = std::move(text)}, ago);
}

void QueuePairHistory::NoteDrop(uint32_t psn, const Incident::Drop& drop) {
  Add({.kind = Incident::Kind::kDropped, .psn = psn, .drop = drop},
      absl::ZeroDuration());
}

void QueuePairHistory::NoteFailure(Failure failure) {
  failure.time = timers_.Now();
  Note(Incident::Kind::kFailed, failure.psn,
       absl::StrFormat("work request %d (%s): %s", failure.id, failure.what,
                       verbs::wc_status::NameOf(failure.status)));
  if (!failure_) failure_ = std::move(failure);
}

void QueuePairHistory::Add(Incident incident, absl::Duration ago) {
  const absl::Time now = timers_.Now();
  const auto same =
      std::ranges::find_if(incidents_, [&](const Incident& other) {
        return other.kind == incident.kind && other.psn == incident.psn &&
               other.drop == incident.drop && other.text == incident.text;
      });
  // States come and go: each change is one of its own.
  if (same != incidents_.end() && incident.kind != Incident::Kind::kState) {
    ++same->count;
    same->last = now;
    return;
  }
  incident.first = now - ago;
  incident.last = now;
  if (incidents_.size() == kMost) incidents_.pop_front();
  incidents_.push_back(std::move(incident));
}

const Incident* QueuePairHistory::Latest(Incident::Kind kind,
                                         absl::Time since) const {
  const Incident* latest = nullptr;
  for (const Incident& incident : incidents_) {
    if (incident.kind != kind || incident.last < since) continue;
    if (latest == nullptr || incident.last >= latest->last) latest = &incident;
  }
  return latest;
}

}  // namespace ibemu::fabric
