#include "topology/formats/spec/spec_value.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/str_format.h"

namespace ibemu::topology {
namespace {

class TreeMaker : public YAML::EventHandler {
 public:
  TreeMaker(int file, FaultList& faults) : file_(file), faults_(faults) {}

  SpecValue Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Refuse(mark, anchor);
    SpecValue value;
    value.at = At(mark);
    Put(std::move(value));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Refuse(mark, anchor);
    OnNull(mark, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/,
                YAML::anchor_t anchor, const std::string& text) override {
    Refuse(mark, anchor);
    SpecValue value;
    value.kind = SpecValue::Kind::kScalar;
    value.text = text;
    value.at = At(mark);
    Put(std::move(value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Refuse(mark, anchor);
    Open(SpecValue::Kind::kList, mark);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Refuse(mark, anchor);
    Open(SpecValue::Kind::kMap, mark);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map that is being read.  For a map, it holds the key of the next
  // value.
  struct Level {
    SpecValue value;
    bool has_key = false;
    std::string key;
    Place key_at;
  };

  Place At(const YAML::Mark& mark) const { return {file_, mark.line + 1}; }

  void Refuse(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    faults_.Add(At(mark),
                "anchors (&name) and aliases (*name) are not read: "
                "profiles say once what many nodes have");
  }

  void Open(SpecValue::Kind kind, const YAML::Mark& mark) {
    Level& level = levels_.emplace_back();
    level.value.kind = kind;
    level.value.at = At(mark);
  }

  void Close() {
    SpecValue value = std::move(levels_.back().value);
    levels_.pop_back();
    Put(std::move(value));
  }

  void Put(SpecValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.value.kind == SpecValue::Kind::kList) {
      level.value.items.push_back(std::move(value));
    } else if (!level.has_key) {
      if (value.kind != SpecValue::Kind::kScalar) {
        faults_.Add(value.at, "a key is a word, followed by a colon");
      }
      level.has_key = true;
      level.key = std::move(value.text);
      level.key_at = value.at;
    } else {
      level.has_key = false;
      if (const SpecEntry* known = level.value.Find(level.key)) {
        faults_.Add(
            level.key_at,
            absl::StrFormat("\"%s\" stands twice: first on %s", level.key,
                            faults_.Refer(level.key_at, known->at)));
        return;
      }
      level.value.entries.push_back(
          {std::move(level.key), level.key_at, std::move(value)});
    }
  }

  const int file_;
  FaultList& faults_;
  std::vector<Level> levels_;
  SpecValue root_;
};

}  // namespace

const SpecEntry* SpecValue::Find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &SpecEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

SpecValue ParseSpecValue(std::string_view text, int file, FaultList& faults) {
  TreeMaker maker(file, faults);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(maker);
  } catch (const YAML::Exception& error) {
    faults.Add({file, std::max(error.mark.line, 0) + 1},
               absl::StrFormat("this is no YAML: %s", error.msg));
    return {};
  }
  return maker.Take();
}

}  // namespace ibemu::topology
