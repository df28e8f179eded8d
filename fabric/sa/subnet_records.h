// Records of nodes, ports, links and their tables: what subnet administration
// reads from the subnet as it is.
#ifndef IBEMU_FABRIC_SA_SUBNET_RECORDS_H_
#define IBEMU_FABRIC_SA_SUBNET_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"

namespace ibemu::fabric {

// NodeRecord, PortInfoRecord, SwitchInfoRecord, LinkRecord; IBA vol 1
// §15.2.5.2 to .4 and .13.  Null: none of these attributes.
std::unique_ptr<RecordSource> NodeRecords(const Directory& directory,
                                          const SaRequest& request);

// GUIDInfoRecord, P_KeyTableRecord, SLtoVLMappingTableRecord,
// VLArbitrationTableRecord and both forwarding tables; §15.2.5.5 to .11 and
// .18.  Null: none of these attributes.
std::unique_ptr<RecordSource> TableRecords(const Directory& directory,
                                           const SaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SUBNET_RECORDS_H_
