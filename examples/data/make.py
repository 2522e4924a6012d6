"""Writes the tables of the examples. All are made up: python3 examples/data/make.py"""
import csv
import math
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent


def write(name, header, rows):
    with open(FOLDER / name, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def houses(draw):
    """Prices of houses: numbers, a category, and a twentieth of the cells of one column missing."""
    heating = {"gas": 1.0, "district": 1.03, "heat pump": 1.12}
    for _ in range(600):
        area, year, distance = draw.uniform(50, 220), draw.randrange(1900, 2024), draw.expovariate(1 / 8)
        kind = draw.choice(list(heating))
        price = area * (1800 + 1500 * math.exp(-distance / 6) + 6 * max(year - 1960, 0)) * heating[kind]
        price *= math.exp(draw.gauss(0, 0.05))
        yield f"{area:.0f}", round(area / 28), year if draw.random() > 0.05 else "", kind, f"{distance:.1f}", round(price, -2)


def lens(draw):
    """A thin lens with a focal length of 50 mm: at that distance an object has no image."""
    for step in range(400):
        distance = 10 + step / 2
        image = math.inf if distance == 50 else 50 * distance / (distance - 50)
        yield f"{distance:.1f}", "inf" if math.isinf(image) else f"{image:.3f}"


def decay(draw):
    for step in range(100):
        t = step / 10
        yield f"{t:.1f}", f"{5 * math.exp(-0.55 * t) + 0.8 + draw.gauss(0, 0.1):.4f}"


write("houses.csv", ["area", "rooms", "year", "heating", "distance", "price"], houses(random.Random(1)))
write("lens.csv", ["object_mm", "image_mm"], lens(random.Random(2)))
write("decay.csv", ["t", "signal"], decay(random.Random(3)))
