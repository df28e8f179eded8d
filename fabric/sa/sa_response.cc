#include "fabric/sa/sa_response.h"

#include <algorithm>

#include "mad/mad_class.h"
#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"

namespace ibemu::fabric {

using mad::AttributeId, mad::MadStatus, mad::Method, mad::SaHeader;

SaHeader SaResponseHeader(const SaHeader& request) {
  SaHeader header = request;
  header.sm_key = 0;
  header.rmpp = {.active = false};
  switch (request.mad.method) {
    case Method::kSet:
      header.mad.method = Method::kGetResp;
      break;
    case Method::kGetTraceTable:
      header.mad.method = Method::kGetTableResp;
      header.mad.attr_id = AttributeId::kTraceRecord;
      break;
    default:
      header.mad.method =
          Method(static_cast<uint8_t>(request.mad.method) | mad::kResponseBit);
  }
  if (header.mad.attr_id == AttributeId::kMultiPathRecord) {
    header.mad.attr_id = AttributeId::kPathRecord;
  }
  return header;
}

std::vector<std::byte> SaStatusResponse(const SaRequest& request,
                                        MadStatus status) {
  SaHeader header = SaResponseHeader(request.header);
  header.mad.status = status;
  if (request.header.mad.method != Method::kGet) header.attribute_offset = 0;
  std::vector<std::byte> mad(mad::kMadBytes);
  wire::Encode(header, mad);
  std::copy_n(request.data.begin(), mad::kSaDataBytes,
              mad.begin() + mad::kSaDataOffset);
  return mad;
}

std::vector<std::byte> SaRecordsResponse(const SaRequest& request,
                                         SaRecords& records) {
  SaHeader header = SaResponseHeader(request.header);
  header.mad.status = MadStatus::kOk;
  header.attribute_offset =
      records.count() == 0 ? uint16_t{0} : records.attribute_offset();
  header.rmpp.active = request.header.mad.method != Method::kGet;
  std::vector<std::byte> mad = records.Take();
  if (!header.rmpp.active) mad.resize(std::max(mad.size(), mad::kMadBytes));
  wire::Encode(header, mad);
  return mad;
}

}  // namespace ibemu::fabric
