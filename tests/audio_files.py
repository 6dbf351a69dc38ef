# SPDX-License-Identifier: Apache-2.0
"""Small recordings of every kind that decoders.audio takes, written by libsndfile."""
import io

import numpy as np
import soundfile

RATE = 22050
_t = np.arange(8011) / RATE
STEREO = np.stack([0.6 * np.sin(2 * np.pi * 440 * _t) * np.exp(-_t), 0.5 * np.sin(2 * np.pi * (200 + 300 * _t) * _t)], -1)


def recorded(samples, format, subtype, rate=RATE):
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=format, subtype=subtype)
    return file.getvalue()


def tagged(file):
    """The file behind an ID3 tag of 300 bytes."""
    return b"ID3\x04\0\0\0\0\x02\x2c" + bytes(300) + file


def without_info(mp3):
    """Without the frame that says the encoder's delay."""
    return mp3[mp3.index(mp3[:2], 4):]


def chains():
    """Ogg files of two streams, one behind the other: a good one, and one whose second stream lacks its other headers."""
    first, second = recorded(STEREO, "OGG", "VORBIS"), recorded(STEREO[4000::-1], "OGG", "VORBIS")
    pages = [b"OggS" + page for page in second.split(b"OggS")[1:]]
    return {"vorbis chain": first + second, "vorbis chain cut": first + pages[0] + pages[-1]}


def all_files():
    files = {f"wav {s}": recorded(STEREO, "WAV", s) for s in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW")}
    files |= {f"flac {s}": recorded(STEREO, "FLAC", s) for s in ("PCM_16", "PCM_24")}
    files |= {"wav extensible": recorded(STEREO, "WAVEX", "PCM_24"), "wav RF64": recorded(STEREO, "RF64", "PCM_16"),
              "flac mono": recorded(STEREO[:, 0], "FLAC", "PCM_16"), "vorbis": recorded(STEREO, "OGG", "VORBIS"),
              "opus": recorded(STEREO, "OGG", "OPUS", 48000),
              "mp3": recorded(STEREO, "MP3", "MPEG_LAYER_III"), "mp3 mono": recorded(STEREO[:, 0], "MP3", "MPEG_LAYER_III", 44100)}
    return files
