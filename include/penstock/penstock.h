/* SPDX-License-Identifier: Apache-2.0
 *
 * Penstock's C interface. C99 and C++; needs no other header of Penstock.
 *
 * Every function that can fail returns a status; the message is penstock_last_error() of the same thread. Handles may
 * be NULL only where a comment says so; a NULL elsewhere gives PENSTOCK_ERROR_ARGUMENT. Where a function fails, it has
 * written nothing to its results. Structs with `struct_size` may grow in later versions: zero them, then set it to
 * sizeof the struct. Text is UTF-8 and ends with a zero.
 *
 * Threads: a handle may be read by several threads at once; a function that changes it needs it alone. Of two that
 * change one pipeline at the same moment the second gives PENSTOCK_ERROR_ARGUMENT. Pipelines and calls on different
 * handles run at the same time. A program may end while pipelines run and kernels are compiled: nothing is waited for.
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
/* Enumerations are integers here, so that any value may be passed and is answered by a status. */

typedef int32_t penstock_status;
enum {
  PENSTOCK_OK = 0,
  PENSTOCK_ERROR_ARGUMENT = 1, /* a wrong value, count or shape; a NULL handle */
  PENSTOCK_ERROR_TYPE = 2,     /* a wrong element type, layout or kind of argument */
  PENSTOCK_ERROR_KEY = 3,      /* an unknown name of an operator or argument */
  PENSTOCK_ERROR_FILE_MISSING = 4,
  PENSTOCK_ERROR_DATA = 5,      /* a file or record that cannot be read or decoded */
  PENSTOCK_ERROR_STOPPED = 6,   /* the data has ended */
  PENSTOCK_ERROR_CANCELLED = 7, /* the caller's poll function asked for it */
  PENSTOCK_ERROR_OUT_OF_MEMORY = 8,
  PENSTOCK_ERROR_INTERNAL = 9 /* a fault of Penstock */
};

/* "0.1.0". */
PENSTOCK_API const char* penstock_version(void);
/* "out of memory". Never NULL. */
PENSTOCK_API const char* penstock_status_text(penstock_status status);
/* What the last failing call of this thread said; "" if there was none. Valid until this thread's next failure. */
PENSTOCK_API const char* penstock_last_error(void);
/* Frees text that a function returned through `char**`. NULL is allowed. */
PENSTOCK_API void penstock_free_text(char* text);

/* ---- Memory ---- */

typedef struct penstock_allocator penstock_allocator;

typedef struct penstock_allocator_functions {
  size_t struct_size;
  void* user;                                                    /* the first argument of all three */
  void* (*allocate)(void* user, size_t bytes, size_t alignment); /* NULL where there is no memory */
  void (*deallocate)(void* user, void* data, size_t bytes, size_t alignment);
  void (*release)(void* user); /* may be NULL; called once, when the handle and all that came from it are gone */
} penstock_allocator_functions;

/* The functions are called from several threads at once. `alignment` is 64. */
PENSTOCK_API penstock_status penstock_allocator_create(const penstock_allocator_functions* functions,
                                                       penstock_allocator** allocator);
/* Gives the handle back; memory that came from it stays valid. NULL is allowed. */
PENSTOCK_API void penstock_allocator_destroy(penstock_allocator* allocator);
/* What calls and batches use that name no allocator; NULL: Penstock's own pool. Pipelines that name none have a pool
 * each. */
PENSTOCK_API penstock_status penstock_set_default_allocator(const penstock_allocator* allocator);

/* ---- GPUs ---- */
/* Streams are CUDA's handles (cudaStream_t) as `void*`; NULL is the legacy default stream, as it is there. Work on a
 * GPU is enqueued on a stream and done later; functions that wait for it say so. */

typedef int32_t penstock_device_kind;
enum { PENSTOCK_CPU = 0, PENSTOCK_GPU = 1 };

/* The GPUs that can be used. */
PENSTOCK_API int penstock_gpu_count(void);
/* Why there is none; "" where there is one. Never NULL; lives as long as the library. */
PENSTOCK_API const char* penstock_gpu_why_not(void);

