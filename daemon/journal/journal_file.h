// JournalFile: the file of a journal, an SQLite database.
#ifndef IBEMU_DAEMON_JOURNAL_JOURNAL_FILE_H_
#define IBEMU_DAEMON_JOURNAL_JOURNAL_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/journal/journal_content.h"
#include "daemon/journal/journal_tables.h"

struct sqlite3;

namespace ibemu::daemon {

// A JournalFile is one that nobody else has open.  What Write() has written
// outlives this process, however it ends; what is lost when the machine loses
// power are the last changes, never half of one.
class JournalFile {
 public:
  // Opens or makes the file.  One that is refused stays as it is.
  //
  // Errors, which begin with the path: those of open(2); InvalidArgument if it
  // is no journal, or a later version's; FailedPrecondition if another program
  // has it open; DataLoss if it is damaged.
  static absl::StatusOr<std::unique_ptr<JournalFile>> Open(
      const std::string& path);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  // Returns all that is in it.
  //
  // Errors: DataLoss, if a value is none that Write() has written.
  absl::StatusOr<JournalContent> Read();

  // Lets it be the journal of this subnet, and makes the tables of a new file,
  // or of an older one those of this version.
  // Call it once, before Write(), if what Read() returned is good.
  //
  // Errors, here and below, begin with the path: ResourceExhausted, a full
  // disk; Unavailable, another failure to write.
  absl::Status Accept(const JournalSubnet& subnet);

  // Writes all of the change, or nothing.
  absl::Status Write(const JournalChange& change);

  // Returns an error with the file's path, and for DataLoss with what to do.
  absl::Status Named(const absl::Status& status) const;

  // Absolute.
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit JournalFile(std::string path) : path_(std::move(path)) {}

  absl::Status OpenDatabase();
  absl::Status CheckWhole();
  absl::Status Run(const char* sql);

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
  bool is_new_ = false;
  int64_t version_ = kJournalVersion;  // of its tables, if it is not new
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_JOURNAL_JOURNAL_FILE_H_
