#include "fabric/soft_hca/transport/atomic_unit.h"

#include <cstring>
#include <utility>
#include <vector>

namespace ibemu::fabric {
namespace {

uint64_t ValueIn(const std::vector<std::byte>& bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

void AtomicUnit::Run(const verbs::MemoryRange& target,
                     const AtomicOperation& operation, Check check, Done done) {
  const Place place = {target.memory->process(), target.address};
  std::deque<Job>& waiting = jobs_[place];
  waiting.push_back({target, operation, std::move(check), std::move(done)});
  if (waiting.size() == 1) Begin(place);
}

void AtomicUnit::Begin(Place place) {
  const verbs::MemoryRange target = jobs_[place].front().target;
  auto buffer = std::make_shared<std::vector<std::byte>>(kAtomicBytes);
  target.memory->Read({{target.address, buffer, 0, kAtomicBytes}},
                      [self = self_, place, buffer](absl::Status status) {
                        if (*self == nullptr) return;
                        if (!status.ok()) {
                          return (*self)->End(place, std::move(status));
                        }
                        (*self)->Change(place, buffer);
                      });
}

void AtomicUnit::Change(Place place, const verbs::Buffer& buffer) {
  Job& job = jobs_[place].front();
  absl::Status allowed = job.check();
  if (!allowed.ok()) return End(place, std::move(allowed));
  const uint64_t before = ValueIn(*buffer);
  const uint64_t after = job.operation.Apply(before);
  if (after == before) return End(place, before);
  std::memcpy(buffer->data(), &after, sizeof after);
  const std::shared_ptr<verbs::Memory> memory = job.target.memory;
  memory->Write({{job.target.address, buffer, 0, kAtomicBytes}},
                [self = self_, place, before](absl::Status status) {
                  if (*self == nullptr) return;
                  if (!status.ok()) {
                    return (*self)->End(place, std::move(status));
                  }
                  (*self)->End(place, before);
                });
}

void AtomicUnit::End(Place place, absl::StatusOr<uint64_t> result) {
  const auto found = jobs_.find(place);
  Done done = std::move(found->second.front().done);
  found->second.pop_front();
  if (found->second.empty()) {
    jobs_.erase(found);
  } else {
    Begin(place);
  }
  done(std::move(result));
}

}  // namespace ibemu::fabric
