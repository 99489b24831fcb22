# Classes: methods, properties, inheritance, operators.
class Shape:
    def __init__(self, name):
        self.name = name

    def area(self):
        return 0

    @property
    def label(self):
        return self.name + "!"


class Rectangle(Shape):
    def __init__(self, width, height):
        super().__init__("rectangle")
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


def areas(count):
    total = 0
    for i in range(count):
        total += Rectangle(i % 10, i % 7).area()
    return total


def labels(shape, count):
    length = 0
    for _ in range(count):
        length += len(shape.label)
    return length


def walk(count):
    at = Vector(0, 0)
    step = Vector(1, 2)
    for _ in range(count):
        at = at + step
    return at.x + at.y


print(areas(2500), labels(Shape("point"), 2000), walk(3000))
