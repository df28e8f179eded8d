// FuseTreeTable(): libfuse's functions for a FuseTree.
#ifndef IBEMU_CUSE_FUSE_FUSE_TREE_TABLE_H_
#define IBEMU_CUSE_FUSE_FUSE_TREE_TABLE_H_

#include "cuse/fuse/libfuse.h"

namespace ibemu::cuse {

// Returns the table of functions for a session whose user data is a
// FuseTreeOperations.  Requests without a function here are answered with
// ENOSYS, which makes the kernel stop sending them: FLUSH, extended attributes.
const fuse_lowlevel_ops& FuseTreeTable();

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_TREE_TABLE_H_