typedef struct penstock_device_allocator_functions {
  size_t struct_size;
  void* user; /* the first argument of all three */
  /* Memory that work on `stream` may use from now on; NULL where there is none. Aligned to 256 bytes. */
  void* (*allocate)(void* user, size_t bytes, void* stream);
  /* Gives it back for what is enqueued on `stream` behind all that is there. */
  void (*deallocate)(void* user, void* data, size_t bytes, void* stream);
  void (*release)(void* user); /* may be NULL; called once, when it is replaced and all that came from it is gone */
} penstock_device_allocator_functions;

/* What all memory on that GPU comes from, from now on; NULL: Penstock's own pool again. The functions are called from
 * several threads at once, with any device current. */
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

/* The number of threads, the caller's included; 0: the cores that the process may use. */
PENSTOCK_API penstock_status penstock_set_threads(int threads);
/* Work runs on the program's own pool from now on; NULL: on Penstock's again. `user` must live until then. */
PENSTOCK_API penstock_status penstock_set_thread_pool(const penstock_thread_pool* pool);

/* ---- Batches: samples of one element type and rank, each with a shape of its own ---- */

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
  PENSTOCK_BOOL = 11
};

typedef struct penstock_batch penstock_batch;

typedef struct penstock_batch_description {
  size_t struct_size;
  penstock_dtype dtype;
  int ndim;                            /* of a sample, 0 to PENSTOCK_MAX_DIMS */
  const char* layout;                  /* "HWC", one letter a dimension; NULL or "": not known */
  int num_samples;                     /* at least 1 */
  const int64_t* shapes;               /* num_samples times ndim extents, sample after sample */
  void* const* data;                   /* num_samples pointers to the caller's memory; NULL: allocate */
  const int64_t* strides;              /* num_samples times ndim, in elements; NULL: row-major. Only with `data` */
  const penstock_allocator* allocator; /* where `data` is NULL; NULL: the default */
  /* Only with `data`; may be NULL. Called once, when nothing refers to the memory any more: batches made from this one,
   * argument lists and pipelines may outlive the handle. Not called where creating fails. Without it the memory must
   * live as long as those. */
  void (*release)(void* user);
  void* release_user;
  /* Where the memory lies: the caller's `data`, or what is allocated. On a GPU, `stream` is the one that wrote the
   * caller's memory, and `release` is called when the memory may be given back in the order of that stream; or the one
   * that uses new memory first. */
  penstock_device_kind device_kind;
  int device_id;
  void* stream;
} penstock_batch_description;

typedef struct penstock_batch_info {
  size_t struct_size;
  penstock_dtype dtype;
  int ndim;
  int num_samples;
  int is_dense; /* 1: the samples have one shape and lie one after the other */
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
  const char* source; /* the file or record that it came from, "" where not known; lives as long as the batch */
} penstock_sample;

/* Over the caller's memory without a copy, or over new memory. */
PENSTOCK_API penstock_status penstock_batch_create(const penstock_batch_description* description,
                                                   penstock_batch** batch);
/* NULL is allowed. */
PENSTOCK_API void penstock_batch_destroy(penstock_batch* batch);
PENSTOCK_API penstock_status penstock_batch_get_info(const penstock_batch* batch, penstock_batch_info* info);
PENSTOCK_API penstock_status penstock_batch_get_sample(const penstock_batch* batch, int index, penstock_sample* sample);

/* A copy on another device, enqueued on a stream of the GPU that takes part (the target's, where two do). A copy on the
 * host is complete when the function returns, which waits for it. A batch that is there already is not copied. */
PENSTOCK_API penstock_status penstock_batch_copy_to(const penstock_batch* batch, penstock_device_kind device_kind,
                                                    int device_id, void* stream, penstock_batch** copy);
/* What is enqueued on the stream from now on may read the memory; nothing waits on the host. The caller keeps the batch
 * until that has happened, or hands it on with penstock_batch_used_on. */
PENSTOCK_API penstock_status penstock_batch_order_before(const penstock_batch* batch, void* stream);
/* The memory is not given back before what is on the stream by now. */
PENSTOCK_API penstock_status penstock_batch_used_on(const penstock_batch* batch, void* stream);
/* Waits on the host until the batch is written. */
PENSTOCK_API penstock_status penstock_batch_wait(const penstock_batch* batch);

