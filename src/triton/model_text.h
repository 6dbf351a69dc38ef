// SPDX-License-Identifier: Apache-2.0
// Where the graph of a model comes from: the file of a saved pipeline, or a Python file whose pipeline is saved here.
#pragma once
#include <string>

namespace penstock::triton {

struct ModelFile {
  std::string path;
  bool is_python = false;
};

// In the folder of a model's version: `chosen` (default_model_filename), else the first that is there of
// model.penstock, penstock.py, dali.py. Error (file_missing) that lists them.
ModelFile find_model_file(const std::string& folder, const std::string& chosen);
// The saved pipeline. python: the interpreter for Python files.
std::string model_text(const ModelFile& file, const std::string& python);
// The interpreter that `penstock triton --install` noted beside the backend, else "python3".
std::string noted_python(const std::string& backend_folder);

}  // namespace penstock::triton
