#include "daemon/why/ended_contexts.h"

#include <utility>

#include "daemon/why/context_facts.h"
#include "mad/host.h"

namespace ibemu::daemon {

EndedContexts::EndedContexts(Timers& timers, cuse::UverbsFiles& files)
    : timers_(timers) {
  files.SetEndListener([this](const cuse::UverbsFile& file) { OnEnd(file); });
}

void EndedContexts::OnEnd(const cuse::UverbsFile& file) {
  const ContextFacts facts = FactsOf(file);
  std::vector<Pitfall> pitfalls = FindPitfalls(facts);
  if (pitfalls.empty()) return;
  if (all_.size() == kMax) all_.pop_front();
  all_.push_back({.time = timers_.Now(),
                  .node_guid = file.host().device().node_guid(),
                  .process = facts.process,
                  .pitfalls = std::move(pitfalls)});
}

}  // namespace ibemu::daemon