/* DLPack 1: include its header, dlpack.h, to look inside. A tensor is one sample. On a GPU these two are for the legacy
 * default stream, their successors for any. */
struct DLManagedTensorVersioned;
/* Without a copy: `tensor` keeps the memory until the consumer calls its deleter. */
PENSTOCK_API penstock_status penstock_batch_to_dlpack(const penstock_batch* batch, int index,
                                                      struct DLManagedTensorVersioned** tensor);
/* Without a copy. Takes the tensors over where it succeeds: their deleters run, in any thread, when nothing refers to
 * the memory any more. They have one element type and number of dimensions. `layout` may be NULL. */
PENSTOCK_API penstock_status penstock_batch_from_dlpack(struct DLManagedTensorVersioned* const* tensors, size_t count,
                                                        const char* layout, penstock_batch** batch);
/* The consumer reads on `stream`, from now until it calls the deleter. */
PENSTOCK_API penstock_status penstock_batch_to_dlpack_on(const penstock_batch* batch, int index, void* stream,
                                                         struct DLManagedTensorVersioned** tensor);
/* `stream`: the one that wrote the tensors, and that orders when their memory is free after their deleters have run. */
PENSTOCK_API penstock_status penstock_batch_from_dlpack_on(struct DLManagedTensorVersioned* const* tensors,
                                                           size_t count, const char* layout, void* stream,
                                                           penstock_batch** batch);

/* ---- Argument lists ---- */

typedef struct penstock_arguments penstock_arguments;

/* Values are copied. A name that is set again has the new value. Names and types are checked by the call. */
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
/* One value a sample: sample i of `values` is the argument of sample i. The list keeps a reference to the memory. */
PENSTOCK_API penstock_status penstock_set_per_sample(penstock_arguments* arguments, const char* name,
                                                     const penstock_batch* values);

/* A result inside a graph, of penstock_graph_add. */
typedef struct penstock_value {
  int node;
  int output;
} penstock_value;
/* Only for penstock_graph_add: the argument of each sample is what the value is for it. */
PENSTOCK_API penstock_status penstock_set_value(penstock_arguments* arguments, const char* name, penstock_value value);

/* ---- Calling an operator ---- */

typedef struct penstock_call_options {
  size_t struct_size;
  const penstock_allocator* allocator; /* of the results; NULL: the default */
  int batch_size;                      /* of operators without inputs; 0: 1 */
  /* What random operators draw from: equal numbers give equal results. Sample i of the call is first_sample + i. */
  uint64_t seed, epoch, first_sample;
  uint32_t node; /* 0: the numbers of an operator with this seed in a pipeline; others differ */
  /* NULL, or num_outputs batches, any of them NULL. Result k is written into the memory of into[k], whose samples are
   * row-major and have the type and shapes of the result, else the call fails before or while it runs. That memory must
   * not overlap an input's. outputs[k] is then another handle on the memory of into[k]. */
  const penstock_batch* const* into;
  /* The call runs on a GPU where device_kind says so, or on that of the first input that lies on one; other inputs are
   * copied there. It is enqueued on `stream`; results lie on that GPU, but for the sizes that save_attrs asks for:
   * those lie on the host. Where an operator has no kernel the function waits, and the CPU does the work. */
  penstock_device_kind device_kind;
  int device_id;
  void* stream;
} penstock_call_options;

/* Runs the operator on the batches. `arguments` and `options` may be NULL, `inputs` where num_inputs is 0.
 * num_outputs is the operator's number of outputs (penstock_count_outputs); each result must be destroyed. */
PENSTOCK_API penstock_status penstock_call(const char* op, const penstock_batch* const* inputs, size_t num_inputs,
                                           const penstock_arguments* arguments, const penstock_call_options* options,
                                           penstock_batch** outputs, size_t num_outputs);

/* The number of outputs that the operator has with these arguments (NULL: none); it is one more where an argument such
 * as resize's save_attrs asks for it. */
