// UverbsFiles: all open files of uverbsN.
#ifndef IBEMU_CUSE_UVERBS_UVERBS_FILES_H_
#define IBEMU_CUSE_UVERBS_UVERBS_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"

namespace ibemu::cuse {

class UverbsFile;

// A UverbsFiles knows the uverbs files that programs have open, of any adapter,
// so that people can be told what is there (Linux: "rdma resource show").
class UverbsFiles {
 public:
  // By numbers that rise with time and are never used again.
  using ByNumber = std::map<uint64_t, const UverbsFile*>;

  // An Entry is a file's place in the list as long as the Entry lives.
  class Entry {
   public:
    // Both must outlive this object.
    Entry(UverbsFiles& list, const UverbsFile& file)
        : list_(list), file_(file), number_(++list.last_) {
      list_.all_.emplace(number_, &file);
    }
    ~Entry() {
      list_.all_.erase(number_);
      if (list_.on_end_ != nullptr) list_.on_end_(file_);
    }
    // The file has refused its client this command.
    void TellRefusal(uint32_t command, const absl::Status& status) const {
      if (list_.on_refusal_ != nullptr) {
        list_.on_refusal_(file_, command, status);
      }
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    UverbsFiles& list_;
    const UverbsFile& file_;
    const uint64_t number_;
  };

  UverbsFiles() = default;
  UverbsFiles(const UverbsFiles&) = delete;
  UverbsFiles& operator=(const UverbsFiles&) = delete;

  const ByNumber& all() const { return all_; }

  // Sets the function that is called when a file ends, with all that its client
  // has left.
  void SetEndListener(std::function<void(const UverbsFile& file)> on_end) {
    on_end_ = std::move(on_end);
  }

  // Sets the function that is called when a client gets an error for a command,
  // IB_USER_VERBS_CMD_* or IB_USER_VERBS_EX_CMD_*, with a status for
  // VerbsErrno().
  using RefusalListener = std::function<void(
      const UverbsFile& file, uint32_t command, const absl::Status& status)>;
  void SetRefusalListener(RefusalListener on_refusal) {
    on_refusal_ = std::move(on_refusal);
  }

 private:
  uint64_t last_ = 0;
  ByNumber all_;
  std::function<void(const UverbsFile& file)> on_end_;
  RefusalListener on_refusal_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_UVERBS_FILES_H_
