// PathRecord, MultiPathRecord and TraceRecord: IBA vol 1 §15.2.5.16, .19, .20.
#ifndef IBEMU_FABRIC_SA_PATH_RECORDS_H_
#define IBEMU_FABRIC_SA_PATH_RECORDS_H_

#include <memory>

#include "fabric/sa/directory.h"
#include "fabric/sa/sa_request.h"
#include "mad/wire/sa_services.h"

namespace ibemu::fabric {

// What a wrong request gets; kOk: ask for the records.
mad::MadStatus CheckPathRequest(const SaRequest& request);
mad::MadStatus CheckMultiPathRequest(const Directory& directory,
                                     const SaRequest& request);

// Require that the check found nothing.
std::unique_ptr<RecordSource> PathRecords(const Directory& directory,
                                          const SaRequest& request);
std::unique_ptr<RecordSource> MultiPathRecords(const Directory& directory,
                                               const SaRequest& request);
// Of GetTraceTable(PathRecord): the nodes of the first path that fits.
std::unique_ptr<RecordSource> TraceRecords(const Directory& directory,
                                           const SaRequest& request);

// The path to a multicast group.  False: the request wants another one.
bool GroupPath(const SaRequest& request, const mad::McMemberRecord& group,
               mad::PathRecord& path);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_PATH_RECORDS_H_
