// GUIDInfoRecord, P_KeyTableRecord, SLtoVLMappingTableRecord,
// VLArbitrationTableRecord and the forwarding tables: IBA vol 1 §15.2.5.5 to
// .11 and .18.
#ifndef IBEMU_FABRIC_SA_TABLE_RECORDS_H_
#define IBEMU_FABRIC_SA_TABLE_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"

namespace ibemu::fabric {

// Returns the source of the requested records, which reads them from the
// present state of the subnet; null for attributes that are no such table.
std::unique_ptr<RecordSource> TableRecords(const Directory& directory,
                                           const SaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_TABLE_RECORDS_H_
