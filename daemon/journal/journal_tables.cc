#include "daemon/journal/journal_tables.h"

#include <sqlite3.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/journal/journal_statement.h"

namespace ibemu::daemon {
namespace {

// A row of `node` and of `port` is there for each that has changed since the
// topology was read, and says all of it.
constexpr char kTables[] = R"(
CREATE TABLE subnet(
  topology TEXT NOT NULL, digest TEXT NOT NULL, seed TEXT NOT NULL) STRICT;
CREATE TABLE node(
  node INTEGER PRIMARY KEY, guid TEXT NOT NULL, is_on INTEGER NOT NULL,
  plugged INTEGER NOT NULL, joined INTEGER NOT NULL) STRICT;
CREATE TABLE fault(
  place INTEGER PRIMARY KEY, name TEXT NOT NULL, words TEXT NOT NULL,
  seed TEXT, node INTEGER NOT NULL) STRICT;
CREATE TABLE revert(
  node INTEGER NOT NULL, port INTEGER NOT NULL, up INTEGER NOT NULL,
  at_unix INTEGER NOT NULL, PRIMARY KEY(node, port)) STRICT, WITHOUT ROWID;
)";
constexpr char kPortTable[] = R"(
CREATE TABLE port(
  node INTEGER NOT NULL, port INTEGER NOT NULL, peer_node INTEGER,
  peer_port INTEGER, cut INTEGER NOT NULL, guid TEXT NOT NULL,
  lid INTEGER NOT NULL, lmc INTEGER NOT NULL, disabled INTEGER NOT NULL,
  PRIMARY KEY(node, port)) STRICT, WITHOUT ROWID;
)";
// Of version 1.
constexpr char kFirstPortTable[] = R"(
CREATE TABLE port(
  node INTEGER NOT NULL, port INTEGER NOT NULL, peer_node INTEGER,
  peer_port INTEGER, cut INTEGER NOT NULL, guid TEXT NOT NULL,
  lid INTEGER NOT NULL, lmc INTEGER NOT NULL,
  PRIMARY KEY(node, port)) STRICT, WITHOUT ROWID;
)";

std::string SetVersion() {
  return absl::StrFormat("PRAGMA user_version = %d;", kJournalVersion);
}

absl::StatusOr<std::string> TablesOf(sqlite3* database) {
  std::string tables;
  IBEMU_RETURN_IF_ERROR(ReadRows(
      database,
      "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name",
      [&](JournalStatement& row, absl::Status&) {
        for (const char* const column : {"type", "name", "sql"}) {
          absl::StrAppend(&tables, row.Text(column), "\n");
        }
      }));
  return tables;
}

}  // namespace

absl::Status CheckJournalVersion(int64_t version) {
  if (version >= 1 && version <= kJournalVersion) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "it is a journal of version %d, and this ibemud has version %d: start "
      "the one that made it, or name a file that is not there",
      version, kJournalVersion));
}

absl::Status CheckJournalTables(sqlite3* database, int64_t version) {
  sqlite3* made = nullptr;
  int code = sqlite3_open(":memory:", &made);
  const absl::Cleanup close = [&] { sqlite3_close(made); };
  if (code == SQLITE_OK) {
    const std::string tables = absl::StrCat(
        kTables, version < kKnowsDisabledPorts ? kFirstPortTable : kPortTable);
    code = sqlite3_exec(made, tables.c_str(), nullptr, nullptr, nullptr);
  }
  if (code != SQLITE_OK) return Failure(made);
  IBEMU_ASSIGN_OR_RETURN(const std::string right, TablesOf(made));
  IBEMU_ASSIGN_OR_RETURN(const std::string its, TablesOf(database));
  if (its == right) return absl::OkStatus();
  return absl::DataLossError("its tables are not those of a journal");
}

std::string MakeJournalTables() {
  return absl::StrCat(SetVersion(), kTables, kPortTable);
}

// To add a column would leave another text of the table than a new file has.
std::string UpgradeJournalTables() {
  return absl::StrCat(SetVersion(), "ALTER TABLE port RENAME TO before;",
                      kPortTable,
                      "INSERT INTO port SELECT *, 0 FROM before;"
                      "DROP TABLE before;");
}

}  // namespace ibemu::daemon
