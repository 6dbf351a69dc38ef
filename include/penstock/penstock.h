/* SPDX-License-Identifier: Apache-2.0
 *
 * Penstock's C interface. C99 and C++; needs no other header of Penstock.
 *
 * Every function that can fail returns a status; penstock_last_error() of the same thread has the message. Handles may
 * be NULL only where a comment says so; a NULL elsewhere gives PENSTOCK_ERROR_ARGUMENT. A function that fails has
 * written nothing to its results. Structs with `struct_size` may grow in later versions: zero them, then set it to
 * sizeof the struct. Text is UTF-8 and ends with a zero.
 *
 * Threads: several threads may read a handle at once; a function that changes it needs exclusive access. If two calls
 * change one pipeline at the same moment, the second returns PENSTOCK_ERROR_ARGUMENT. Pipelines and calls on different
 * handles run concurrently. A program may exit while pipelines run and kernels are compiled: exit does not wait.
 */
#ifndef PENSTOCK_PENSTOCK_H
#define PENSTOCK_PENSTOCK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PENSTOCK_API __attribute__((visibility("default")))
#else
#define PENSTOCK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PENSTOCK_VERSION_MAJOR 0
#define PENSTOCK_VERSION_MINOR 1
#define PENSTOCK_VERSION_PATCH 0
#define PENSTOCK_MAX_DIMS 8

/* ---- Status ---- */
/* Enumerations are integers here, so that any value may be passed; a wrong one returns an error status. */

typedef int32_t penstock_status;
enum {
  PENSTOCK_OK = 0,
  PENSTOCK_ERROR_ARGUMENT = 1,      /* a wrong value, count or shape; a NULL handle */
  PENSTOCK_ERROR_TYPE = 2,          /* a wrong element type, layout or kind of argument */
  PENSTOCK_ERROR_KEY = 3,           /* an unknown name of an operator or argument */
  PENSTOCK_ERROR_FILE_MISSING = 4,  /* a file that is not there */
  PENSTOCK_ERROR_DATA = 5,          /* a file or record that cannot be read or decoded */
  PENSTOCK_ERROR_STOPPED = 6,       /* the data has ended */
  PENSTOCK_ERROR_CANCELLED = 7,     /* requested by the caller's poll function */
  PENSTOCK_ERROR_OUT_OF_MEMORY = 8, /* memory or a limit of it has run out */
  PENSTOCK_ERROR_INTERNAL = 9       /* a bug in Penstock */
};

/* "0.1.0". */
PENSTOCK_API const char* penstock_version(void);
/* "out of memory". Never NULL. */
PENSTOCK_API const char* penstock_status_text(penstock_status status);
/* The message of this thread's last failed call; "" if there was none. Valid until this thread's next failure. */
PENSTOCK_API const char* penstock_last_error(void);
/* Frees text that a function returned through `char**`. NULL is allowed. */
PENSTOCK_API void penstock_free_text(char* text);

/* ---- Memory ---- */

typedef struct penstock_allocator penstock_allocator;

typedef struct penstock_allocator_functions {
  size_t struct_size;
  void* user;                                                    /* the first argument of all three */
  void* (*allocate)(void* user, size_t bytes, size_t alignment); /* returns NULL if there is no memory */
  void (*deallocate)(void* user, void* data, size_t bytes, size_t alignment);
  void (*release)(void* user); /* may be NULL; called once, when the handle and all memory from it are gone */
} penstock_allocator_functions;

/* Several threads may call the functions at once. `alignment` is 64. */
PENSTOCK_API penstock_status penstock_allocator_create(const penstock_allocator_functions* functions,
                                                       penstock_allocator** allocator);
/* Releases the handle; memory that came from it stays valid. NULL is allowed. */
PENSTOCK_API void penstock_allocator_destroy(penstock_allocator* allocator);
/* The allocator of calls and batches that do not name one; NULL: Penstock's own pool. Pipelines without one have a pool
 * each. */
PENSTOCK_API penstock_status penstock_set_default_allocator(const penstock_allocator* allocator);

/* ---- GPUs ---- */
/* Streams are CUDA's handles (cudaStream_t) as `void*`; NULL is the legacy default stream, as it is there. Work on a
 * GPU is enqueued on a stream and done later; functions that wait for it say so. */

