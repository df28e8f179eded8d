// The messages that answer requests to subnet administration.
#ifndef IBEMU_FABRIC_SA_SA_RESPONSE_H_
#define IBEMU_FABRIC_SA_SA_RESPONSE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "fabric/sa/sa_request.h"
#include "mad/wire/sa.h"
#include "wire/layout.h"

namespace ibemu::fabric {

// Returns the header of an answer, whose attribute may differ from that of the
// request.
mad::SaHeader SaResponseHeader(const mad::SaHeader& request);

// Returns an answer without a record: the request's data with a status.
std::vector<std::byte> SaStatusResponse(const SaRequest& request,
                                        mad::MadStatus status);

// Returns the answer to a query, in one message that is as long as it has to
// be.  Takes the records.
std::vector<std::byte> SaRecordsResponse(const SaRequest& request,
                                         SaRecords& records);

// Returns the answer to a change: the record as it is now.
template <wire::Structure T>
std::vector<std::byte> SaChangeResponse(const SaRequest& request,
                                        const T& record,
                                        mad::MadStatus status) {
  mad::SaHeader header = SaResponseHeader(request.header);
  header.mad.status = status;
  header.attribute_offset = mad::kAttributeOffset<T>;
  std::vector<std::byte> mad(mad::kMadBytes);
  wire::Encode(header, mad);
  wire::Encode(record, std::span(mad).subspan(mad::kSaDataOffset));
  return mad;
}

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SA_RESPONSE_H_
