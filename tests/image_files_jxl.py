# SPDX-License-Identifier: Apache-2.0
"""Small files of JPEG XL: the picture of image_files.ramp(), as cjxl 0.7 wrote it. No encoder is needed to test the decoder."""

import base64

_FILES = {
    "jxl": (  # cjxl -d 0
        "/wogAWiAgOJCCAIBAFgBSyijqsxTXhisLwdfH+TgFAZ/90pBQUFBQeHtFBQc0Vg5oIBIREGBioX/o0BEZFSjQ8cFDKwEoAYIQQkQhCwAtrfH"
        "BCaAIFGqEdYbuMSdUW+XNiP5ZwE="
    ),
    "jxl gray": (  # cjxl -d 0
        "/wogAWiAoLgQCAIBAMQASygy3YT1BleJwXcJBSUBEQXGxIm/cYIdLgA1AP32myIe1okxaSk5rL8dMCG/26oOAA=="
    ),
    "jxl alpha": (  # cjxl -d 0
        "/wogAWiABcWFCAgQAOQBSyijqsxXVhis32HwtUEOnsLg61eDq4KCwuDvFG5PQUFBQUHBES1MfYJCJKIABQUqUIQxjIxsVML/dui4gIGdANQA"
        "ISgBgpAFhKEGAO410lUljD7giwFec4MxPHUb1JSDpYM5jJtYcYj+////////////w/qpGwvhAA=="
    ),
    "jxl lossy": (  # cjxl -d 1
        "/wogAWiAhOJCABKIAgCoA13lEgAAFSqjjBu8nOv58kOHxbSN6wxttW1hSaLIODZJJ3CYpKBATlXFGKXYGBWDQyYzGw4EAFp9CJ93KLLZnOGI"
        "QvDBSGvP2P9f0xczmPfBGUsxkyOcE/AfK0CXWI67QQkmlSlx0O8hHpjFm1ZYtxnH8M0BOHawSKKo0qFNQIdjqv1nj+n4fwNAfT93Vzwq6FKF"
        "FEgB7JYnxYuK8XS8J/kkgM//uAVt303xPZgRUz5bumExMfb5fPYWoWBfUUUe6Kd12fxGn8UgyweJJJy1PY6wSILrFhf807i6k0N1v+6f5EEM"
        "fa2+gN5A0A=="
    ),
    "jxl container": (  # cjxl -d 0 --container=1
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAABtanhsY/8KIAFogIDiQggCAQBYAUsoo6rMU14YrC8HXx/k4BQGf/dKQUFBQUHh"
        "7RQUHNFYOaCASERBgYqF/6NARGRUo0PHBQysBKAGCEEJEIQsALa3xwQmgCBRqhHWG7jEnVFvlzYj+WcB"
    ),
    "jxl of 16 bits": (  # cjxl -d 0
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAEianhsY/8KIAFo4AeguBAIAgEAKARLKKPcppPJgzz4bktBQUFh"
        "NwoKjmgEIWIUYeH/KD5mjDHRRgzuDWMMRhhjDDcyewEDKwGoAUJQAgQhC4DtAQMdAIAZvO/7vu/7voMW7Pu+7/u+7/u+7/u+gxbs+77v+77v"
        "+77v+76DFuz7vu/7vu/7vu/7vgMI7Pu+7/u+7/u+7/u+nxrs+77v+77v+77v+/7/f3x8fPz/f3x8fHx8fHz8/398fHx8fHx8/D9/fHx8fHx8"
        "fLwwf3x8fHx8fHy8yup2u1111W632+12u1111W632+12u1111W632+12u1111W632+12u1111W632+12u71P1W632+12ux0AyK7hTWy5MhCS"
        "DY146ig1Cw=="
    ),
    "jxl of reals": (  # imagecodecs' jpegxl_encode(lossless=True)
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAE3anhsY/8KQGByAEWLCAQBAIQESxib7U5CwSSFCJ0rxuCOxhgs"
        "GYMnqlRkyxgZy8jGGBWDgzF4ZiRWN8bgjsZGRsZgyZFBwACwMFe4HuUAAIDO2sL1aI/CDdcj4Xp0VK+ZmeF6JK5HTtLheqS59yhczwEAACmU"
        "XY/CKFzHjFi4HlK4/rwUhetSuP7LT+F6hKRwkcc3hethj8KG6xGsR7geNDMTroe6O3E9hOuBFI65q8sK14PaJd2nCfL4wdVbFi76Tctj1ZXM"
        "UCSMKCssrS6vL7Bwni5Zgfxts8LS6v6o8/oCCxPL1WB8DEurmxXD6wssTIzsZg/UgVaX13eDAViYGBnZaeZuUZe3nMsXWJgYGVkZooQtOa8v"
        "cGaxMDEysrIyxLlZfF9gYWJkYFNkZWVmvFSx5A=="
    ),
    "jxl moving": (  # cjxl -d 0, of a GIF with two frames
        "/wogAWgIArCguCQICKACAABYDUsosSnjuS42R2F2z0hBQUFBYjP78CgoKEg4EI21LwpGRhFEFCIkOTrGoIwZL6qkpEOyo2MMRkYl5XMqMjY2"
        "ZqRJKGIMYxh9VY4IPSA2IiI6XtjQGMYwOobRkVFRMcbINsZgdahQXI9cCQAEEIIQIAhsQEyQAYQlxon6Sx+Vw9NKna0WkxIjNA+0C51N7b/H"
        "KYj/AH7NCQYIRUm2o9/tA760XiGBBv5vROGOC6IWZbK03BxHO+7/12Ag7wf8ajbR4M8ohNpAaz2As7opcZAWHSQ+Mtx1w+R+8as46unCjUhA"
        "muXCPlhMW4Tsu1KrX7y3mphnyfLeT7M/v22yPyDrcScFhtJt0MaXddp//chIdbRbotZFqjou8u8ctc5+Qxn/7w5PRrF/TxqlKvoqnHDRSJCi"
        "uI5+b9CjvcrXd9jJYjRgeAAB+EAAYgBfYIrihzG4gwylrhjNHpP7oEgRHxLzfsDiYsACF/b3EfLqQKDKggeHQRxg8B4ejc5aU+zmrC25dEYx"
        "CGYUjriaFo3NgTCEGGPDGLwITTyg6T4WqB4hjwCN+FDSh6hD9qshRxzFFfCnACadcMRYxlNhPIKWo/xtpJ+7Vfwwa53SK1eu8ZsdS04TzvU/"
        "5b5zSFjTobZnjuGT/g+ABkubbFdXlNcA7Cf+bkxbSAjabRDy0NbBOl0/Qy+07kpHB4T1PpNracKCsHJlrLrr0Nz/TpOEjUTreC1tvYhJsp1b"
        "8oVRIzbGzWVcKnkb/c/pNGxYJ4LSfnAl0RW0r8zC/e6jMy33YHmdLQuVANPZIWfW1DDPQMmVYUdNgMNkbuWiLnTXWJEvAs2MXjnfQqYybUUX"
        "S5xJSFtS4sncifuk90CwB9XT1JnhHuE8qMUOktIw3V6icpV5PspGlXbYEg1aeKoyJX2tp7P48Mv0/dvZD34QQJmI6VGOlD8XZxBUoIU5VoVJ"
        "TNWkRICxbXf2FVupgLBVhIFLU9ZM5+B4pcCbWVwsMe3Iv6VANN4ExzvueOQPEfK8ywYYIexay1xZmisMe13YJCmguhDWmw3Rbrp7lD7WIRU0"
        "Gwz64wpS1WwosWP3s8O6UkgeSt3OFQpdl4nl/0gtKfE/lEW4lAmNjGJCxrnP85FY4a+L+yD/7xXT/HBAgwEKCAigQgAAnAdLKKLcpmMcvF9T"
        "UFBQUHKAQiTChFQACa3y7pIU9Xlk4hzGGByBCogSvYOMpKIFIpbRXUBkgFoGfGlLjyDwOky27hwVGJPZRPS/JIpZUF5CjScwOfFUP0XQSiee"
        "wGSF+1hOTGmrErQiEhcw+fCn5PtHTlH4LVZGf1qM/sVUqduXbsFwFMK29vaxHa20KYaHlaQ61pA3mb8sfpmuheGwRQm2piaNkRxXJhnx64qw"
        "AecqquaWBXx/FILoQVcNeTxDcDFcgDSNKpQKIHtpW07kV7Rvg0LuxKquUae4kzo6nbdBqCB9I9nnSssws36zV7g6b5jzEvUjJxo+hW0pP3lR"
        "Ro10yWYZ/53vmLw9B9LqKEE8Fia4vyCjCMSdEYKuOO26TzduikvNYKsSAXDDTH4BaKO+GelN6mjUOL0Ut1OXeoxJVTIwowUJiauI6FgQknNE"
        "s7xJXhMJWo2IDe+znsPelEkRRhHaBNdwv0FZLxhN2rP3lQaMemjAlDBtRHYIQhldETQE0BTRIA6Nl/cTs3FgNBYrfChb0Nr0i20WiE8ViJnP"
        "hgdcqqKxcVvUYTJWouIgZlCxS0KBjKbjmIm7VzGd9kpch57BAwNYsNFKuses8JIIznFe4LWTtLRiB67vEIySXYtl5g987I4B"
    ),
    "jxl turned": (  # cjxl --lossless_jpeg=1, of a JPEG file with orientation 6
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAUanhscAAAAAD/CiABaFggJgAAAeNqYnJkwHDbAIIgCC0DAkAiAKFGgZCrSgAA"
        "QMhR2YKhOP8niIwRyjinFLQfIUOYpQ4yzEDpDjVYHzKcfMyAQw4qLHLQsAPbRw39+yPLHHbcgYai+1+MccYkl2zyySinPDPNNdt8M845Cz00"
        "0UUbfTTSSUs9NdVVW3011lmLPTbZZZt9Ntppyz033XXbfTfeeQs+OOGFG3444olHLvnklFdu+eWYZx666KOTXrrpp6Oeeuyyz0577bbfjnvu"
        "wQs/PPHFG3888slHL/301Fdv/fXYZw9++OKPT3755p+Pfvrwxy///PTXb//9+Of/r2CqqgQAQMhR2YKhOP8viIRSRlmnFInxgJDNqEGGSXWg"
        "oXqw4dxDjhlQkA8actBhBzYWWeao3+3Djhta0R95ZvBJhve/GOOMSzb5ZJRTprlmm2/GOWehhya6aKOPRjppqaemumqrr8Y6a7HHJrtss89G"
        "O22556a7brvvxjvvwAUfnPDCDT8c8cQjl3xyyiu3/HLMMw9d9NFJL93001FPPXbZZ6e9dttvxz334IUfnvjijT8e+eSjl3566qu3/nrssw9f"
        "/PHJL9/889FPP37556e/fvvvxz//f4EfAKgsAAsIgOAAEEpGSUYAAQEAAAEAAQAAAwAAACticm9iRXhpZhsdAAAEdGMbBzFboqm/EwlllFi0"
        "gCQP0Jb/ix4pGQAAAAHaanhscIAAAAHgWwIQABwHDGQMZAxk/v8OAAAYAAgAAQAAAAAAgIAliSNUL+aK75bQAwCUnBQUFBQuCZJi8GjXkClM"
        "+JNYQpLqr5nkl7a71xHCK02amkyErig0HWnMp5Cp4ukaEs8xaV4iUDOv2Z6H5nVGYvXkI5d3KPwuAEKxP4abOdFX3za9A5GCdwAAJgCcAGKq"
        "LgIA+FAgzQSATS4BoJpLAIACAAAAABoAAAAAAAAAAAAA4G0N7g3dFaI8ktW8AUa4F+0SQgURbWCaBiJHMCgKcAkBDowhQ6gYIeKrEUjvFACI"
        "ngWA0zwBAAoAAIC8AAAAAAAAAAAAAAAAAAAAAADAAUCOSnBj2oQdLLABRRgqdRCAXnwHEOP/diB8sCoZurbXlMANHSCKwBAFwECoBbBSAWs2"
        "gQB528OlZlaLY00DtScFBQUFxQJBkRODGoMFYgxj6Mf8NCRZjGHo2MgYg5WRFmOMisFAjDEiBkfIOSUGMO1PiWfCTJPPusgUbj3Jt4VMowuo"
        "AKDOZKZpAiiapmlwOSexyZHJlmoSH/GZJr51kWlpa7xlAGzLNOWeT9M00orNTUKKXAxObwIRe4iX2UupOHtbT+kVJlckCQ3fDOyA1EYBnhk="
    ),
}


def files():
    return {name: base64.b64decode(text) for name, text in _FILES.items()}


def header(height, width):
    """The first bytes of a codestream of this size, 8 bits and RGB: ISO/IEC 18181-1, D.2 and D.3. Nothing follows them."""
    bits = [0]  # not a small size

    def put(number, count):
        bits.extend(number >> k & 1 for k in range(count))

    for side, more in ((height, True), (width, False)):
        put(3, 2)
        put(side - 1, 30)
        if more:
            put(0, 3)  # the ratio is not one of the usual ones
    put(1, 1)  # all metadata have their defaults
    put(1, 1)  # the transform, too
    packed = sum(bit << k for k, bit in enumerate(bits)).to_bytes(-(-len(bits) // 8), "little")
    return b"\xff\x0a" + packed + bytes(16)
