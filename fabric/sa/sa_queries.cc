#include "fabric/sa/sa_queries.h"

#include <utility>

#include "fabric/sa/sa_response.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {
namespace {

using mad::MadStatus;

constexpr int kRmppRetries = 4;

}  // namespace

bool SaQueries::InProgress(const SaRequest& request) const {
  for (const auto& [id, answer] : answers_) {
    if (answer->request.requester == request.requester &&
        answer->request.from.qpn == request.from.qpn &&
        answer->request.header.mad.tid == request.header.mad.tid) {
      return true;
    }
  }
  return false;
}

void SaQueries::Begin(const SaRequest& request) {
  if (InProgress(request)) return;
  if (const MadStatus status = lookup_.Check(request);
      status != MadStatus::kOk) {
    return Refuse(request, status);
  }
  SaRecords records(SaLookup::AttributeOffset(request.header));
  std::unique_ptr<RecordSource> source;
  if (!lookup_.FindAtOnce(request, records)) {
    source = lookup_.SourceFor(request);
    if (source == nullptr) {
      return Refuse(request, MadStatus::kUnsupportedAttribute);
    }
  }
  size_t& of_requester = answers_of_[request.requester];
  if (of_requester >= kMaxOfRequester || answers_.size() >= kMaxAnswers) {
    return Refuse(request, MadStatus::kBusy);
  }
  ++of_requester;
  const uint64_t id = next_id_++;
  answers_[id] = std::make_unique<Answer>(Answer{.id = id,
                                                 .request = request,
                                                 .source = std::move(source),
                                                 .records = records});
  Continue(id);
}

// Finds some of the records, then lets other tasks run.
void SaQueries::Continue(uint64_t id) {
  const auto found = answers_.find(id);
  if (found == answers_.end()) return;
  Answer& answer = *found->second;
  const bool more =
      answer.source != nullptr && answer.source->Next(answer.records);
  bytes_ += answer.records.bytes() - answer.bytes;
  answer.bytes = answer.records.bytes();
  if (!more || IsTooLong(answer) ||
      (answer.request.WantsOne() && answer.records.count() > 1)) {
    return Finish(answer);
  }
  timers_.RunIdle([this, id, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Continue(id);
  });
}

bool SaQueries::IsTooLong(const Answer& answer) const {
  return answer.bytes > SaRecords::kMaxBytes || bytes_ > kMaxBytes;
}

void SaQueries::Finish(Answer& answer) {
  const SaRequest& request = answer.request;
  answer.source.reset();
  MadStatus status = MadStatus::kOk;
  if (IsTooLong(answer)) {
    status = MadStatus::kSaNoResources;
  } else if (request.WantsOne() && answer.records.count() != 1) {
    status = answer.records.count() == 0 ? MadStatus::kSaNoRecords
                                         : MadStatus::kSaTooManyRecords;
  }
  if (status != MadStatus::kOk) {
    Refuse(request, status);
    return End(answer.id);
  }
  const absl::Status sent =
      agent_.Send({.to = request.from,
                   .mad = SaRecordsResponse(request, answer.records),
                   .retries = kRmppRetries,
                   .cookie = answer.id});
  if (!sent.ok()) End(answer.id);
}

void SaQueries::End(uint64_t id) {
  const auto found = answers_.find(id);
  if (found == answers_.end()) return;
  const auto requester = answers_of_.find(found->second->request.requester);
  if (--requester->second == 0) answers_of_.erase(requester);
  bytes_ -= found->second->bytes;
  answers_.erase(found);
}

void SaQueries::Refuse(const SaRequest& request, MadStatus status) {
  agent_.Send({.to = request.from, .mad = SaStatusResponse(request, status)})
      .IgnoreError();
}

}  // namespace ibemu::fabric
