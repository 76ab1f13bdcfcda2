"""Zips that somebody may hand in, by mistake or on purpose: each costs itself."""

import struct
import warnings
import zipfile

import pytest

from sdpa_helpers.classroom.listing import unpack
from tests.classroom.collected import NAME, found, kinds, put


def zipped(tmp_path, entries, **options):
    """A zip of (name, content) pairs, as it is found."""
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "a.zip", "w", **options) as file:
        warnings.simplefilter("ignore")  # doubled names
        for name, content in entries:
            file.writestr(name, content)
    (tmp_path / "into").mkdir()
    return unpack(tmp_path / "a.zip", tmp_path / "into")


def test_nobodys_notebook_is_overwritten_and_what_tries_is_named(tmp_path):
    link = zipfile.ZipInfo(f"link/{NAME}.ipynb")
    link.external_attr = 0o120777 << 16
    listing = zipped(
        tmp_path,
        [
            (f"zoe/{NAME}.ipynb", "hers"),
            (f"eve/../zoe/{NAME}.ipynb", "not hers"),
            (f"./zoe/{NAME}.ipynb", "the same name"),
            (f"/zoe/{NAME}.ipynb", "x"),
            (f"C:/zoe/{NAME}.ipynb", "x"),
            (f"../../zoe/{NAME}.ipynb", "x"),
            (link, "/etc/passwd"),
            ("bob", "a file that is a folder too"),
            (f"bob/{NAME}.ipynb", "his"),
            (f"bob/{NAME}.ipynb/{NAME}.ipynb", "in a file"),
            (f"ada\\{NAME}.ipynb", "a name with a backslash"),
            (f"{'x' * 300}/{NAME}.ipynb", "long"),
            (f"{'d/' * 3000}{NAME}.ipynb", "deep"),
        ],
    )
    assert all(path.parent == tmp_path / "into" for path in (tmp_path / "into").rglob("*"))
    got, left_out = found(listing)
    assert got["zoe"].path.read_text() == "hers"
    assert kinds(got["zoe"]) == ["odd-file"]
    assert got["bob"].path.read_text() == "his"
    assert sorted(got["d"].path.read_text()) == sorted("deep")
    assert [name for name, _ in left_out if "zoe" in name] == [
        f"../../zoe/{NAME}.ipynb", f"/zoe/{NAME}.ipynb", f"C:/zoe/{NAME}.ipynb", f"eve/../zoe/{NAME}.ipynb",
        f"zoe/{NAME}.ipynb"]  # fmt: skip
    assert dict(left_out)[f"zoe/{NAME}.ipynb"] == "the zip has 2 entries of this name: the first is read"
    assert {"bob", f"bob/{NAME}.ipynb/{NAME}.ipynb", f"link/{NAME}.ipynb"} < {name for name, _ in left_out}
    assert all(len(name) < 300 for name, _ in left_out)


def test_a_zip_with_backslashes_alone_is_one_of_folders(tmp_path):
    got, left_out = found(
        zipped(tmp_path, [(f"ada\\{NAME}.ipynb", "{}"), (f"a\\..\\ada\\{NAME}.ipynb", "{}")])
    )
    assert list(got) == ["ada"]
    assert [name for name, _ in left_out] == [f"a/../ada/{NAME}.ipynb"]


def test_a_name_without_end_is_left_out_and_costs_no_time(tmp_path):
    names = [
        part * (60_000 // len(part)) for part in ("-", "1_", "anon_", "LATE_", " ", "a_attempt_", "Copy")
    ]
    listing = zipped(
        tmp_path, [(f"{name}{NAME}.ipynb", "{}") for name in names] + [(f"ada/{NAME}.ipynb", "{}")]
    )
    got, left_out = found(listing)
    assert list(got) == ["ada"]
    assert {why for _, why in left_out} == {"a name of more than 1000 characters"}
    assert len(left_out) == len(names)


@pytest.mark.parametrize("name", [f"{NAME}.ipynb.txt", f"{NAME}.IPYNB.zip", f"{NAME}.ipynb "])
def test_a_notebook_with_another_ending_is_named(tmp_path, name):
    put(tmp_path / "ada" / name)
    put(tmp_path / "bob" / f"{NAME}.ipynb")
    got, left_out = found(tmp_path)
    assert got["ada"].path is None
    assert [file for file, _ in left_out] == [f"ada/{name}"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_bounds_are_not_read(tmp_path, method):
    got, _ = found(zipped(tmp_path, [(f"ada/{NAME}.ipynb", b" " * (3 << 20))], compression=method))
    assert got["ada"].path.stat().st_size < 1000
    assert kinds(got["ada"]) == ["odd-file"]


def test_an_encrypted_or_small_bomb_costs_itself(tmp_path):
    listing = zipped(
        tmp_path,
        [(f"ada/{NAME}.ipynb", "{}"), (f"eve/{NAME}.ipynb", b" " * (30 << 20))],
        compression=zipfile.ZIP_DEFLATED,
    )
    assert sum(path.stat().st_blocks for path in (tmp_path / "into").iterdir()) < 100
    got, _ = found(listing)
    assert (kinds(got["ada"]), kinds(got["eve"])) == ([], ["odd-file"])
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(magic) + offset, 1)
    (tmp_path / "a.zip").write_bytes(data)
    for path in (tmp_path / "into").iterdir():
        path.unlink()
    got, _ = found(unpack(tmp_path / "a.zip", tmp_path / "into"))
    assert got["ada"].flags[0].message == f"{NAME}.ipynb: encrypted in the zip"


@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 99), ("name", b"e\xff\xfe")],
    ids=["a version that nobody knows", "no UTF-8"],
)
def test_one_entry_that_python_refuses_costs_itself(tmp_path, field, value):
    entries = [
        (f"ada/{NAME}.ipynb", "hers"),
        (f"e\u00e9/{NAME}.ipynb", "x"),
        (f"zoe/{NAME}.ipynb", "also hers"),
    ]
    zipped(tmp_path, entries)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    if field == "version":
        struct.pack_into("<H", data, at + 6, value)
    else:
        data[at + 46 : at + 46 + len(value)] = value
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises((UnicodeDecodeError, NotImplementedError)):
        zipfile.ZipFile(tmp_path / "a.zip")
    (tmp_path / "again").mkdir()
    got, _ = found(unpack(tmp_path / "a.zip", tmp_path / "again"))
    assert [s for s in got if s in ("ada", "zoe")] == ["ada", "zoe"]
    assert got["ada"].path.read_text() == "hers"
    assert got["zoe"].path.read_text() == "also hers"
    assert len(got) == 3


def test_thousands_of_entries_are_a_matter_of_seconds(tmp_path):
    entries = [(f"s{n:04}/{NAME}.ipynb", "{}") for n in range(2000)]
    got, left_out = found(zipped(tmp_path, entries + entries[:10]))
    assert (len(got), len(left_out)) == (2000, 10)
