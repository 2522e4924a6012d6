"""Writes the small tables of tests/data/tables: Parquet by pyarrow 26 and polars 2, workbooks by openpyxl 3.1 and xlsxwriter 3.3."""

import pyarrow as pa, pyarrow.parquet as pq, datetime as dt, decimal, os, uuid

out = os.path.splitext(__file__)[0]
os.makedirs(out, exist_ok=True)
D = dt.date
T = dt.datetime
n = 4
cols = {
    "i8": pa.array([1, -2, None, 127], pa.int8()),
    "u32": pa.array([0, 1, None, 4294967295], pa.uint32()),
    "i64": pa.array([1, 9007199254740993, None, -9007199254740993], pa.int64()),
    "u64": pa.array([1, 18446744073709551615, None, 2], pa.uint64()),
    "f32": pa.array([0.5, -1.25, None, 3.0], pa.float32()),
    "f64": pa.array([0.1, 1e300, None, -2.5e-7], pa.float64()),
    "f16": pa.array([0.5, 1.5, None, -2.0], pa.float16()),
    "bool": pa.array([True, False, None, True]),
    "text": pa.array(["x", 'yé,"', None, "x"]),
    "cat": pa.array(["lo", "hi", None, "lo"]).dictionary_encode(),
    "date": pa.array([D(2024, 3, 1), D(1969, 12, 31), None, D(2000, 2, 29)]),
    "ms": pa.array([T(2024, 3, 1, 12, 30), T(1969, 12, 31, 23, 59, 59), None, T(2000, 1, 1)], pa.timestamp("ms")),
    "us": pa.array([T(2024, 3, 1, 12, 30, 0, 250000), T(2024, 3, 1), None, T(2000, 1, 1)], pa.timestamp("us", tz="UTC")),
    "ns": pa.array([T(2024, 3, 1, 12, 30), T(2024, 3, 1), None, T(2000, 1, 1)], pa.timestamp("ns")),
    "time": pa.array([dt.time(12, 30), dt.time(0, 0, 1), None, dt.time(23, 59, 59, 500000)], pa.time64("us")),
    "dec": pa.array([decimal.Decimal("12.30"), decimal.Decimal("-0.05"), None, decimal.Decimal("7.00")], pa.decimal128(9, 2)),
    "all": pa.array([1, 2, 3, 4], pa.int32()),
    "null": pa.array([None] * 4, pa.null()),
}
t = pa.table(cols)
pq.write_table(t, f"{out}/types.parquet", compression="snappy")
for c in ["gzip", "zstd", "none"]:
    pq.write_table(
        t, f"{out}/types_{c}.parquet", compression=c, use_dictionary=(c == "gzip"), data_page_version="2.0" if c != "none" else "1.0"
    )
pq.write_table(t.drop(["null", "f16"]), f"{out}/types_int96.parquet", use_deprecated_int96_timestamps=True, store_decimal_as_integer=True)
k = 300
import random

random.seed(1)
e = pa.table(
    {
        "a": pa.array([i * 3 - (i % 7) * 1000 for i in range(k)], pa.int64()),
        "b": pa.array([(i * i) % 10007 for i in range(k)], pa.int32()),
        "s": [f"name{i//3:05d}" for i in range(k)],
        "t": [f"item {i%10}" for i in range(k)],
        "f": pa.array([i / 8 for i in range(k)], pa.float64()),
        "g": pa.array([i / 4 for i in range(k)], pa.float32()),
        "o": pa.array([None if i % 5 == 0 else i for i in range(k)], pa.int64()),
        "p": pa.array([i % 3 == 0 for i in range(k)]),
    }
)
pq.write_table(
    e,
    f"{out}/encodings.parquet",
    use_dictionary=False,
    data_page_version="2.0",
    row_group_size=128,
    data_page_size=256,
    column_encoding={
        "a": "DELTA_BINARY_PACKED",
        "b": "DELTA_BINARY_PACKED",
        "s": "DELTA_BYTE_ARRAY",
        "t": "DELTA_LENGTH_BYTE_ARRAY",
        "f": "BYTE_STREAM_SPLIT",
        "g": "BYTE_STREAM_SPLIT",
        "o": "DELTA_BINARY_PACKED",
        "p": "RLE",
    },
    compression="zstd",
)
pq.write_table(pa.table({"a": [1, 2], "l": [[1, 2], [3]]}), f"{out}/nested.parquet")
import polars as pl

pl.DataFrame({"id": [1, 2, 3], "d": [D(2024, 3, 1), None, D(2024, 3, 2)], "s": ["a", "b", None], "x": [1.5, None, 2.5]}).write_parquet(
    f"{out}/polars.parquet"
)
import openpyxl

wb = openpyxl.Workbook()
ws = wb.active
ws.title = "first"
ws.append(["id", "price", "when", "day", "clock", "ok", "name", "code"])
ws.append([1, 0.1, T(2024, 3, 1, 12, 30), D(2024, 3, 1), dt.time(12, 30), True, "a & b", "02139"])
ws.append([9007199254740993, 1e300, T(2024, 3, 1), D(1999, 12, 31), dt.time(0, 0), False, "  x", "7"])
ws.append([])
ws.append([3, None, None, None, None, None, "=1+1", None])
ws2 = wb.create_sheet("second")
for i in range(3):
    ws2.append([2019 + i, i / 2])
wb.save(f"{out}/openpyxl.xlsx")
import xlsxwriter

w = xlsxwriter.Workbook(f"{out}/xlsxwriter.xlsx")
s = w.add_worksheet("data")
f = w.add_format({"num_format": "dd.mm.yyyy hh:mm"})
b = w.add_format({"bold": 1})
s.write_row(2, 1, ["x", "when", "text"])
for i in range(3):
    s.write_number(3 + i, 1, i * 0.1)
    s.write_datetime(3 + i, 2, T(2024, 3, 1 + i, 8, 15), f)
    s.write_rich_string(3 + i, 3, "a", b, "bold", f" {i}")
s.write_formula(6, 1, "=1/0", "", "#DIV/0!")
w.close()

import zstandard

rows = [f"{i},{i*i/7},name{i%5},{i%3}\n" for i in range(400)]
with open(f"{out}/csv.zst", "wb") as file:
    file.write(zstandard.ZstdCompressor(level=9, write_checksum=True).compress(("a,b,name,y\n" + "".join(rows)).encode()))