typedef int32_t penstock_device_kind;
enum { PENSTOCK_CPU = 0, PENSTOCK_GPU = 1 };

/* The number of usable GPUs. */
PENSTOCK_API int penstock_gpu_count(void);
/* Why no GPU can be used; "" if one can. Never NULL; valid as long as the library. */
PENSTOCK_API const char* penstock_gpu_why_not(void);

typedef struct penstock_device_allocator_functions {
  size_t struct_size;
  void* user; /* the first argument of all three */
  /* Memory that work on `stream` may use from now on; NULL if there is none. Aligned to 256 bytes. */
  void* (*allocate)(void* user, size_t bytes, void* stream);
  /* Frees it after the work that is on `stream` now; later work on `stream` may reuse it. */
  void (*deallocate)(void* user, void* data, size_t bytes, void* stream);
  void (*release)(void* user); /* may be NULL; called once, when it is replaced and all memory from it is gone */
} penstock_device_allocator_functions;

/* From now on, all memory on that GPU comes from these functions; NULL: from Penstock's own pool again. They are called
 * by several threads at once, with any device current. */
PENSTOCK_API penstock_status penstock_set_device_allocator(int device,
                                                           const penstock_device_allocator_functions* functions);

/* ---- Threads of penstock_call; pipelines have their own ---- */

typedef struct penstock_thread_pool {
  size_t struct_size;
  void* user;
  int threads; /* the largest value of `thread` plus one */
  /* Calls body(context, index, thread) for each index below count, on any threads, and returns when all are done. Two
   * bodies that run at the same time have different values of `thread`. */
  void (*parallel_for)(void* user, int64_t count, void (*body)(void* context, int64_t index, int thread),
                       void* context);
} penstock_thread_pool;

/* The number of threads, including the caller's; 0: the cores that the process may use. */
PENSTOCK_API penstock_status penstock_set_threads(int threads);
/* From now on, work runs on the program's own pool; NULL: on Penstock's again. `user` must live until then. */
PENSTOCK_API penstock_status penstock_set_thread_pool(const penstock_thread_pool* pool);

/* ---- Batches: samples of one element type and rank, each with its own shape ---- */

typedef int32_t penstock_dtype;
enum {
  PENSTOCK_NONE = -1,
  PENSTOCK_UINT8 = 0,
  PENSTOCK_UINT16 = 1,
  PENSTOCK_UINT32 = 2,
  PENSTOCK_UINT64 = 3,
  PENSTOCK_INT8 = 4,
  PENSTOCK_INT16 = 5,
  PENSTOCK_INT32 = 6,
  PENSTOCK_INT64 = 7,
  PENSTOCK_FLOAT16 = 8,
  PENSTOCK_FLOAT32 = 9,
  PENSTOCK_FLOAT64 = 10,
  PENSTOCK_BOOL = 11,
  PENSTOCK_BFLOAT16 = 13
};

typedef struct penstock_batch penstock_batch;

typedef struct penstock_batch_description {
  size_t struct_size;
  penstock_dtype dtype;
  int ndim;                            /* of a sample, 0 to PENSTOCK_MAX_DIMS */
  const char* layout;                  /* "HWC", one letter per dimension; NULL or "": unknown */
  int num_samples;                     /* at least 1 */
  const int64_t* shapes;               /* num_samples times ndim extents, sample after sample */
  void* const* data;                   /* num_samples pointers to the caller's memory; NULL: allocate */
  const int64_t* strides;              /* num_samples times ndim, in elements; NULL: row-major. Only with `data` */
  const penstock_allocator* allocator; /* where `data` is NULL; NULL: the default */
  /* Only with `data`; may be NULL. Called once, when nothing refers to the memory: batches made from this one,
   * argument lists and pipelines may outlive the handle. Not called if creation fails. Without it the memory must
   * live as long as those. */
  void (*release)(void* user);
  void* release_user;
  /* Where the memory lies: the caller's `data`, or what is allocated. On a GPU, `stream` is the one that wrote the
   * caller's memory, and `release` is called when the memory may be freed in the order of that stream. For new memory,
   * `stream` is the one that uses it first. */
  penstock_device_kind device_kind;
  int device_id;
  void* stream;
} penstock_batch_description;

