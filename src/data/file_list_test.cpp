// SPDX-License-Identifier: Apache-2.0
#include "data/file_list.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "codecs/file_formats.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

using Entries = std::vector<std::pair<std::string, int>>;

Entries entries(const FileList& list) {
  Entries v;
  for (int64_t i = 0; i < list.size(); ++i) v.emplace_back(list.name(i), list.label(i));
  return v;
}

template <class Make>
Error refusal(Make make) {
  try {
    make();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "accepted");
}

// As readers.file calls it: DALI's filters where none are given.
FileList folder_of(const std::string& root, FileList::FolderOptions options = {}) {
  if (options.file_filters.empty()) options.file_filters = default_file_filters();
  return FileList::from_folder(root, options);
}

Entries listed(const TestFolder& tree, const FileList::FolderOptions& options = {}) {
  return entries(folder_of(tree.path(), options));
}

// A tree with unusual entries. The lists below were recorded from nvidia.dali 2.4 readers.file over this tree.
struct OddTree : TestFolder {
  OddTree() {
    for (const char* name :
         {"b/2.jpg",    "b/10.jpg",  "b/1.JPG",    "b/x.txt",        "b/noext",      "b/.hidden.jpg", "B2/a.jpeg",
          "a/z.png",    "a/y.tif",   "a/q.gif",    "a/sub/deep.jpg", ".dot/h.jpg",   "root.jpg",      "c d/e f.jpg",
          "c d/a.flac", "c d/b.wav", "c d/c.ogg",  "Z/1.bmp",        "e/\u00e9.jpg", "emptyd/k.txt",  "a/u.jp2",
          "a/v.webp",   "a/w.pgm",   "a/t.ppm",    "a/s.pbm",        "a/r.pnm",      "a/tt.tiff",     "a/npy.npy",
          "a/j.jpe",    "a/ab.jpg",  "a/ab-1.jpg", "a/ab1.jpg",      "a/m.mp3",      "a b/1.jpg",     "a-1/1.jpg"})
      write(name, name);
    folder("emptyd2");
    folder("a/dir.jpg");
    link("b", "linkdir");
    link("../b/2.jpg", "a/link.jpg");
  }
};

TEST(FileList, ListsFoldersAsDaliDoes) {
  const OddTree tree;
  EXPECT_EQ(listed(tree),
            (Entries{{".dot/h.jpg", 0},     {"B2/a.jpeg", 1},       {"Z/1.bmp", 2},       {"a/ab-1.jpg", 3},
                     {"a/ab.jpg", 3},       {"a/ab1.jpg", 3},       {"a/link.jpg", 3},    {"a/r.pnm", 3},
                     {"a/s.pbm", 3},        {"a/t.ppm", 3},         {"a/tt.tiff", 3},     {"a/u.jp2", 3},
                     {"a/v.webp", 3},       {"a/w.pgm", 3},         {"a/y.tif", 3},       {"a/z.png", 3},
                     {"a b/1.jpg", 4},      {"a-1/1.jpg", 5},       {"b/.hidden.jpg", 6}, {"b/1.JPG", 6},
                     {"b/10.jpg", 6},       {"b/2.jpg", 6},         {"c d/a.flac", 7},    {"c d/b.wav", 7},
                     {"c d/c.ogg", 7},      {"c d/e f.jpg", 7},     {"e/\u00e9.jpg", 8},  {"linkdir/.hidden.jpg", 11},
                     {"linkdir/1.JPG", 11}, {"linkdir/10.jpg", 11}, {"linkdir/2.jpg", 11}}));
}

TEST(FileList, FiltersAsDaliDoes) {
  const OddTree tree;
  const Entries upper_b{{"b/.hidden.jpg", 1}, {"b/1.JPG", 1}, {"b/10.jpg", 1}, {"b/2.jpg", 1}};
  EXPECT_EQ(listed(tree, {.file_filters = {"*.jpg", "*.JPG"}, .dir_filters = {"B*"}}), upper_b);
  EXPECT_EQ(listed(tree, {.dir_filters = {"B*"}, .case_sensitive = true}), (Entries{{"B2/a.jpeg", 0}}));
  EXPECT_EQ(listed(tree, {.dir_filters = {"b", "c*"}}), (Entries{{"b/.hidden.jpg", 0},
                                                                 {"b/1.JPG", 0},
                                                                 {"b/10.jpg", 0},
                                                                 {"b/2.jpg", 0},
                                                                 {"c d/a.flac", 1},
                                                                 {"c d/b.wav", 1},
                                                                 {"c d/c.ogg", 1},
                                                                 {"c d/e f.jpg", 1}}));
  EXPECT_EQ(listed(tree, {.file_filters = {"?.j*g", "[0-9]*.jpg"}, .dir_filters = {"b", "e", "z"}}),
            (Entries{{"b/1.JPG", 1}, {"b/10.jpg", 1}, {"b/2.jpg", 1}}));
  EXPECT_EQ(listed(tree, {.file_filters = {"*.jpg"}, .dir_filters = {"b"}, .case_sensitive = true}),
            (Entries{{"b/.hidden.jpg", 0}, {"b/10.jpg", 0}, {"b/2.jpg", 0}}));
}

