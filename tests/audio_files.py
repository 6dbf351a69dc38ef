# SPDX-License-Identifier: Apache-2.0
"""Small recordings of every kind that decoders.audio reads, written by libsndfile."""

import io

import numpy as np
import soundfile

RATE = 22050
_t = np.arange(8011) / RATE
STEREO = np.stack(
    [0.6 * np.sin(2 * np.pi * 440 * _t) * np.exp(-_t), 0.5 * np.sin(2 * np.pi * (200 + 300 * _t) * _t)], -1
)


def recorded(samples, format, subtype, rate=RATE):
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=format, subtype=subtype)
    return file.getvalue()


def tagged(file):
    """The file after an ID3 tag of 300 bytes."""
    return b"ID3\x04\0\0\0\0\x02\x2c" + bytes(300) + file


def without_info(mp3):
    """Without the frame that states the encoder's delay."""
    return mp3[mp3.index(mp3[:2], 4) :]


def chains():
    """Ogg files of two streams, one after the other: a good one, and one whose second stream lacks its other headers."""
    first, second = recorded(STEREO, "OGG", "VORBIS"), recorded(STEREO[4000::-1], "OGG", "VORBIS")
    pages = [b"OggS" + page for page in second.split(b"OggS")[1:]]
    return {"vorbis chain": first + second, "vorbis chain cut": first + pages[0] + pages[-1]}


def with_last_granule(ogg, granule):
    """An Ogg file whose last page says that so many samples end there (RFC 3533, section 6, its checksum included)."""
    at = ogg.rindex(b"OggS")
    page = bytearray(ogg[at:])
    page[6:14], page[22:26] = granule.to_bytes(8, "little", signed=True), bytes(4)
    crc = 0
    for byte in page:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    page[22:26] = crc.to_bytes(4, "little")
    return ogg[:at] + bytes(page)


def with_flac_length(flac, samples):
    numbers = int.from_bytes(flac[18:26], "big") >> 36 << 36 | samples  # 36 bits after rate, channels and bits
    return flac[:18] + numbers.to_bytes(8, "big") + flac[26:]


def with_bytes(file, at, values):
    return file[:at] + values + file[at + len(values) :]


def all_files():
    files = {
        f"wav {s}": recorded(STEREO, "WAV", s)
        for s in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW")
    }
    files |= {f"flac {s}": recorded(STEREO, "FLAC", s) for s in ("PCM_16", "PCM_24")}
    files |= {f"wav {s}": recorded(STEREO, "WAV", s, 8000) for s in ("MS_ADPCM", "IMA_ADPCM")}
    files |= {
        "wav GSM610": recorded(STEREO[:, 0], "WAV", "GSM610", 8000),
        "wav MS_ADPCM mono": recorded(STEREO[:, 0], "WAV", "MS_ADPCM"),
        "wav IMA_ADPCM mono": recorded(STEREO[:, 0], "WAV", "IMA_ADPCM"),
    }
    files |= {
        "wav extensible": recorded(STEREO, "WAVEX", "PCM_24"),
        "wav RF64": recorded(STEREO, "RF64", "PCM_16"),
        "flac mono": recorded(STEREO[:, 0], "FLAC", "PCM_16"),
        "vorbis": recorded(STEREO, "OGG", "VORBIS"),
        "opus": recorded(STEREO, "OGG", "OPUS", 48000),
        "mp3": recorded(STEREO, "MP3", "MPEG_LAYER_III"),
        "mp3 mono": recorded(STEREO[:, 0], "MP3", "MPEG_LAYER_III", 44100),
    }
    return files