typedef struct penstock_batch_info {
  size_t struct_size;
  penstock_dtype dtype;
  int ndim;
  int num_samples;
  int is_dense; /* 1: the samples have one shape and are contiguous */
  char layout[PENSTOCK_MAX_DIMS + 1];
  penstock_device_kind device_kind;
  int device_id;
} penstock_batch_info;

typedef struct penstock_sample {
  size_t struct_size;
  void* data;
  size_t bytes; /* of the elements */
  int ndim;
  int64_t shape[PENSTOCK_MAX_DIMS];
  int64_t strides[PENSTOCK_MAX_DIMS]; /* in elements */
  const char* source; /* the file or record that it came from, "" if unknown; valid as long as the batch */
} penstock_sample;

/* Over the caller's memory without a copy, or over new memory. */
PENSTOCK_API penstock_status penstock_batch_create(const penstock_batch_description* description,
                                                   penstock_batch** batch);
/* NULL is allowed. */
PENSTOCK_API void penstock_batch_destroy(penstock_batch* batch);
PENSTOCK_API penstock_status penstock_batch_get_info(const penstock_batch* batch, penstock_batch_info* info);
PENSTOCK_API penstock_status penstock_batch_get_sample(const penstock_batch* batch, int index, penstock_sample* sample);
/* Sample `index` of a batch over the caller's memory, made without `release`, lies here from now on, so that one batch
 * serves many calls. `shape` has the ndim extents, `strides` may be NULL. */
PENSTOCK_API penstock_status penstock_batch_set_sample(penstock_batch* batch, int index, void* data,
                                                       const int64_t* shape, const int64_t* strides);

/* A copy on another device, enqueued on a stream of the GPU that takes part (the target's, if two do). A copy on the
 * host is complete when the function returns. A batch that is already there is not copied. */
PENSTOCK_API penstock_status penstock_batch_copy_to(const penstock_batch* batch, penstock_device_kind device_kind,
                                                    int device_id, void* stream, penstock_batch** copy);
/* Work that is enqueued on the stream from now on may read the memory; the host does not wait. The caller keeps the
 * batch until that work is done, or calls penstock_batch_used_on. */
PENSTOCK_API penstock_status penstock_batch_order_before(const penstock_batch* batch, void* stream);
/* The memory is not freed before the work that is on the stream now. */
PENSTOCK_API penstock_status penstock_batch_used_on(const penstock_batch* batch, void* stream);
/* Blocks the host until the batch is written. */
PENSTOCK_API penstock_status penstock_batch_wait(const penstock_batch* batch);

/* The samples in one row, as attention of variable length takes them. `values`: the samples one after another along
 * their first dimension, a batch of one sample; not copied if they lie so in memory. `offsets`: int32, num_samples + 1
 * numbers, where each sample begins in the row and where the last one ends. `positions`: int32, as long as the row, the
 * place in its sample of each entry. `longest`: entries of the longest sample. All on the device of the batch; each may
 * be NULL. The samples may differ in their first extent alone. */
PENSTOCK_API penstock_status penstock_batch_pack(const penstock_batch* batch, penstock_batch** values,
                                                 penstock_batch** offsets, penstock_batch** positions,
                                                 int64_t* longest);

/* DLPack 1: include its header, dlpack.h, to look inside. A tensor is one sample. On a GPU these two use the legacy
 * default stream; the `_on` functions take any stream. */
struct DLManagedTensorVersioned;
/* Without a copy: `tensor` keeps the memory until the consumer calls its deleter. */
PENSTOCK_API penstock_status penstock_batch_to_dlpack(const penstock_batch* batch, int index,
                                                      struct DLManagedTensorVersioned** tensor);
/* Without a copy. Takes ownership of the tensors on success: their deleters run, in any thread, when nothing refers to
 * the memory. All have one element type and rank. `layout` may be NULL. */
PENSTOCK_API penstock_status penstock_batch_from_dlpack(struct DLManagedTensorVersioned* const* tensors, size_t count,
                                                        const char* layout, penstock_batch** batch);
/* The consumer reads on `stream`, from now until it calls the deleter. */
PENSTOCK_API penstock_status penstock_batch_to_dlpack_on(const penstock_batch* batch, int index, void* stream,
                                                         struct DLManagedTensorVersioned** tensor);