PENSTOCK_API penstock_status penstock_count_outputs(const char* op, const penstock_arguments* arguments, size_t* count);

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
  const char* name; /* all text here lives as long as the library */
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
  const char* default_value; /* as Python writes it; "None": not given */
} penstock_argument_info;

PENSTOCK_API size_t penstock_num_operators(void);
/* In the order of their names; NULL beyond the last. */
PENSTOCK_API const char* penstock_operator_name(size_t index);
PENSTOCK_API penstock_status penstock_get_operator_info(const char* op, penstock_operator_info* info);
PENSTOCK_API penstock_status penstock_get_argument_info(const char* op, size_t index, penstock_argument_info* info);

/* ---- Pipelines ---- */

typedef struct penstock_pipeline penstock_pipeline;

typedef struct penstock_pipeline_options { /* zero keeps what was saved */
  size_t struct_size;
  int batch_size;
  int threads;
  int prefetch;                        /* iterations in flight or waiting */
  uint64_t memory_limit;               /* bytes of batches; one batch beyond it is PENSTOCK_ERROR_OUT_OF_MEMORY */
  const penstock_allocator* allocator; /* NULL: a pool of the pipeline's own */
  /* Entropy indexes of JPEG files: "off", "read", "auto", or the path of the file to make and use. NULL: what
   * PENSTOCK_ENTROPY_INDEX says, else "auto". Copied. */
  const char* entropy_index;
  /* What a file that cannot be read does: "raise", "skip" (a shorter batch) or "replace" (another sample); NULL keeps
   * what was saved, else "raise". error_budget: samples that an epoch may lose, -1: any number. uneven, not 0: "skip"
   * with several shards is allowed. */
  const char* on_error;
  int64_t error_budget;
  int uneven;
  /* The number of the GPU of the operators that run on one. NULL keeps what was saved, else the first. */
  const int* device;
  /* Of a picture or a frame, a sequence of frames, a recording (samples times channels): more is an error of decoders
   * and readers, before memory is taken. Operators that were given a limit of their own keep it. */
  int64_t max_pixels;
  int64_t max_frames;
  int64_t max_samples;
} penstock_pipeline_options;

typedef struct penstock_run_options {
  size_t struct_size;
  /* Called about every 50 ms while the call waits; not 0 ends the wait with PENSTOCK_ERROR_CANCELLED. May be NULL. */
  int (*poll)(void* user);
  void* poll_user;
} penstock_run_options;

typedef struct penstock_pipeline_info {
  size_t struct_size;
  int batch_size;
  int num_outputs;
  int64_t batches_per_epoch; /* -1: not known */
  int num_left_out;          /* samples that on_error left out of the last batch, or replaced in it */
} penstock_pipeline_info;

/* A sample that on_error left out or replaced. */
typedef struct penstock_left_out {
  size_t struct_size;
  int number;    /* of the sample in the batch that its source gave: 5 is still 5 where 3 was left out too */
  int64_t batch; /* how many batches the pipeline had given before this one */
  uint64_t epoch;
  int64_t position;    /* of the sample in the epoch */
  const char* source;  /* the file or record, else what is known of it; lives until the next penstock_pipeline_run */
  const char* message; /* why; lives as long */
} penstock_left_out;

typedef struct penstock_reader_meta {
  size_t struct_size;
  int64_t epoch_size, epoch_size_padded, shard_size;
  int num_shards, shard_id;
  int pad_last_batch, stick_to_shard;
} penstock_reader_meta;

/* A graph is built operator by operator and becomes a pipeline; penstock_pipeline_save is its lasting form. */
typedef struct penstock_graph penstock_graph;
PENSTOCK_API penstock_status penstock_graph_create(uint64_t seed, penstock_graph** graph);
/* NULL is allowed. */
PENSTOCK_API void penstock_graph_destroy(penstock_graph* graph);
/* Adds an operator and writes one value for each of its outputs. `name` may be NULL; readers and external sources are
 * found by it. num_outputs is the operator's number of outputs; an external_source may have any. */
PENSTOCK_API penstock_status penstock_graph_add(penstock_graph* graph, const char* op, const char* name,
                                                const penstock_value* inputs, size_t num_inputs,
                                                const penstock_arguments* arguments, penstock_value* outputs,
                                                size_t num_outputs);
