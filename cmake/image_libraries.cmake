# SPDX-License-Identifier: Apache-2.0
# Libraries that decode images, as one target. Debian has them in libjpeg62-turbo-dev, libpng-dev, libtiff-dev, libwebp-dev
# and libopenjp2-7-dev.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(TIFF REQUIRED)
find_path(WEBP_INCLUDE webp/demux.h REQUIRED)
find_library(WEBP_LIBRARY webp REQUIRED)
find_library(WEBP_DEMUX_LIBRARY webpdemux REQUIRED)
find_path(OPENJPEG_INCLUDE openjpeg.h PATH_SUFFIXES openjpeg-2.5 openjpeg-2.6 REQUIRED)  # the strict mode is of 2.5
find_library(OPENJPEG_LIBRARY openjp2 REQUIRED)
add_library(penstock_image_libraries INTERFACE)
target_include_directories(penstock_image_libraries SYSTEM INTERFACE ${WEBP_INCLUDE} ${OPENJPEG_INCLUDE})
target_link_libraries(penstock_image_libraries INTERFACE JPEG::JPEG PNG::PNG TIFF::TIFF ${WEBP_DEMUX_LIBRARY} ${WEBP_LIBRARY}
                      ${OPENJPEG_LIBRARY})