/* `stream`: the stream that wrote the tensors. After their deleters have run, their memory is free in its order. */
PENSTOCK_API penstock_status penstock_batch_from_dlpack_on(struct DLManagedTensorVersioned* const* tensors,
                                                           size_t count, const char* layout, void* stream,
                                                           penstock_batch** batch);

/* ---- Argument lists ---- */

typedef struct penstock_arguments penstock_arguments;

/* Values are copied. Setting a name again replaces its value. The call checks names and types. */
PENSTOCK_API penstock_status penstock_arguments_create(penstock_arguments** arguments);
/* NULL is allowed. */
PENSTOCK_API void penstock_arguments_destroy(penstock_arguments* arguments);
PENSTOCK_API penstock_status penstock_arguments_clear(penstock_arguments* arguments);
PENSTOCK_API penstock_status penstock_set_bool(penstock_arguments* arguments, const char* name, int value);
PENSTOCK_API penstock_status penstock_set_int(penstock_arguments* arguments, const char* name, int64_t value);
PENSTOCK_API penstock_status penstock_set_float(penstock_arguments* arguments, const char* name, double value);
PENSTOCK_API penstock_status penstock_set_string(penstock_arguments* arguments, const char* name, const char* value);
PENSTOCK_API penstock_status penstock_set_dtype(penstock_arguments* arguments, const char* name, penstock_dtype value);
PENSTOCK_API penstock_status penstock_set_ints(penstock_arguments* arguments, const char* name, const int64_t* values,
                                               size_t count);
PENSTOCK_API penstock_status penstock_set_floats(penstock_arguments* arguments, const char* name, const double* values,
                                                 size_t count);
PENSTOCK_API penstock_status penstock_set_strings(penstock_arguments* arguments, const char* name,
                                                  const char* const* values, size_t count);
/* One value per sample: sample i of `values` is the argument of sample i. The list keeps a reference to the memory. */
PENSTOCK_API penstock_status penstock_set_per_sample(penstock_arguments* arguments, const char* name,
                                                     const penstock_batch* values);

/* A result in a graph, from penstock_graph_add. */
typedef struct penstock_value {
  int node;
  int output;
} penstock_value;
/* Only for penstock_graph_add: the argument of each sample is its element of the value. */
PENSTOCK_API penstock_status penstock_set_value(penstock_arguments* arguments, const char* name, penstock_value value);

/* ---- Calling an operator ---- */

typedef struct penstock_call_options {
  size_t struct_size;
  const penstock_allocator* allocator; /* for the results; NULL: the default */
  int batch_size;                      /* for operators without inputs; 0: 1 */
  /* The key of random operators: equal numbers give equal results. Sample i of the call is first_sample + i. */
  uint64_t seed, epoch, first_sample;
  uint32_t node; /* 0: the same numbers as an operator with this seed in a pipeline; other values give other numbers */
  /* NULL, or num_outputs batches, any of them NULL. Result k is written into the memory of into[k], whose samples have
   * the type and shapes of the result, in any strides; on a GPU they are row-major. Otherwise the call fails. That
   * memory must not overlap an input's. outputs[k] is then another handle to the memory of into[k]. */
  const penstock_batch* const* into;
  /* The call runs on a GPU if device_kind says so, else on that of the first input that is on a GPU; other inputs are
   * copied there. It is enqueued on `stream`; results are on that GPU, except the sizes that save_attrs requests:
   * those are on the host. If an operator has no kernel, the function waits and the CPU does the work. */
  penstock_device_kind device_kind;
  int device_id;
  void* stream;
  /* NULL: the first sample that cannot be computed ends the call. Else room for the status of each sample: the others
   * are computed, and the call returns PENSTOCK_OK. A sample that has failed has no elements; its part of into[k] is
   * not written in full. penstock_sample_message() has its message. Only on the CPU. */
  penstock_status* statuses;
  size_t num_statuses;
} penstock_call_options;

/* Runs the operator on the batches. `arguments` and `options` may be NULL, `inputs` where num_inputs is 0.
 * num_outputs is the operator's number of outputs (penstock_count_outputs); each result must be destroyed. */
PENSTOCK_API penstock_status penstock_call(const char* op, const penstock_batch* const* inputs, size_t num_inputs,
                                           const penstock_arguments* arguments, const penstock_call_options* options,
                                           penstock_batch** outputs, size_t num_outputs);