/* Where operators that are added from now on run: "cpu", "gpu", or "mixed" for decoders whose image belongs on the GPU;
 * NULL: where their inputs are. */
PENSTOCK_API penstock_status penstock_graph_set_device(penstock_graph* graph, const char* device);
/* The graph is copied. options->batch_size must be set. */
PENSTOCK_API penstock_status penstock_pipeline_create(const penstock_graph* graph, const penstock_value* outputs,
                                                      size_t num_outputs, const penstock_pipeline_options* options,
                                                      penstock_pipeline** pipeline);
/* From what penstock_pipeline_save, or Python, saved. `options` may be NULL. Needs no Python. */
PENSTOCK_API penstock_status penstock_pipeline_load(const char* json, const penstock_pipeline_options* options,
                                                    penstock_pipeline** pipeline);
/* Waits for the running tasks. Batches that it gave stay valid. NULL is allowed. */
PENSTOCK_API void penstock_pipeline_destroy(penstock_pipeline* pipeline);
PENSTOCK_API penstock_status penstock_pipeline_get_info(const penstock_pipeline* pipeline,
                                                        penstock_pipeline_info* info);
/* The next batch, one handle an output; each must be destroyed. PENSTOCK_ERROR_STOPPED at the end of the data. After
 * any error the pipeline stays usable. */
PENSTOCK_API penstock_status penstock_pipeline_run(penstock_pipeline* pipeline, const penstock_run_options* options,
                                                   penstock_batch** outputs, size_t num_outputs);
/* Of the last batch, in the order of its samples; `index` is below num_left_out of penstock_pipeline_get_info. The
 * statistics have those of all batches. Where a pipeline cuts its batches anew, these are the samples that it lost on
 * the way to the last batch. */
PENSTOCK_API penstock_status penstock_pipeline_get_left_out(const penstock_pipeline* pipeline, size_t index,
                                                            penstock_left_out* sample);
/* Queues one batch for each output of the external_source called `name`. The pipeline keeps a reference. */
PENSTOCK_API penstock_status penstock_pipeline_feed(penstock_pipeline* pipeline, const char* name,
                                                    const penstock_batch* const* batches, size_t count);
/* After PENSTOCK_ERROR_STOPPED: external sources begin again. */
PENSTOCK_API penstock_status penstock_pipeline_reset(penstock_pipeline* pipeline);
/* In the middle of an epoch: lets go of what is on its way, and the next batch is the first of the next epoch. External
 * sources begin again. */
PENSTOCK_API penstock_status penstock_pipeline_begin_epoch(penstock_pipeline* pipeline);
/* The state behind the last batch that was returned, as JSON of a few integers. */
PENSTOCK_API penstock_status penstock_pipeline_checkpoint(const penstock_pipeline* pipeline, char** json);
/* Goes on behind a checkpoint, before the first run. */
PENSTOCK_API penstock_status penstock_pipeline_restore(penstock_pipeline* pipeline, const char* json);
/* Of the reader called `name`; NULL: of the only one. */
PENSTOCK_API penstock_status penstock_pipeline_get_reader_meta(const penstock_pipeline* pipeline, const char* name,
                                                               penstock_reader_meta* meta);
/* Time of each step in nanoseconds, waits, bytes, samples left out, and `verdict`: what the loop waits for. JSON. */
PENSTOCK_API penstock_status penstock_pipeline_statistics(const penstock_pipeline* pipeline, char** json);
/* The first call starts to record; each writes what was recorded until then as a Chrome trace, which is JSON. */
PENSTOCK_API penstock_status penstock_pipeline_trace(penstock_pipeline* pipeline, char** json);
/* How the graph was grouped into stages; for people. */
PENSTOCK_API penstock_status penstock_pipeline_plan(const penstock_pipeline* pipeline, char** text);
/* The form that penstock_pipeline_load reads. */
PENSTOCK_API penstock_status penstock_pipeline_save(const penstock_pipeline* pipeline, char** json);

#ifdef __cplusplus
}
#endif
#endif
