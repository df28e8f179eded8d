// Records of nodes and links: NodeRecord, PortInfoRecord, SwitchInfoRecord and
// LinkRecord (IBA vol 1 §15.2.5.2 to .4 and .13).
#ifndef IBEMU_FABRIC_SA_NODE_RECORDS_H_
#define IBEMU_FABRIC_SA_NODE_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"

namespace ibemu::fabric {

// Returns the source of the requested records, which reads them from the
// present state of the subnet; null for attributes other than these four.
std::unique_ptr<RecordSource> NodeRecords(const Directory& directory,
                                          const SaRequest& request);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_NODE_RECORDS_H_