/* The number of outputs that the operator has with these arguments (NULL: none); one more if an argument such
 * as resize's save_attrs requests it. */
PENSTOCK_API penstock_status penstock_count_outputs(const char* op, const penstock_arguments* arguments, size_t* count);

/* ---- Plug-ins ---- */

/* Loads a library with operators, image formats or readers, which was built against the installed headers of this very
 * version. They are then like built-in ones. A library that was loaded before is not loaded again. The status is
 * PENSTOCK_ERROR_ARGUMENT if the file is not a plug-in, was built for another version or registers a name that exists;
 * then nothing of it is used. */
PENSTOCK_API penstock_status penstock_load_library(const char* path);

/* ---- The registry ---- */

typedef int32_t penstock_argument_type;
enum {
  PENSTOCK_ARGUMENT_BOOL = 0,
  PENSTOCK_ARGUMENT_INT = 1,
  PENSTOCK_ARGUMENT_FLOAT = 2,
  PENSTOCK_ARGUMENT_STRING = 3,
  PENSTOCK_ARGUMENT_DTYPE = 4,
  PENSTOCK_ARGUMENT_INTS = 5,
  PENSTOCK_ARGUMENT_FLOATS = 6,
  PENSTOCK_ARGUMENT_STRINGS = 7
};

typedef struct penstock_operator_info {
  size_t struct_size;
  const char* name; /* all text here is valid as long as the library */
  const char* doc;
  int min_inputs, max_inputs, num_outputs, num_arguments;
  int is_source; /* 1: reads data and works only inside a pipeline */
  int is_random; /* 1: the result depends on the seed */
} penstock_operator_info;

typedef struct penstock_argument_info {
  size_t struct_size;
  const char* name;
  const char* doc;
  penstock_argument_type type;
  int per_sample; /* 1: penstock_set_per_sample is allowed */
  int required;
  const char* default_value; /* in Python's notation; "None": not set */
} penstock_argument_info;

PENSTOCK_API size_t penstock_num_operators(void);
/* In order of their names; NULL after the last. */
PENSTOCK_API const char* penstock_operator_name(size_t index);
PENSTOCK_API penstock_status penstock_get_operator_info(const char* op, penstock_operator_info* info);
PENSTOCK_API penstock_status penstock_get_argument_info(const char* op, size_t index, penstock_argument_info* info);

/* ---- Pipelines ---- */

typedef struct penstock_pipeline penstock_pipeline;

typedef struct penstock_pipeline_options { /* zero keeps the saved value */
  size_t struct_size;
  int batch_size;
  int threads;
  int prefetch;                        /* iterations in flight or ready */
  uint64_t memory_limit;               /* bytes of batches; a batch that exceeds it is PENSTOCK_ERROR_OUT_OF_MEMORY */
  const penstock_allocator* allocator; /* NULL: a pool of the pipeline's own */
  /* Entropy indexes of JPEG files: "off", "read", "auto", or the path of the file to create and use. NULL: the value of
   * PENSTOCK_ENTROPY_INDEX, else "auto". Copied. */
  const char* entropy_index;
  /* What happens for an unreadable file: "raise", "skip" (a shorter batch) or "replace" (another sample); NULL keeps
   * the saved value, else "raise". error_budget: samples that an epoch may lose, -1: any number. uneven: not 0 permits
   * "skip" with several shards. */
  const char* on_error;
  int64_t error_budget;
  int uneven;
  /* The number of the GPU of the operators that run on one. NULL keeps the saved value, else the first GPU. */
  const int* device;
  /* Limits for a picture or frame, a sequence of frames, a recording (samples times channels). Decoders and readers
   * report more as an error before they allocate memory. Operators with their own limit keep it. */
  int64_t max_pixels;
  int64_t max_frames;
  int64_t max_samples;
  /* What becomes of a sample that is not ready when the others of its batch are: "wait" holds the batch, "swap" moves
   * it to a later batch of its epoch, so that the order is another one in each run. NULL keeps the saved value, else
   * "wait". */
  const char* late;
} penstock_pipeline_options;

typedef struct penstock_run_options {
  size_t struct_size;
  /* Called about every 50 ms while the call waits; if it returns non-zero, the wait ends with
   * PENSTOCK_ERROR_CANCELLED. May be NULL. */
  int (*poll)(void* user);
  void* poll_user;
} penstock_run_options;

