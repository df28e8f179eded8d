#include "daemon/journal/journal_statement.h"

#include <sqlite3.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::daemon {

absl::Status Failure(sqlite3* database) {
  const int code = sqlite3_errcode(database);
  const std::string what = sqlite3_errmsg(database);
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(
          "another program has it open: an ibemud has its journal for itself");
    case SQLITE_FULL:
      return absl::ResourceExhaustedError("no space left on device");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // A table or a column is not there.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
      return absl::DataLossError(what);
    default:
      break;
  }
  const int error = sqlite3_system_errno(database);
  return absl::UnavailableError(
      error == 0 ? what : absl::StrCat(what, ": ", std::strerror(error)));
}

void JournalStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

absl::StatusOr<JournalStatement> JournalStatement::Prepare(sqlite3* database,
                                                           const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
    return Failure(database);
  }
  return JournalStatement(database, statement);
}

JournalStatement& JournalStatement::Bind(int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++parameter_, value);
  return *this;
}

JournalStatement& JournalStatement::Bind(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), ++parameter_, text.data(), text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

JournalStatement& JournalStatement::BindNull() {
  sqlite3_bind_null(statement_.get(), ++parameter_);
  return *this;
}

absl::Status JournalStatement::Run() {
  const int code = sqlite3_step(statement_.get());
  absl::Status status =
      code == SQLITE_DONE ? absl::OkStatus() : Failure(database_);
  sqlite3_reset(statement_.get());
  parameter_ = 0;
  return status;
}

absl::StatusOr<bool> JournalStatement::Next() {
  column_ = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return Failure(database_);
}

int64_t JournalStatement::Number(const char* column, int64_t least,
                                 int64_t most) {
  const int type = sqlite3_column_type(statement_.get(), column_);
  const int64_t value = sqlite3_column_int64(statement_.get(), column_);
  ++column_;
  if (type == SQLITE_INTEGER && value >= least && value <= most) return value;
  Fail(column, absl::StrFormat("a whole number from %d to %d", least, most));
  return 0;
}

std::string JournalStatement::Text(const char* column) {
  const int index = column_++;
  if (sqlite3_column_type(statement_.get(), index) == SQLITE_TEXT) {
    // First the text: its length is that of its present encoding.
    const auto* const text = reinterpret_cast<const char*>(
        sqlite3_column_text(statement_.get(), index));
    const int size = sqlite3_column_bytes(statement_.get(), index);
    if (text != nullptr) return {text, static_cast<size_t>(size)};
  }
  Fail(column, "a text");
  return "";
}

bool JournalStatement::IsNull() const {
  return sqlite3_column_type(statement_.get(), column_) == SQLITE_NULL;
}

void JournalStatement::Fail(const char* column, std::string_view rule) {
  if (!status_.ok()) return;
  status_ = absl::DataLossError(absl::StrCat(
      column, " of ", sqlite3_sql(statement_.get()), " is not ", Absl(rule)));
}

}  // namespace ibemu::daemon
