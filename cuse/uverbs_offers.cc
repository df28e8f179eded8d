#include "cuse/uverbs_offers.h"

#include <cstring>
#include <utility>

#include "cuse/event_number.h"

namespace ibemu::cuse {

UverbsEventFile* UverbsOffers::Take(pid_t tid) {
  const auto offer = offers_.extract(tid);
  return offer.empty() ? nullptr : offer.mapped();
}

void UverbsOffers::Withdraw(const UverbsEventFile& file) {
  absl::erase_if(offers_,
                 [&file](const auto& offer) { return offer.second == &file; });
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
  if (request.command != kNumberEventFile) return reply.Fail(Errno::kNotTty);
  EventNumber told{.tid = 0, .number = -1};
  if (request.in.size() == sizeof told) {
    std::memcpy(&told, request.in.data(), sizeof told);
  }
  if (told.number < 0 || number_ >= 0) return reply.Fail(Errno::kInvalid);
  if (told.tid != 0 && teller_ == Teller::kItself) {
    return reply.Fail(Errno::kNotPermitted);
  }
  number_ = told.number;
  offers_->Offer(told.tid != 0 ? told.tid : request.caller, *this);
  reply.Done();
}

}  // namespace ibemu::cuse