typedef struct penstock_pipeline_info {
  size_t struct_size;
  int batch_size;
  int num_outputs;
  int64_t batches_per_epoch; /* -1: not known */
  int num_left_out;          /* samples of the last batch that on_error skipped or replaced */
} penstock_pipeline_info;

/* What is known of an output before a run. */
typedef struct penstock_output_spec {
  size_t struct_size;
  penstock_dtype dtype; /* PENSTOCK_NONE: not known */
  int ndim;             /* of a sample; -1: not known */
  char layout[PENSTOCK_MAX_DIMS + 1];
  int64_t shape[PENSTOCK_MAX_DIMS]; /* of a sample; -1: an extent that is not known or may differ between samples */
  int on_gpu;                       /* where the graph puts it, whether or not this machine has a GPU */
} penstock_output_spec;

/* A sample that on_error skipped or replaced. */
typedef struct penstock_left_out {
  size_t struct_size;
  int number;    /* index of the sample in the batch of its source: still 5 if sample 3 was skipped too */
  int64_t batch; /* number of batches that the pipeline returned before this one */
  uint64_t epoch;
  int64_t position;    /* of the sample in the epoch */
  const char* source;  /* the file or record, or what else is known of it; valid until the next penstock_pipeline_run */
  const char* message; /* why; valid as long as `source` */
} penstock_left_out;

typedef struct penstock_reader_meta {
  size_t struct_size;
  int64_t epoch_size, epoch_size_padded, shard_size;
  int num_shards, shard_id;
  int pad_last_batch, stick_to_shard;
} penstock_reader_meta;

/* Add operators to a graph one by one, then make a pipeline of it; penstock_pipeline_save stores it. */
typedef struct penstock_graph penstock_graph;
PENSTOCK_API penstock_status penstock_graph_create(uint64_t seed, penstock_graph** graph);
/* NULL is allowed. */
PENSTOCK_API void penstock_graph_destroy(penstock_graph* graph);
/* Adds an operator and writes one value for each of its outputs. `name` may be NULL; readers and external sources
 * are looked up by it. num_outputs is the operator's number of outputs; an external_source may have any. */
PENSTOCK_API penstock_status penstock_graph_add(penstock_graph* graph, const char* op, const char* name,
                                                const penstock_value* inputs, size_t num_inputs,
                                                const penstock_arguments* arguments, penstock_value* outputs,
                                                size_t num_outputs);
/* Where operators that are added after this call run: "cpu", "gpu", or "mixed" for decoders whose output is on the GPU;
 * NULL: where their inputs are. */
PENSTOCK_API penstock_status penstock_graph_set_device(penstock_graph* graph, const char* device);
/* The graph is copied. options->batch_size must be set. */
PENSTOCK_API penstock_status penstock_pipeline_create(const penstock_graph* graph, const penstock_value* outputs,
                                                      size_t num_outputs, const penstock_pipeline_options* options,
                                                      penstock_pipeline** pipeline);
/* Loads what penstock_pipeline_save, or Python, saved. `options` may be NULL. Needs no Python. */
PENSTOCK_API penstock_status penstock_pipeline_load(const char* json, const penstock_pipeline_options* options,
                                                    penstock_pipeline** pipeline);
/* Waits for the running tasks. Batches from the pipeline stay valid. NULL is allowed. */
PENSTOCK_API void penstock_pipeline_destroy(penstock_pipeline* pipeline);
PENSTOCK_API penstock_status penstock_pipeline_get_info(const penstock_pipeline* pipeline,
                                                        penstock_pipeline_info* info);
/* `index` is below num_outputs of penstock_pipeline_get_info. */
PENSTOCK_API penstock_status penstock_pipeline_get_output_spec(const penstock_pipeline* pipeline, size_t index,
                                                               penstock_output_spec* spec);
/* The next batch, one handle per output; each must be destroyed. PENSTOCK_ERROR_STOPPED at the end of the data. After
 * any error the pipeline stays usable. */
PENSTOCK_API penstock_status penstock_pipeline_run(penstock_pipeline* pipeline, const penstock_run_options* options,
                                                   penstock_batch** outputs, size_t num_outputs);
/* A sample left out of the last batch, in the order of its samples; `index` is below num_left_out of
 * penstock_pipeline_get_info. The statistics count those of all batches. If a pipeline rebatches, these are the samples
 * that it lost on the way to the last batch. */