TEST(FileList, NamesItsClasses) {
  const OddTree tree;
  const FileList list = folder_of(tree.path());
  EXPECT_EQ(list.class_names(), (std::vector<std::string>{".dot", "B2", "Z", "a", "a b", "a-1", "b", "c d", "e",
                                                          "emptyd", "emptyd2", "linkdir"}));
  EXPECT_EQ(list.path(0), tree.path(".dot/h.jpg"));
  EXPECT_EQ(folder_of(tree.path() + "/").path(0), tree.path(".dot/h.jpg"));
}

TEST(FileList, ListsWhatOnlyReadingCanJudge) {
  const TestFolder tree;
  tree.write("a/1.jpg", "x");
  tree.link("nowhere", "a/2.jpg");
  ASSERT_EQ(::mkfifo(tree.path("a/3.jpg").c_str(), 0600), 0);
  tree.folder("elsewhere.d");
  tree.link("../elsewhere.d", "a/4.jpg");
  EXPECT_EQ(listed(tree, {.dir_filters = {"a"}}), (Entries{{"a/1.jpg", 0}, {"a/2.jpg", 0}, {"a/3.jpg", 0}}));
}

TEST(FileList, SaysWhyAFolderHoldsNoData) {
  const TestFolder tree;
  auto of = [&](const std::string& root, const FileList::FolderOptions& options = {}) {
    return refusal([&] { folder_of(root, options); });
  };
  Error e = of(tree.path("none"));
  EXPECT_EQ(e.kind(), ErrorKind::file_missing);
  EXPECT_EQ(e.full_message(), "cannot list the folder: No such file or directory (file: " + tree.path("none") + ")");
  e = of(tree.path());
  EXPECT_EQ(e.kind(), ErrorKind::data);
  EXPECT_EQ(e.full_message(), "the folder is empty (file: " + tree.path() + ")");
  tree.write("1.jpg", "x");
  e = of(tree.path("1.jpg"));
  EXPECT_EQ(e.kind(), ErrorKind::file_missing);
  EXPECT_STREQ(e.what(), "cannot list the folder: Not a directory");
  const std::string no_class = of(tree.path()).what();
  EXPECT_EQ(no_class.rfind("there is no subfolder: each class needs its own folder", 0), 0u);
  tree.write("a/1.txt", "x");
  EXPECT_STREQ(of(tree.path(), {.file_filters = {"*.jpg", "*.png"}}).what(),
               "no file in its 1 subfolders matches file_filters (*.jpg *.png)");
  EXPECT_STREQ(of(tree.path(), {.dir_filters = {"b"}}).what(), "no subfolder matches dir_filters");
  EXPECT_EQ(refusal([&] { FileList::from_folder(tree.path(), {}); }).kind(), ErrorKind::argument);
  EXPECT_EQ(of("").kind(), ErrorKind::argument);
  tree.link("nowhere", "dangling");
  e = of(tree.path());
  EXPECT_EQ(e.kind(), ErrorKind::file_missing);
  EXPECT_EQ(e.source, tree.path("dangling"));
}

TEST(FileList, SaysThatAFolderMayNotBeListed) {
  const TestFolder tree;
  tree.write("a/1.jpg", "x");
  tree.folder("b");
  ASSERT_EQ(::chmod(tree.path("b").c_str(), 0), 0);
  ASSERT_EQ(::chmod(tree.path().c_str(), 0755), 0);
  {
    const Unprivileged user;
    const Error e = refusal([&] { folder_of(tree.path()); });
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_EQ(e.full_message(), "cannot list the folder: Permission denied (file: " + tree.path("b") + ")");
  }
  ::chmod(tree.path("b").c_str(), 0700);
}

