// Decoders of the lists of work requests in POST_* commands.
#ifndef IBEMU_VERBS_UVERBS_WORK_REQUESTS_H_
#define IBEMU_VERBS_UVERBS_WORK_REQUESTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "verbs/provider.h"
#include "verbs/uverbs/command.h"

namespace ibemu::verbs {

// Decode `request`: struct ib_uverbs_post_send, or ib_uverbs_post_recv (that of
// an SRQ is the same), followed by the work requests and their SGEs.  Addresses
// and inline data of sends are left to the caller.
//
// Errors: InvalidArgument.
absl::StatusOr<std::vector<SendRequest>> DecodeSends(Bytes request);
absl::StatusOr<std::vector<ReceiveRequest>> DecodeReceives(Bytes request);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_WORK_REQUESTS_H_
