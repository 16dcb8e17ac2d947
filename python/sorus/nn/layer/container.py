"""Cells that hold cells in order."""

import collections

from ..cell import Cell


def _check_cell(cell, what):
    if not isinstance(cell, Cell):
        raise TypeError(f"{what}: element has the wrong type: got {type(cell).__name__}, need a Cell")
    return cell


class _CellSequence(Cell):
    """What CellList and SequentialCell share: children named 0, 1, 2 ..."""

    def _items(self):
        return list(self._cells.values())

    def _set_items(self, items):
        self._cells.clear()
        for i, cell in enumerate(items):
            self._cells[str(i)] = cell

    def _index(self, index):
        count = len(self._cells)
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(
                f"{type(self).__name__}: index has the wrong type: got {type(index).__name__}, need an int"
            )
        if not -count <= index < count:
            raise IndexError(
                f"{type(self).__name__}: index is out of range: got {index}, need -{count} to {count - 1}"
            )
        return index % count

    def _adopt(self, index, cell):
        if self._auto_prefix:
            cell.update_parameters_name(f"{index}.")
        return cell

    def __getitem__(self, index):
        if isinstance(index, slice):
            return (
                type(self)(*self._items()[index]) if isinstance(self, SequentialCell) else self._slice(index)
            )
        if isinstance(index, str):
            return self._cells[index]
        return self._items()[self._index(index)]

    def __setitem__(self, index, cell):
        _check_cell(cell, type(self).__name__)
        key = str(self._index(index)) if isinstance(index, int) else index
        self._cells[key] = self._adopt(key, cell)

    def __delitem__(self, index):
        items = self._items()
        del items[index if isinstance(index, slice) else self._index(index)]
        self._set_items(items)

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._items())

    def __bool__(self):
        return len(self._cells) != 0

    def append(self, cell):
        """Adds a cell at the end."""
        _check_cell(cell, type(self).__name__)
        index = len(self._cells)
        self._cells[str(index)] = self._adopt(index, cell)
        return self

    def extend(self, cells):
        """Adds cells at the end."""
        for cell in cells:
            self.append(cell)
        return self

    def insert(self, index, cell):
        """Puts a cell before the one at `index`."""
        _check_cell(cell, type(self).__name__)
        count = len(self._cells)
        if not -count <= index <= count:
            raise IndexError(
                f"{type(self).__name__}: index is out of range: got {index}, need -{count} to {count}"
            )
        index = index + count if index < 0 else index
        items = self._items()
        items.insert(index, self._adopt(index, cell))
        self._set_items(items)

    def set_grad(self, flag=True):
        """Notes for every cell that gradients are wanted."""
        return super().set_grad(flag)


class SequentialCell(_CellSequence):
    """Cells called one after the other: `SequentialCell(a, b)`, of a list, or of an ordered dictionary of
    names.

    >>> from sorus import Tensor, nn
    >>> net = nn.SequentialCell(nn.Dense(2, 1, weight_init="ones", bias_init="zeros"), nn.ReLU())
    >>> net(Tensor([[1.0, 2.0], [-1.0, -2.0]])).tolist()
    [[3.0], [0.0]]
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = args[0]
        elif len(args) == 1 and isinstance(args[0], collections.OrderedDict):
            for name, cell in args[0].items():
                _check_cell(cell, "SequentialCell")
                cell.update_parameters_name(name + ".")
                self._cells[name] = cell
            return
        elif len(args) == 1 and not isinstance(args[0], Cell):
            raise TypeError(
                f"SequentialCell: wrong type: got {type(args[0]).__name__}, need Cells or a list of Cells"
            )
        for cell in args:
            self.append(cell)

    def construct(self, input_data):
        """The last cell's result."""
        for cell in self._cells.values():
            input_data = cell(input_data)
        return input_data


class CellList(_CellSequence):
    """A list of cells whose parameters belong to the network; it is not called itself."""

    def __init__(self, *args, **kwargs):
        auto_prefix = kwargs.get("auto_prefix", True)
        super().__init__(auto_prefix)
        if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)):
            args = tuple(args[0])
        self.extend(args)

    def _slice(self, index):
        made = CellList(auto_prefix=False)
        return made.extend(self._items()[index])

    def construct(self, *args, **kwargs):
        """Not called."""
        raise NotImplementedError("CellList: a list is not called: call its cells")


class CellDict(Cell):
    """A dictionary of cells whose parameters belong to the network; it is not called itself."""

    def __init__(self, *args, **kwargs):
        super().__init__(kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def __getitem__(self, key):
        return self._cells[key]

    def __setitem__(self, key, cell):
        _check_cell(cell, "CellDict")
        if not isinstance(key, str):
            raise TypeError(f"CellDict: key has the wrong type: got {type(key).__name__}, need a str")
        if self._auto_prefix:
            cell.update_parameters_name(key + ".")
        self._cells[key] = cell

    def __delitem__(self, key):
        del self._cells[key]

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self._cells)

    def __contains__(self, key):
        return key in self._cells

    def clear(self):
        """Forgets all cells."""
        self._cells.clear()

    def pop(self, key):
        """Takes a cell out."""
        return self._cells.pop(key)

    def keys(self):
        """Names."""
        return self._cells.keys()

    def values(self):
        """Cells."""
        return self._cells.values()

    def items(self):
        """Pairs of name and cell."""
        return self._cells.items()

    def update(self, cells):
        """Adds the cells of a mapping or of pairs."""
        for key, cell in cells.items() if hasattr(cells, "items") else cells:
            self[key] = cell

    def construct(self, *args, **kwargs):
        """Not called."""
        raise NotImplementedError("CellDict: a dictionary is not called: call its cells")
