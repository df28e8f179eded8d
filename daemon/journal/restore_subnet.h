// RestoreSubnet: a new fabric as a journal says that the one before was.
#ifndef IBEMU_DAEMON_JOURNAL_RESTORE_SUBNET_H_
#define IBEMU_DAEMON_JOURNAL_RESTORE_SUBNET_H_

#include "absl/status/status.h"
#include "daemon/journal/journal_content.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// Puts cables, cuts, disabled ports, GUIDs, LIDs and nodes that are off or
// pulled out where `content` has them.  REQUIRES: nothing was done to the
// fabric yet, and no subnet manager has seen it.
//
// Errors: DataLoss, before anything is changed, if it speaks of what is not
// there or contradicts itself.
absl::Status RestoreSubnet(const JournalContent& content,
                           fabric::Fabric& fabric);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_RESTORE_SUBNET_H_
