// SPDX-License-Identifier: Apache-2.0
//
// What this room uses of TensorFlow's C interface for operators, declared here so that the build needs no TensorFlow.
// These functions and numbers are the stable part of TensorFlow: libtensorflow_framework.so.2 of every version from
// 2.16 on exports them. Its C++ classes change with every version, so no class of them may be used.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

// ---- Status ----
enum TF_Code : int {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_INVALID_ARGUMENT = 3,
  TF_NOT_FOUND = 5,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_INTERNAL = 13,
};
struct TF_Status;
TF_Status* TF_NewStatus();
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status*, TF_Code, const char* message);
TF_Code TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);

// ---- Tensors ----
enum TF_DataType : int {
  TF_FLOAT = 1,
  TF_DOUBLE = 2,
  TF_INT32 = 3,
  TF_UINT8 = 4,
  TF_INT16 = 5,
  TF_INT8 = 6,
  TF_STRING = 7,
  TF_INT64 = 9,
  TF_BOOL = 10,
  TF_BFLOAT16 = 14,
  TF_UINT16 = 17,
  TF_HALF = 19,
  TF_UINT32 = 22,
  TF_UINT64 = 23,
};
struct TF_Tensor;
// Over the caller's memory where it is aligned to 64 bytes, else over a copy; calls `release` when it is not needed.
TF_Tensor* TF_NewTensor(TF_DataType, const int64_t* extents, int rank, void* data, size_t bytes,
                        void (*release)(void* data, size_t bytes, void* user), void* user);
TF_Tensor* TF_AllocateTensor(TF_DataType, const int64_t* extents, int rank, size_t bytes);
void TF_DeleteTensor(TF_Tensor*);
TF_DataType TF_TensorType(const TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int axis);
void* TF_TensorData(const TF_Tensor*);

// An element of a tensor of strings; strings.h reads it, because TensorFlow's own functions for it are not exported.
struct TF_TString {
  uint64_t words[3];
};

// ---- An operator's definition ----
struct TF_OpDefinitionBuilder;
struct TF_ShapeInferenceContext;
TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char* attribute);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char* input);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char* output);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder*,
                                                     void (*infer)(TF_ShapeInferenceContext*, TF_Status*));
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*);
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);

// ---- Its kernel ----
struct TF_KernelBuilder;
struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void* kernel, TF_OpKernelContext*),
                                      void (*destroy)(void* kernel));
void TF_RegisterKernelBuilder(const char* kernel, TF_KernelBuilder*, TF_Status*);
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);
// count: of a list, -1 for one value; bytes: of all texts.
void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction*, const char* name, int32_t* count, int32_t* bytes,
                                         TF_Status*);
void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction*, const char* name, char* text, size_t bytes,
                                           TF_Status*);
void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction*, const char* name, char** texts,
                                               size_t* lengths, int count, void* room, size_t bytes, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction*, const char* name, int64_t* value, TF_Status*);
void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction*, const char* name, unsigned char* value, TF_Status*);
void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction*, const char* name, unsigned char* values,
                                             int count, TF_Status*);
void TF_GetInput(TF_OpKernelContext*, int index, TF_Tensor**, TF_Status*);
void TF_SetOutput(TF_OpKernelContext*, int index, const TF_Tensor*, TF_Status*);
void TF_OpKernelContext_Failure(TF_OpKernelContext*, TF_Status*);
}