PENSTOCK_API penstock_status penstock_pipeline_get_left_out(const penstock_pipeline* pipeline, size_t index,
                                                            penstock_left_out* sample);
/* Queues one batch for each output of the external_source named `name`. The pipeline keeps a reference. */
PENSTOCK_API penstock_status penstock_pipeline_feed(penstock_pipeline* pipeline, const char* name,
                                                    const penstock_batch* const* batches, size_t count);
/* After PENSTOCK_ERROR_STOPPED: external sources begin again. */
PENSTOCK_API penstock_status penstock_pipeline_reset(penstock_pipeline* pipeline);
/* In the middle of an epoch: drops what is in flight; the next batch is the first of the next epoch. External
 * sources begin again. */
PENSTOCK_API penstock_status penstock_pipeline_begin_epoch(penstock_pipeline* pipeline);
/* The next batch is number `batch` of `epoch`, both from 0, with the bytes that it has where penstock_pipeline_run is
 * called from the beginning on. Nothing before it is read or decoded, what is in flight is dropped. Batches count on
 * through the epochs after it; where batches go across the ends of epochs, batch 0 is the first one that begins in the
 * epoch. PENSTOCK_ERROR_ARGUMENT where only the data say where a batch begins (filters, batches divided anew) unless
 * `replay` is not 0, which makes the batches before it and drops them; or where a source has no numbers. */
PENSTOCK_API penstock_status penstock_pipeline_seek(penstock_pipeline* pipeline, uint64_t epoch, int64_t batch,
                                                    int replay);
/* From now on penstock_pipeline_run returns these batches of `epoch`, in this order, and works ahead over them; further
 * calls add to them. PENSTOCK_ERROR_STOPPED when all have been returned. penstock_pipeline_seek and
 * penstock_pipeline_reset end this. */
PENSTOCK_API penstock_status penstock_pipeline_schedule(penstock_pipeline* pipeline, uint64_t epoch,
                                                        const int64_t* batches, size_t count);
/* The state after the last batch that was returned: JSON with a few integers. */
PENSTOCK_API penstock_status penstock_pipeline_checkpoint(const penstock_pipeline* pipeline, char** json);
/* Continues after a checkpoint. Call it before the first run. */
PENSTOCK_API penstock_status penstock_pipeline_restore(penstock_pipeline* pipeline, const char* json);
/* What the samples of the last batch drew: JSON, a list of {"seed", "epoch", "position"}, one for each sample. */
PENSTOCK_API penstock_status penstock_pipeline_params(const penstock_pipeline* pipeline, char** json);
/* The samples that come next draw what others drew, bit for bit: the first one by the first entry of a list that
 * penstock_pipeline_params gave, and so on; after the last entry again by the first. Only draws are replayed: data come
 * from the sources of this pipeline, whose operators, their constant arguments and their order must be the same. An
 * empty list: samples draw their own numbers. Call it before the first run: PENSTOCK_ERROR_ARGUMENT when batches have
 * been begun, and for params of another seed. */
PENSTOCK_API penstock_status penstock_pipeline_replay(penstock_pipeline* pipeline, const char* json);
/* Metadata of the reader named `name`; NULL: of the only reader. */
PENSTOCK_API penstock_status penstock_pipeline_get_reader_meta(const penstock_pipeline* pipeline, const char* name,
                                                               penstock_reader_meta* meta);
/* Time of each step in nanoseconds, waits, bytes, samples left out, and `verdict`: what limits the loop. JSON. */
PENSTOCK_API penstock_status penstock_pipeline_statistics(const penstock_pipeline* pipeline, char** json);
/* The first call starts the recording; each call returns what was recorded so far as a Chrome trace, which is JSON. */
PENSTOCK_API penstock_status penstock_pipeline_trace(penstock_pipeline* pipeline, char** json);
/* How the graph was grouped into stages; for human readers. */
PENSTOCK_API penstock_status penstock_pipeline_plan(const penstock_pipeline* pipeline, char** text);
/* The format that penstock_pipeline_load reads. */
PENSTOCK_API penstock_status penstock_pipeline_save(const penstock_pipeline* pipeline, char** json);