TEST(FileList, ReadsTextAsDaliDoes) {
  const TestFolder folder;
  auto read = [&](const std::string& text, const std::string& root = "") {
    return FileList::from_text(folder.write("list.txt", text), root);
  };
  EXPECT_EQ(entries(read("b/2.jpg 3\nb/10.jpg 1\n")), (Entries{{"b/2.jpg", 3}, {"b/10.jpg", 1}}));
  EXPECT_EQ(entries(read("c d/e f.jpg 7\n")), (Entries{{"c d/e f.jpg", 7}}));
  EXPECT_EQ(entries(read("a 1\n\n   \nb 2")), (Entries{{"a", 1}, {"b", 2}}));
  EXPECT_EQ(entries(read("a 1\r\nb 2\r\n")), (Entries{{"a", 1}, {"b", 2}}));
  EXPECT_EQ(entries(read("a\t4\nb    2   \nc\v3\n")), (Entries{{"a", 4}, {"b", 2}, {"c", 3}}));
  EXPECT_EQ(entries(read("a 4\na 3\n")), (Entries{{"a", 4}, {"a", 3}}));
  EXPECT_EQ(entries(read("a -1\n")), (Entries{{"a", -1}}));  // DALI rejects it
  EXPECT_EQ(read("b/2.jpg 3\n").path(0), folder.path("b/2.jpg"));
  EXPECT_EQ(read("b/2.jpg 3\n", "/r").path(0), "/r/b/2.jpg");
  EXPECT_EQ(read("/x/2.jpg 3\n").path(0), "/x/2.jpg");
  const std::string outside = folder.write("list.txt", "/x/2.jpg 3\n");
  EXPECT_EQ(FileList::from_text(outside, "/r", true).path(0), "/x/2.jpg");
  EXPECT_EQ(refusal([&] { FileList::from_text(outside, "/r"); }).kind(), ErrorKind::data);  // DALI reads it
}

TEST(FileList, RefusesTextThatIsNoList) {
  const TestFolder folder;
  auto of = [&](const std::string& text) {
    const Error e = refusal([&] { FileList::from_text(folder.write("list.txt", text), ""); });
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_EQ(e.source, folder.path("list.txt"));
    return std::string(e.what());
  };
  EXPECT_EQ(of("a 1\nb/2.jpg\n"), "line 2: expected a path, white space and a label: \"b/2.jpg\"");
  EXPECT_EQ(of("\n7\n"), "line 2: expected a path, white space and a label: \"7\"");
  EXPECT_EQ(of("a 4.7"), "line 1: expected a whole number as the label after the path: \"a 4.7\"");
  EXPECT_EQ(of("a 0x10"), "line 1: expected a whole number as the label after the path: \"a 0x10\"");
  EXPECT_EQ(of("a b"), "line 1: expected a whole number as the label after the path: \"a b\"");
  const std::string csv = "; CSV is not supported: give the columns as files= and labels=, which are whole numbers: ";
  EXPECT_EQ(of("path,label\na.jpg,3\n"), "line 1: expected a path, white space and a label" + csv + "\"path,label\"");
  EXPECT_EQ(of("a 1\nb c.jpg;3\n"),
            "line 2: expected a whole number as the label after the path" + csv + "\"b c.jpg;3\"");
  EXPECT_EQ(of("a 99999999999"), "line 1: the label does not fit into 32 bits: \"a 99999999999\"");
  EXPECT_EQ(of(std::string("a\0b 1", 5)).rfind("line 1: contains a zero byte", 0), 0u);
  EXPECT_EQ(of(""), "the file is empty");
  EXPECT_EQ(of(" \n\n"), "the list does not name a file");
  EXPECT_EQ(refusal([&] { FileList::from_text(folder.path("none"), ""); }).kind(), ErrorKind::file_missing);
}

TEST(FileList, TakesNamesAndLabels) {
  EXPECT_EQ(entries(FileList::from_names({"b.jpg", "a.png"}, {}, "/r")), (Entries{{"b.jpg", 0}, {"a.png", 1}}));
  const FileList list = FileList::from_names({"b.jpg", "/x/a.png"}, {5, 6}, "r/");
  EXPECT_EQ(entries(list), (Entries{{"b.jpg", 5}, {"/x/a.png", 6}}));
  EXPECT_EQ(list.path(0), "r/b.jpg");
  EXPECT_EQ(list.path(1), "/x/a.png");
  EXPECT_EQ(FileList::from_names({"b.jpg"}, {}, "").path(0), "b.jpg");
  EXPECT_STREQ(refusal([] { FileList::from_names({"a", "b"}, {5}, ""); }).what(), "there are 1 labels for 2 files");
  EXPECT_EQ(refusal([] { FileList::from_names({}, {}, ""); }).kind(), ErrorKind::argument);
  EXPECT_EQ(refusal([] { FileList::from_names({"a", ""}, {}, ""); }).kind(), ErrorKind::argument);
}

TEST(FileList, HashTellsListsApartButNotPlaces) {
  auto hash = [](const std::vector<std::string>& files, const std::vector<int32_t>& labels, const std::string& root) {
    return FileList::from_names(files, labels, root).hash();
  };
  const uint64_t base = hash({"ab", "c"}, {1, 2}, "/here");
  EXPECT_EQ(base, hash({"ab", "c"}, {1, 2}, "/there"));
  EXPECT_NE(base, hash({"a", "bc"}, {1, 2}, "/here"));
  EXPECT_NE(base, hash({"c", "ab"}, {1, 2}, "/here"));
  EXPECT_NE(base, hash({"ab", "c"}, {2, 1}, "/here"));
  EXPECT_NE(base, hash({"ab", "c"}, {1, 3}, "/here"));
  EXPECT_NE(base, hash({"ab"}, {1}, "/here"));
}

}  // namespace
}  // namespace penstock
