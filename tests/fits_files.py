# SPDX-License-Identifier: Apache-2.0
"""FITS files for tests, written after the FITS Standard 4.0; and some that astropy 8.0.2 wrote."""

import base64
import gzip

import numpy as np

BITS = {"u1": 8, "i2": 16, "i4": 32, "i8": 64, "f4": -32, "f8": -64}


def card(name, value, comment=""):
    if isinstance(value, bool):
        value = "T" if value else "F"
    text = f"'{value:8}'" if name == "XTENSION" else f"{value!s:>20}"
    return f"{name:8}= {text}{' / ' + comment if comment else ''}".ljust(80)[:80]


def block(data, filler):
    return data + filler * (-len(data) % 2880)


def hdu(stored=None, first=False, **more):
    """One HDU with the elements `stored`, an array of a type in BITS; more cards by name."""
    cards = [card("SIMPLE", True, "standard")] if first else [card("XTENSION", "IMAGE", "an image")]
    cards.append(card("BITPIX", 8 if stored is None else BITS[stored.dtype.str[1:]]))
    shape = () if stored is None else stored.shape
    cards.append(card("NAXIS", len(shape)))
    cards += [card(f"NAXIS{k + 1}", n) for k, n in enumerate(reversed(shape))]
    if not first:
        cards += [card("PCOUNT", 0), card("GCOUNT", 1)]
    cards += [card(name, value) for name, value in more.items()] + [
        "COMMENT  = nothing here".ljust(80),
        "END".ljust(80),
    ]
    data = b"" if stored is None else stored.astype(stored.dtype.newbyteorder(">")).tobytes()
    return block("".join(cards).encode(), b" ") + block(data, b"\0")


def file(*hdus):
    return b"".join(hdus)


# (np.arange(6).reshape(2, 3) * 1000 + 30000).astype(uint16) after an empty primary HDU.
ASTROPY_UINT16 = gzip.decompress(
    base64.b64decode(
        "H4sIAAAAAAACA+3XsUrDQBzH8Q4OPoLjf+vYJoXapUNaYzmwSTARgttprqVDcuHuCvbNfAwfwxdwcBCMkYJCLjHgIPj7rIEvd7nl"
        "/4/ZOrryiebUIKER3ctiI1WuyUi6ZElM2vAi4yqjRguWRCy19GZVjyvFD5Rxw8kcSkEdAi9lMVl646pX7PM7oUhujuVdLgq9k4Vu"
        "7Plp4gcX1vv2VscAAAAA4N/4GCdjFgZzGrK1t6omaRp++TwilvOtIPFgPqfSrl7b/OxMf3l+dvvPz3XPsfQm/f9f3XOt5+stWoY3"
        "QfKjfaHkiufCCKVbequ2nvOtt1VyX+qu942XnnXfcvrfd3HrX4dN7ztxz6cz7DMAAADw97yMX8/eBoPnk6fTxwEAAAAAALR6B7fD"
        "lgvAIQAA"
    )
)
# np.arange(64, dtype=int16).reshape(8, 8), compressed by RICE_1.
ASTROPY_COMPRESSED = gzip.decompress(
    base64.b64decode(
        "H4sIAAAAAAACA+2YzWvbMBiHfSo77DB26i7jPRScjkDrrJRcCsuHE0TjxMTaSH0pSqI0YrEdZJc2+zP2F8+WFfIx24m7MhjTA5EO"
        "IQ+vo/cn2XaQZfdMgBvIAMMFTAJ/FnAvhCiADsIOhBHxp4RPIZMmwjYa5fjqsY9wTlYwJRGBaLWkcIB+Y4QcyPFdxj7/0RtTDsFs"
        "bWYe9UMW+GGmzxxhs9/Ovd7SCJlCoVAoFAqF4r8huZ100KB/A3oT9XGj2TP1ra8vYMx8wlcQkfGCAn2O0pvTXN9fvX+ulb9/Fj6j"
        "oL4nNo3miS69YubDeBXRsLC+WoFvUx8PnsLEl4pzsFuDr32c7bva9T3w4HEJS8KJRyPKs0vsFvjA+N0XHlgP3EFmr+0c45sxupiK"
        "K6ZkMk8uP8uH72xTrIfeGlj20HQcs33fbuCG/qJ+xp3B0Ep9ht2sXJ8D6H+SDxdZjW7R8+UmEvGTZkRY3HeTwFtyGoZ0CswjDztr"
        "7W7yJs2wmzckfnE4aGufDFxWfcZ1+by5MnCvlTdXBi4nH+XXQwbu1XwycEc8nx9ImvR1C3wvyJuLUc8s2q9C9oOK7YotqHjJMabb"
        "DZjpqxXsB2V9LctOIhz38xC1zHtjv5/Xv016mSweAs6iuVe4vpbcD5q9QevWQe72gbTrGy+Cyfe04lzft0bPyDk/Pif9vGTPdBHC"
        "Ml6TVHew/6z0/9Obd9hMord3XorTItEJM1SMKtSqcFWFgEP9PKu+WtH5VtJnjnBS4d5+KrYaXdTnxz0s1nfOwiMOd/V+SKHIR9O0"
        "Ey3lZOvzVs7v5Xwq549yPpPzJ037cPbzi/ZGjO/EeCpGEGNFjJdirItRoVAoFAqFQqH4h/kFjDG1WMAhAAA="
    )
)
# A table of one column.
ASTROPY_TABLE = gzip.decompress(
    base64.b64decode(
        "H4sIAAAAAAACA+3XQU/CMBjG8X2U97Yjgh68EGVSTBPYFlcTPBZXcAnrlq4kcvOjO5gaI6uDaLz4/I5b8k+b9vA24bN4yoiG1EJQ"
        "jx4LvSxMXpEtaMJFQpWVOpUmpVYBFzGfO3qXdU8aI7eUSivJbktFHcLRnCfk6J3VPb3JF8pQsXwvZ7nSVVboqrXH5oKFY+d+T7aP"
        "AQAAAMC/sRsnEx6FQ/IDHopRMGX+p989WmRami1ZuVgrUs+2GU6dvT+dnwenz8/7Xt/Ru6h7a6VX9mnX+yhRv2N9A0fv3NEbuHvx"
        "TXQfiqPeCytTbEoqpZG5ssq07/f2u17/sFd1nIeYcDYdJ8f0miuzzNQ6dVeFeIjZ/jx8+fbJ/8l9FpPobtb02G/08D4CAACAr7za"
        "1YvnXXsAAAAAANDlFRIxk17AIQAA"
    )
)


