# SPDX-License-Identifier: Apache-2.0
# Libraries that decode images and sound, as one target. Debian has them in libjpeg62-turbo-dev, libpng-dev, libtiff-dev,
# libwebp-dev, libopenjp2-7-dev, libvorbis-dev and libopusfile-dev.
set(PENSTOCK_LIBRARIES "" CACHE PATH "a folder with the decoders' libraries as archives, which libpenstock then holds: tools/release/libraries")
add_library(penstock_codec_libraries INTERFACE)
if(PENSTOCK_LIBRARIES)
  # In the order in which one needs the next.
  set(archives)
  foreach(name tiff noencoders opusfile opus vorbisfile vorbis ogg openjp2 webpdemux webp Lerc jpeg png16 deflate zstd lzma z)
    list(APPEND archives ${PENSTOCK_LIBRARIES}/lib/lib${name}.a)
  endforeach()
  target_link_libraries(penstock_codec_libraries INTERFACE ${archives} m)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/release/no_encoders.c replaced REGEX "__wrap_")
  list(TRANSFORM replaced REPLACE ".*__wrap_([A-Za-z_]+).*" "-Wl,--wrap=\\1")
  target_link_options(penstock_codec_libraries INTERFACE ${replaced})
endif()
if(CMAKE_CROSSCOMPILING)
  target_include_directories(penstock_codec_libraries SYSTEM INTERFACE ${PENSTOCK_LIBRARIES}/include
                             ${PENSTOCK_LIBRARIES}/include/openjpeg-2.5 ${PENSTOCK_LIBRARIES}/include/opus)
  add_library(JPEG::JPEG INTERFACE IMPORTED)
  target_link_libraries(JPEG::JPEG INTERFACE penstock_codec_libraries)
  return()
endif()
# The archives are of the same sources as the system's headers, so that the compiler's cache serves both.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(TIFF REQUIRED)
find_path(WEBP_INCLUDE webp/demux.h REQUIRED)
find_library(WEBP_LIBRARY webp REQUIRED)
find_library(WEBP_DEMUX_LIBRARY webpdemux REQUIRED)
find_path(OPENJPEG_INCLUDE openjpeg.h PATH_SUFFIXES openjpeg-2.5 openjpeg-2.6 REQUIRED)  # the strict mode is of 2.5
find_library(OPENJPEG_LIBRARY openjp2 REQUIRED)
find_path(VORBIS_INCLUDE vorbis/vorbisfile.h REQUIRED)
find_library(VORBISFILE_LIBRARY vorbisfile REQUIRED)
find_path(OPUS_INCLUDE opus_multistream.h PATH_SUFFIXES opus REQUIRED)  # opusfile.h includes it by that name
find_library(OPUSFILE_LIBRARY opusfile REQUIRED)
find_library(OPUS_LIBRARY opus REQUIRED)  # which libopusfile-dev brings
target_include_directories(penstock_codec_libraries SYSTEM INTERFACE ${WEBP_INCLUDE} ${OPENJPEG_INCLUDE} ${VORBIS_INCLUDE}
                           ${OPUS_INCLUDE})
if(PENSTOCK_LIBRARIES)
  set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_NONE ${PENSTOCK_LIBRARIES}/lib/libfmt.a)
else()
  target_link_libraries(penstock_codec_libraries INTERFACE JPEG::JPEG PNG::PNG TIFF::TIFF ${WEBP_DEMUX_LIBRARY}
                        ${WEBP_LIBRARY} ${OPENJPEG_LIBRARY} ${VORBISFILE_LIBRARY} ${OPUSFILE_LIBRARY} ${OPUS_LIBRARY})
endif()
