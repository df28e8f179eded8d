#include "topology/link_options.h"

#include "absl/strings/str_format.h"
#include "topology/line_cursor.h"
#include "topology/rate_text.h"

namespace ibemu::topology {

bool LinkOptions::Parse(std::string_view token) {
  LineCursor line(token);
  const std::string_view key = line.Word();
  if (!line.Eat('=')) return false;
  const std::optional<uint64_t> value = line.Number();
  if (!value || !line.AtEnd()) return false;
  if (key == "w" && *value >= 1 && *value <= 31) {
    width = value;
  } else if (key == "s" && *value <= 7) {
    speed = value;
  } else if (key == "e" && *value <= 31) {
    speed_ext = value;
  } else {
    return false;
  }
  return true;
}

LinkRate LinkOptions::Apply(LinkRate rate) const {
  if (width) rate.width = static_cast<uint8_t>(*width);
  if (speed || speed_ext) {
    const uint64_t mask = speed.value_or(7);
    rate = {rate.width, static_cast<uint8_t>(mask == 0 ? 4 : mask),
            static_cast<uint8_t>(speed_ext.value_or(0)), 0, false};
  }
  return rate;
}

absl::StatusOr<LinkRate> LinkRateReader::Read(std::string_view options,
                                              std::string_view comment,
                                              LinkOptions defaults) {
  LinkOptions masks = defaults;
  LineCursor words(options);
  while (!words.AtEnd()) {
    const std::string_view token = words.Token();
    if (masks.Parse(token)) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" is no option of a link: there are w=1 to 31, s=0 to 7 and e=0 "
        "to 31, masks as in PortInfo",
        token));
  }

  // The description may contain anything, so the rate is looked for behind its
  // closing quote.
  const size_t quote = comment.rfind('"');
  if (quote != comment.npos) comment.remove_prefix(quote + 1);
  LineCursor tail(comment);
  bool is_rate = false;  // whether the next token is a rate
  while (!tail.AtEnd()) {
    const std::string_view token = tail.Token();
    if (token == "lid") {
      is_rate = tail.Number().has_value();
    } else if (is_rate && token != "lmc" && token.find('?') == token.npos) {
      // Masks that follow the rate (ibnetdiscover -f) repeat the active values.
      return ReadRate(token);
    } else {
      is_rate = false;
      masks.Parse(token);
    }
  }
  return masks.Apply(DefaultLinkRate());
}

absl::StatusOr<LinkRate> LinkRateReader::ReadRate(std::string_view token) {
  if (token != last_text_) {
    const std::optional<LinkRate> rate = ParseLinkRate(token);
    if (!rate) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "\"%s\" is no link rate: it is a width from 1x to 12x and a speed "
          "from SDR to XDR, as in 4xEDR",
          token));
    }
    last_text_ = token;
    last_ = *rate;
  }
  return last_;
}

}  // namespace ibemu::topology
