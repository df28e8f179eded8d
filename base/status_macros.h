// Macros that return early on an error (absl 20220623 has no such macros).
#ifndef IBEMU_BASE_STATUS_MACROS_H_
#define IBEMU_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define IBEMU_CONCAT_INNER_(a, b) a##b
#define IBEMU_CONCAT_(a, b) IBEMU_CONCAT_INNER_(a, b)

// Returns the status of `expression` from the calling function unless it is OK.
#define IBEMU_RETURN_IF_ERROR(expression)                     \
  do {                                                        \
    if (absl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                         \
    }                                                         \
  } while (false)

// Assigns the value of `expression`, an absl::StatusOr, to `lhs`, or returns
// its status from the calling function.  `lhs` may be a declaration, so it
// can't be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define IBEMU_ASSIGN_OR_RETURN(lhs, expression) \
  IBEMU_ASSIGN_OR_RETURN_(IBEMU_CONCAT_(result_, __LINE__), lhs, expression)

#define IBEMU_ASSIGN_OR_RETURN_(result, lhs, expression) \
  auto result = (expression);                            \
  if (!result.ok()) return std::move(result).status();   \
  lhs = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // IBEMU_BASE_STATUS_MACROS_H_
