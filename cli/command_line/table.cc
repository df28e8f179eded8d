#include "cli/command_line/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/one_line.h"

namespace ibemu::cli {
namespace {

// Columns that UTF-8 text takes, wide characters aside.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) {
        return (c & 0xc0) != 0x80;  // not a continuation byte
      }));
}

bool IsNumber(const std::string& text) {
  return text.empty() || text == "-" ||
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isdigit(c); });
}

}  // namespace

Table::Table(std::vector<std::string> titles) { Add(std::move(titles)); }

void Table::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = OneLine(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns);
  std::vector<bool> numeric(columns, true);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], Width(rows_[row][i]));
      if (row > 0 && !IsNumber(rows_[row][i])) numeric[i] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) {
      if (i > 0) line += "  ";
      const std::string gap(widths[i] - Width(row[i]), ' ');
      line += numeric[i] ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ibemu::cli