/* ---- Functions: a graph that the program calls ---- */
/* A graph whose data come with each call, by its external_source operators, and which reads no files. It is planned and
 * fused as a pipeline is, and its bytes are the same, but a call runs on the caller's thread: there is no queue, and no
 * other thread unless num_threads asks for some. Several threads may call one function at once. */

typedef struct penstock_function penstock_function;

typedef struct penstock_function_options { /* zero keeps the saved value */
  size_t struct_size;
  const int* device; /* the number of the GPU of the operators that run on one; NULL: the saved one, else the first */
  int64_t max_pixels;
  int64_t max_frames;
  int64_t max_samples;
  int num_threads; /* that share each picture of a call, with the caller's; 0: 1. Of calls at once, one has them */
} penstock_function_options;

typedef struct penstock_function_info {
  size_t struct_size;
  int num_inputs, num_outputs;
} penstock_function_info;

/* An input or an output, as far as it is known before a call. */
typedef struct penstock_function_value {
  size_t struct_size;
  const char* name;     /* of the external_source; "" of an output. Valid as long as the function */
  penstock_dtype dtype; /* PENSTOCK_NONE: not known */
  int ndim;             /* -1: not known */
  char layout[PENSTOCK_MAX_DIMS + 1];
  penstock_device_kind device_kind; /* of an output: where it is made; of an input: the external_source's device */
} penstock_function_value;

typedef struct penstock_function_call_options {
  size_t struct_size;
  const penstock_allocator* allocator; /* for the results; NULL: the default */
  /* NULL, or num_outputs batches, any of them NULL. Output k is written into the memory of into[k], whose samples have
   * the type and the shapes of the output, in any strides. That memory must not overlap an input or another output. */
  const penstock_batch* const* into;
  /* NULL: the first sample whose data cannot be read ends the call. Else room for the status of each sample: the others
   * are computed, and the call returns PENSTOCK_OK. A sample that has failed has no elements; its part of into[k] is
   * not written. penstock_sample_message() has its message. */
  penstock_status* statuses;
  size_t num_statuses;
  /* Random operators: sample i of the call draws what sample first_sample + i of this epoch of the pipeline draws. */
  uint64_t epoch, first_sample;
  int batch_size; /* for a function without inputs; 0: 1 */
  void* stream;   /* of the GPU: the call is enqueued on it and does not wait */
} penstock_function_call_options;

/* The graph is copied. Its inputs are the outputs of its external_source operators, in the order of their creation. */
PENSTOCK_API penstock_status penstock_function_create(const penstock_graph* graph, const penstock_value* outputs,
                                                      size_t num_outputs, const penstock_function_options* options,
                                                      penstock_function** function);
/* From what penstock_pipeline_save, or Python, saved. */
PENSTOCK_API penstock_status penstock_function_load(const char* json, const penstock_function_options* options,
                                                    penstock_function** function);
/* NULL is allowed. */
PENSTOCK_API void penstock_function_destroy(penstock_function* function);
PENSTOCK_API penstock_status penstock_function_get_info(const penstock_function* function,
                                                        penstock_function_info* info);
PENSTOCK_API penstock_status penstock_function_get_input(const penstock_function* function, size_t index,
                                                         penstock_function_value* value);
PENSTOCK_API penstock_status penstock_function_get_output(const penstock_function* function, size_t index,
                                                          penstock_function_value* value);
/* `options` may be NULL. outputs[k] is a new handle, which must be destroyed, or NULL where into[k] is given; `outputs`
 * may be NULL where all are. After a failure the contents of `into` are unspecified. */
PENSTOCK_API penstock_status penstock_function_call(const penstock_function* function,
                                                    const penstock_batch* const* inputs, size_t num_inputs,
                                                    const penstock_function_call_options* options,
                                                    penstock_batch** outputs, size_t num_outputs);
/* Why that sample of this thread's last call of a function, or of an operator with statuses, failed; "" if it did not.
 * Where the argument `partial` of decoders.image kept a part of a file, the status is PENSTOCK_OK and this says what is
 * missing. Never NULL; valid until the thread's next call. */
PENSTOCK_API const char* penstock_sample_message(size_t index);
/* How the graph was grouped into stages; for human readers. */
PENSTOCK_API penstock_status penstock_function_plan(const penstock_function* function, char** text);

#ifdef __cplusplus
}
#endif
#endif
