// JournalStatement: a statement of SQLite, and values that come from outside.
#ifndef IBEMU_DAEMON_JOURNAL_JOURNAL_STATEMENT_H_
#define IBEMU_DAEMON_JOURNAL_JOURNAL_STATEMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ibemu::daemon {

// A JournalStatement is one of SQL, whose parameters get their values, and
// whose columns give theirs, one after the other from the first on.
class JournalStatement {
 public:
  // `database` must outlive the result.
  //
  // Errors, of all functions here: those of Failure().
  static absl::StatusOr<JournalStatement> Prepare(sqlite3* database,
                                                  const char* sql);

  // Gives the next parameter its value.
  JournalStatement& Bind(int64_t value);
  JournalStatement& Bind(std::string_view text);
  JournalStatement& BindNull();
  // Carries it out, for a statement without results; parameters begin anew.
  absl::Status Run();

  // Goes to the next row.  False: there is none.
  absl::StatusOr<bool> Next();
  // Returns the next column.  The first that is no number within the bounds, or
  // no text, stays and is what Finish() returns; then, 0 or "" is returned.
  int64_t Number(const char* column, int64_t least, int64_t most);
  bool Flag(const char* column) { return Number(column, 0, 1) == 1; }
  std::string Text(const char* column);
  bool IsNull() const;
  // Errors: also DataLoss: "lid is no whole number from 0 to 49151".
  absl::Status Finish() const { return status_; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  JournalStatement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}

  void Fail(const char* column, std::string_view rule);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int parameter_ = 0, column_ = 0;
  absl::Status status_;
};

// Returns what the call that failed last has met: ResourceExhausted, a full
// disk; FailedPrecondition, another program has the file open; DataLoss, it is
// damaged; Unavailable, anything else.
absl::Status Failure(sqlite3* database);

// Calls `read(JournalStatement& row, absl::Status& status)` with each row of
// what `sql` selects, until it sets an error.
//
// Errors: that one; those of JournalStatement.
template <class Read>
absl::Status ReadRows(sqlite3* database, const char* sql, const Read& read) {
  IBEMU_ASSIGN_OR_RETURN(JournalStatement rows,
                         JournalStatement::Prepare(database, sql));
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(const bool any, rows.Next());
    if (!any) return absl::OkStatus();
    absl::Status status;
    read(rows, status);
    IBEMU_RETURN_IF_ERROR(rows.Finish());
    IBEMU_RETURN_IF_ERROR(status);
  }
}

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_JOURNAL_STATEMENT_H_
