// Helpers for the responses of commands and the handles in their requests.
#ifndef IBEMU_VERBS_UVERBS_RESPONSES_H_
#define IBEMU_VERBS_UVERBS_RESPONSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/handle_table.h"

namespace ibemu::verbs {

template <class T>
std::vector<std::byte> ToVector(const T& value) {
  const Bytes bytes = AsBytes(value);
  return {bytes.begin(), bytes.end()};
}

inline absl::Status BadHandle(uint32_t handle) {
  return absl::InvalidArgumentError(
      absl::StrFormat("handle %#x names nothing of that kind", handle));
}

// Returns the object of `handle`, never null.
//
// Errors: InvalidArgument.
template <class T>
absl::StatusOr<T*> FindObject(const HandleTable<T>& table, uint32_t handle) {
  T* const object = table.Find(handle);
  if (object == nullptr) return BadHandle(handle);
  return object;
}

// Takes back an object whose handle could not be told to the client.  Another
// thread may have guessed it and have made something that uses the object: then
// it stays.
template <class T>
void TakeBack(HandleTable<T>& table, uint32_t handle) {
  if constexpr (requires(T object) { object.users; }) {
    const T* const object = table.Find(handle);
    if (object != nullptr && object->users != 0) return;
  }
  table.Remove(handle);
}

inline absl::Status StillUsed() {
  return absl::FailedPreconditionError("something still uses it");
}

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_RESPONSES_H_
