// Records of nodes, ports, links and their tables, which subnet administration
// reads from the present state of the subnet.
#ifndef IBEMU_FABRIC_SA_SUBNET_RECORDS_H_
#define IBEMU_FABRIC_SA_SUBNET_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"

namespace ibemu::fabric {

// Returns the source of NodeRecord, PortInfoRecord, SwitchInfoRecord or
// LinkRecord (IBA vol 1 §15.2.5.2 to .4 and .13), or null for other attributes.
std::unique_ptr<RecordSource> NodeRecords(const Directory& directory,
                                          const SaRequest& request);

// Returns the source of GUIDInfoRecord, P_KeyTableRecord,
// SLtoVLMappingTableRecord, VLArbitrationTableRecord or one of the forwarding
// tables (§15.2.5.5 to .11 and .18), or null for other attributes.
std::unique_ptr<RecordSource> TableRecords(const Directory& directory,
                                           const SaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SUBNET_RECORDS_H_
