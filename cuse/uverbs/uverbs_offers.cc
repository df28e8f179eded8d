#include "cuse/uverbs/uverbs_offers.h"

#include <cstring>
#include <utility>

#include "base/supervisor_ioctls.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

pid_t ProcessOf(pid_t tid) { return static_cast<pid_t>(ClientOf(tid)); }

template <typename T>
std::optional<T> ArgumentOf(const IoctlRequest& request) {
  T argument;
  if (request.in.size() != sizeof argument) return std::nullopt;
  std::memcpy(&argument, request.in.data(), sizeof argument);
  return argument;
}

}  // namespace

bool UverbsOffers::HasEnough(pid_t client) const {
  const auto found = offers_.find(client);
  return found != offers_.end() && found->second.size() >= kEnough;
}

UverbsEventFile* UverbsOffers::Take(pid_t client) {
  const auto found = offers_.find(client);
  if (found == offers_.end()) return nullptr;
  UverbsEventFile* const file = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) offers_.erase(found);
  return file;
}

void UverbsOffers::Offer(pid_t client, UverbsEventFile& file) {
  offers_[client].push_back(&file);
}

void UverbsOffers::Withdraw(const UverbsEventFile& file) {
  absl::erase_if(offers_, [&file](auto& offer) {
    std::erase(offer.second, &file);
    return offer.second.empty();
  });
}

void UverbsEventFile::Open(bool /*nonblock*/, OpenReply reply) {
  reply.Opened();
}

void UverbsEventFile::Read(bool nonblock, ReadReply reply) {
  events_.Read(nonblock, std::move(reply));
}

void UverbsEventFile::Write(Written /*data*/, WriteReply reply) {
  reply.Fail(Errno::kInvalid);
}

void UverbsEventFile::Ioctl(const IoctlRequest& request, IoctlReply reply) {
  Errno result = Errno::kNotTty;
  if (request.command == kOfferEventFile) result = AskForRoom(request);
  if (request.command == kNumberEventFile) result = SetNumber(request);
  if (result != Errno::kOk) return reply.Fail(result);
  reply.Done();
}

bool UverbsEventFile::MayTellOfOthers(const IoctlRequest& request) const {
  return supervisor_ && (request.user == 0 || request.user == *supervisor_);
}

Errno UverbsEventFile::AskForRoom(const IoctlRequest& request) const {
  const auto tid = ArgumentOf<int32_t>(request);
  if (!tid) return Errno::kInvalid;
  if (!MayTellOfOthers(request)) return Errno::kNotPermitted;
  return offers_->HasEnough(ProcessOf(*tid)) ? Errno::kBusy : Errno::kOk;
}

Errno UverbsEventFile::SetNumber(const IoctlRequest& request) {
  const auto told = ArgumentOf<EventNumber>(request);
  if (!told || told->number < 0 || number_ >= 0) return Errno::kInvalid;
  if (told->tid != 0 && !MayTellOfOthers(request)) {
    return Errno::kNotPermitted;
  }
  number_ = told->number;
  offers_->Offer(told->tid != 0 ? ProcessOf(told->tid) : request.caller, *this);
  return Errno::kOk;
}

}  // namespace ibemu::cuse
