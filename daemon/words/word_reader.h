// WordReader: the words of a fault, read one after the other.
#ifndef IBEMU_DAEMON_WORDS_WORD_READER_H_
#define IBEMU_DAEMON_WORDS_WORD_READER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ibemu::daemon {

// Returns the error of words that are wrong; `what`: the sentence that says
// why.
absl::Status Wrong(std::string_view what);

// A WordReader has the words that nobody has taken yet.  What follows a word
// ("5%" after "loss") is read by a function that gets the word for its message.
//
// Errors: InvalidArgument, a sentence.
class WordReader {
 public:
  // The words must outlive this object.
  explicit WordReader(std::span<const std::string> words) : words_(words) {}

  bool empty() const { return words_.empty(); }
  // Returns the next word, which stays; an empty text if there is none.
  std::string_view next() const {
    return empty() ? std::string_view() : words_.front();
  }
  // Returns the next word, or an empty text if there is none.
  std::string Take();
  // Takes the next word if it is this one.
  bool TakeIf(std::string_view word);

  // Keeps in mind that a clause begins with this word, which must not come
  // twice.
  absl::Status Begin(const std::string& word);
  bool Saw(std::string_view word) const;

  // A word begins with a letter, a time does not.
  bool TimeFollows() const;
  bool PercentageFollows() const;

  absl::Status ReadChance(const std::string& word, double& chance);
  // `jitter` stays as it is if no second time follows.
  absl::Status ReadDelay(const std::string& word, absl::Duration& delay,
                         absl::Duration& jitter);
  // Reads one time, of a delay.
  absl::Status ReadDelayTime(const std::string& word, absl::Duration& time);
  absl::Status ReadSeed(std::optional<uint64_t>& seed);
  // Reads "3", "3-5" or "3-".
  absl::Status ReadWindow(uint64_t& first, uint64_t& last);
  // Reads a number, decimal or hexadecimal with 0x, from `least` to `most`.
  absl::StatusOr<uint32_t> ReadNumber(const std::string& word, uint32_t least,
                                      uint32_t most);

 private:
  std::span<const std::string> words_;
  std::vector<std::string> seen_;
};

// Reads a time for the clause `word`.
absl::Status ParseTime(const std::string& word, const std::string& text,
                       absl::Duration& time);

// Returns a number written as ReadNumber() takes it, or nothing.
std::optional<uint32_t> ParseNumber(std::string_view text);

// Returns what ReadWindow() reads; an empty text for all of them.
std::string WindowText(uint64_t first, uint64_t last);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_WORD_READER_H_
