# SPDX-License-Identifier: Apache-2.0
"""HDF5, Zarr, NIfTI and DICOM files. Formats without lists of variable length have rows of one length, the payload's first."""

import h5py
import nibabel
import numpy as np
import pydicom
import zarr

from penstock import fn
from readers import Kind, halves

LONGEST = 512


def padded(payload):
    """Its length as two bytes, the payload, zeros."""
    return np.frombuffer((len(payload).to_bytes(2, "little") + payload).ljust(LONGEST, b"\0"), np.uint8)


def unpadded(value):
    return value[2 : 2 + int.from_bytes(value[:2], "little")]


class Hdf5(Kind):
    name, checked = "readers.hdf5", False

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            with h5py.File(folder / f"part-{part}.h5", "w") as file:
                data = file.create_dataset("x", (len(numbers),), h5py.vlen_dtype(np.uint8))
                for row, k in enumerate(numbers):
                    data[row] = np.frombuffer(payloads[k], np.uint8)
                file["of/label"] = np.array(numbers, ">i4")

    def read(self, folder, **arguments):
        return fn.readers.hdf5(str(folder / "part-*.h5"), datasets=["x", "of/label"], **arguments)


class Zarr(Kind):
    name, checked = "readers.zarr", False

    def write(self, folder, payloads):
        for part, numbers in enumerate(halves(payloads)):
            store = zarr.storage.ZipStore(folder / f"part-{part}.zip", mode="w")
            group = zarr.open_group(store, mode="w", zarr_format=3 if part else 2)
            rows = np.stack([padded(payloads[k]) for k in numbers])
            group.create_array("x", shape=rows.shape, dtype=rows.dtype, chunks=(1, LONGEST))[:] = rows
            group.create_array("label", shape=(len(numbers),), dtype="int64", chunks=(4,))[:] = np.array(numbers)
            store.close()

    def read(self, folder, **arguments):
        return fn.readers.zarr(str(folder / "part-*.zip"), arrays=["x", "label"], **arguments)

    def payload(self, value):
        return unpadded(value)


class Nifti(Kind):
    """The place of the first voxel is the label."""

    name, checked = "readers.nifti", False

    def write(self, folder, payloads):
        for k, payload in enumerate(payloads):
            affine = np.eye(4)
            affine[0, 3] = k
            image = nibabel.Nifti1Image(np.frombuffer(payload, np.uint8).reshape(len(payload), 1, 1), affine)
            nibabel.save(image, folder / f"part-{k:02}.nii{'.gz' if k % 2 else ''}")

    def read(self, folder, **arguments):
        return fn.readers.nifti(str(folder / "part-*.nii*"), raw=True, **arguments)

    def label(self, label):
        return int(label[0, 3])


def dicom(pixels, **tags):
    """A file of one gray picture of 16 bits: its Dataset."""
    made = pydicom.Dataset()
    made.Rows, made.Columns = pixels.shape[-2:]
    if pixels.ndim == 3:
        made.NumberOfFrames = len(pixels)
    made.SamplesPerPixel, made.PhotometricInterpretation = 1, "MONOCHROME2"
    made.BitsAllocated = made.BitsStored = 8 * pixels.itemsize
    made.HighBit, made.PixelRepresentation = made.BitsStored - 1, int(pixels.dtype.kind == "i")
    made.PixelData = pixels.tobytes()
    made.SOPClassUID, made.SOPInstanceUID = pydicom.uid.CTImageStorage, pydicom.uid.generate_uid()
    made.file_meta = pydicom.dataset.FileMetaDataset()
    made.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    for name, value in tags.items():
        setattr(made, name, value)
    return made


class Dicom(Kind):
    name, checked = "readers.dicom", False

    def write(self, folder, payloads):
        for k, payload in enumerate(payloads):
            pixels = padded(payload).view(np.uint16).reshape(16, 16)
            dicom(pixels, InstanceNumber=k).save_as(folder / f"part-{k:02}.dcm", enforce_file_format=True)

    def read(self, folder, **arguments):
        return fn.readers.dicom(str(folder / "part-*.dcm"), raw=True, tags="InstanceNumber", **arguments)

    def label(self, label):
        return int(label[0]) if label.size else -1  # a damaged file may lack the tag

    def payload(self, value):
        return unpadded(value)
