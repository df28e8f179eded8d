// Records of paths: PathRecord, MultiPathRecord and TraceRecord (IBA vol 1
// §15.2.5.16, .19 and .20).
#ifndef IBEMU_FABRIC_SA_PATH_RECORDS_H_
#define IBEMU_FABRIC_SA_PATH_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// Check a request.  They return the status of the answer to an invalid request,
// or kOk.
mad::MadStatus CheckPathRequest(const SaRequest& request);
mad::MadStatus CheckMultiPathRequest(const Directory& directory,
                                     const SaRequest& request);

// Return the paths between ports.  REQUIRES: the check returned kOk.
std::unique_ptr<RecordSource> PathRecords(const Directory& directory,
                                          const SaRequest& request);
std::unique_ptr<RecordSource> MultiPathRecords(const Directory& directory,
                                               const SaRequest& request);
// Returns the records for GetTraceTable(PathRecord): the nodes of the first
// path that fits.
std::unique_ptr<RecordSource> TraceRecords(const Directory& directory,
                                           const SaRequest& request);

// Fills in the path to a multicast group.  Returns false if it does not fit the
// request.
bool GroupPath(const SaRequest& request, const mad::McMemberRecord& group,
               mad::PathRecord& path);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_PATH_RECORDS_H_
