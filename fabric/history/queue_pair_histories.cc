#include "fabric/history/queue_pair_histories.h"

#include <utility>

namespace ibemu::fabric {

std::shared_ptr<QueuePairHistory> QueuePairHistories::Begin(
    topology::NodeId node, uint32_t qpn, uint64_t process) {
  const Key key(node, qpn);
  auto history = std::make_shared<QueuePairHistory>(
      timers_,
      [this, key](const QueuePairHistory& told, const Incident& incident) {
        if (incident_listener_ == nullptr) return;
        incident_listener_(key.first, key.second, told, incident);
      },
      process);
  present_[key] = history;
  return history;
}

void QueuePairHistories::End(topology::NodeId node, uint32_t qpn,
                             const std::shared_ptr<QueuePairHistory>& history) {
  history->Note(Incident::Kind::kState, std::nullopt, "destroyed");
  const Key key(node, qpn);
  const auto present = present_.find(key);
  if (present != present_.end() && present->second == history) {
    present_.erase(present);
  }
  Ended& ended = history->failure() ? ended_badly_ : ended_well_;
  if (ended.size() == kMaxEnded) ended.pop_front();
  ended.emplace_back(key, history);
}

const QueuePairHistory* QueuePairHistories::Find(topology::NodeId node,
                                                 uint32_t qpn) const {
  const Key key(node, qpn);
  const auto present = present_.find(key);
  if (present != present_.end()) return present->second.get();
  const QueuePairHistory* latest = nullptr;
  for (const Ended* const ended : {&ended_well_, &ended_badly_}) {
    for (const auto& [other, history] : *ended) {
      if (other != key) continue;
      if (latest == nullptr ||
          history->incidents().back().last >= latest->incidents().back().last) {
        latest = history.get();
      }
    }
  }
  return latest;
}

QueuePairHistory* QueuePairHistories::Find(topology::NodeId node,
                                           uint32_t qpn) {
  return const_cast<QueuePairHistory*>(std::as_const(*this).Find(node, qpn));
}

void QueuePairHistories::ForEach(topology::NodeId node, Look look) const {
  for (auto present = present_.lower_bound({node, 0});
       present != present_.end() && present->first.first == node; ++present) {
    look(node, present->first.second, true, *present->second);
  }
  ForEachEnded([node](const Key& key,
                      const QueuePairHistory&) { return key.first == node; },
               look);
}

void QueuePairHistories::ForEachOf(uint64_t process, Look look) const {
  for (const auto& [key, history] : present_) {
    if (history->process() != process) continue;
    look(key.first, key.second, true, *history);
  }
  ForEachEnded(
      [process](const Key&, const QueuePairHistory& history) {
        return history.process() == process;
      },
      look);
}

template <class Wanted>
void QueuePairHistories::ForEachEnded(Wanted wanted, Look look) const {
  for (const Ended* const ended : {&ended_badly_, &ended_well_}) {
    for (auto one = ended->rbegin(); one != ended->rend(); ++one) {
      const auto& [key, history] = *one;
      if (wanted(key, *history)) look(key.first, key.second, false, *history);
    }
  }
}

}  // namespace ibemu::fabric