def every_type():
    """{name: (stored elements, cards, what they mean)}"""
    random = np.random.default_rng(5)
    stored = {"uint8": random.integers(0, 256, (5, 7)).astype(np.uint8)}
    for bits in (16, 32, 64):
        top = 2 ** (bits - 1)
        a = random.integers(-top, top, (3, 4, 5), dtype=np.int64).astype(f"int{bits}")
        a.ravel()[:2] = -top, top - 1
        stored[f"int{bits}"] = a
    files = {name: (a, {}, a) for name, a in stored.items()}
    for name in ("float32", "float64"):
        a = random.standard_normal((6, 2)).astype(name)
        a[0] = np.nan, np.inf
        files[name] = (a, {}, a)
    files["int8"] = (stored["uint8"], {"BZERO": -128}, (stored["uint8"].astype(np.int16) - 128).astype(np.int8))
    for bits in (16, 32, 64):
        a = stored[f"int{bits}"]
        unsigned = a.view(f"uint{bits}") ^ np.array(2 ** (bits - 1), f"uint{bits}")
        zero = f"{2 ** (bits - 1)}." if bits == 64 else 2 ** (bits - 1)
        files[f"uint{bits}"] = (a, {"BSCALE": "1.0D0", "BZERO": zero}, unsigned)
    a = stored["int16"].copy()
    a[0, 0, 0] = -7
    want = (a * 0.5 + 3).astype(np.float32)
    files["scaled int16"] = (a, {"BSCALE": 0.5, "BZERO": "3"}, want)
    want = want.copy()
    want[a == -7] = np.nan
    files["scaled int16 with blanks"] = (a, {"BSCALE": "5E-1", "BZERO": "+3.0", "BLANK": -7}, want)
    files["blanks of integers"] = (a, {"BLANK": -7}, a)
    files["scaled uint8"] = (stored["uint8"], {"BSCALE": 2}, stored["uint8"] * np.float32(2))
    files["scaled int32"] = (stored["int32"], {"BZERO": 1}, stored["int32"] + 1.0)
    files["scaled int64"] = (stored["int64"], {"BSCALE": 0.25}, stored["int64"] * 0.25)
    f = files["float32"][0]
    files["scaled float32"] = (f, {"BSCALE": 3.0, "BZERO": 0.1}, (f.astype(np.float64) * 3 + 0.1).astype(np.float32))
    return files
