// Relocatable object files of the machines artifacts are made for, ELF and Mach-O of 64 bits: whose
// they are, and the names of their global symbols. No tool runs: a name is an offset into a table
// of texts, so that a renamed object is the old one with a longer table behind it.
#ifndef HEDDLE_BACKENDS_ARTIFACT_OBJECT_FILE_H_
#define HEDDLE_BACKENDS_ARTIFACT_OBJECT_FILE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// Names are those of C: the underscore that Mach-O puts before them is not seen.
class ObjectFile {
 public:
  /// `name` is for messages. CompileError when the bytes are no object file of these formats, or
  /// one that is cut short or broken.
  ObjectFile(std::string name, std::vector<std::byte> bytes);

  const std::string& name() const { return name_; }
  /// "arm-64-osx": Target::triple.
  const std::string& machine() const { return machine_; }
  /// Global symbols that it defines, sorted.
  std::vector<std::string> defined() const;
  /// Global symbols that it uses and does not define, sorted.
  std::vector<std::string> undefined() const;

  /// Global symbols, defined or not, get the names they have in `names`; others keep theirs.
  void rename(const std::map<std::string, std::string>& names);
  /// Definitions whose names `keep` refuses are seen within a linked library or program only.
  void hide_unless(const std::function<bool(const std::string&)>& keep);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  struct Symbol {
    std::size_t at;  // of its entry, whose first field is the offset of its name
    std::string name;
    bool is_defined;
  };
  struct Field {  // a number of the file: the table's place or size
    std::size_t at, bytes;
  };

  void read_elf();
  void read_elf_symbols(std::size_t table, std::size_t strings);
  void read_mach_o();
  void read_mach_o_symbols(std::size_t command);
  std::string text_at(std::size_t offset) const;
  std::vector<std::string> names(bool defined) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_, machine_;
  std::vector<std::byte> bytes_;
  bool is_elf_ = false;
  std::vector<Symbol> symbols_;
  std::size_t strings_ = 0, strings_bytes_ = 0;
  Field strings_field_{}, strings_bytes_field_{};
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_OBJECT_FILE_H_
