// The tables of a journal's file, of this version and of earlier ones.
#ifndef IBEMU_DAEMON_JOURNAL_JOURNAL_TABLES_H_
#define IBEMU_DAEMON_JOURNAL_JOURNAL_TABLES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

struct sqlite3;

namespace ibemu::daemon {

// The version of the tables, in the database's user_version.  A file of an
// earlier one becomes one of this when it is accepted; a later one is refused.
inline constexpr int64_t kJournalVersion = 2;
// The first one that has `disabled` of a port.
inline constexpr int64_t kKnowsDisabledPorts = 2;

// Returns OK for this version and earlier ones.  Errors: InvalidArgument.
absl::Status CheckJournalVersion(int64_t version);

// Returns OK if the database has the tables of `version`, word for word, and
// nothing else: a view in the place of a table might have rows without end.
// REQUIRES: CheckJournalVersion() is OK.
//
// Errors: DataLoss; those of Failure().
absl::Status CheckJournalTables(sqlite3* database, int64_t version);

// SQL, for a transaction, that makes the tables of this version: in an empty
// database, or from those of an earlier version.  Also sets the version.
std::string MakeJournalTables();
std::string UpgradeJournalTables();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_JOURNAL_TABLES_H_
