"""Batches of rows of like lengths, as genuine MindSpore 2.7 gave them for the same rows."""

import numpy as np
import pytest

import sorus.dataset as ds

LENGTHS = [3, 1, 7, 4, 2, 9, 5, 1, 3, 6, 8, 2, 4]


def rows():
    for i, n in enumerate(LENGTHS):
        yield np.full((n,), i, np.int32), np.array(i)


def batches(data=None, **options):
    data = data or ds.GeneratorDataset(rows, ["x", "y"], shuffle=False)
    data = data.bucket_batch_by_length(**options)
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def check(made, want, fill):
    """`want`: the width and the rows of each batch."""
    assert [(x.shape[1], y.tolist()) for x, y in made] == want
    for x, y in made:
        for row, i in zip(x, y):
            assert row.tolist() == [i] * LENGTHS[i] + [fill] * (x.shape[1] - LENGTHS[i])


def test_rows_are_padded_to_the_longest_of_their_batch():
    made = batches(
        column_names=["x"],
        bucket_boundaries=[3, 6],
        bucket_batch_sizes=[2, 3, 2],
        pad_info={"x": ([None], -1)},
    )
    check(made, [(2, [1, 4]), (9, [2, 5]), (5, [0, 3, 6]), (8, [9, 10]), (2, [7, 11]), (4, [8, 12])], -1)


def test_what_is_left_may_be_dropped():
    made = batches(
        column_names="x",
        bucket_boundaries=[3, 6],
        bucket_batch_sizes=[2, 3, 2],
        pad_info={},
        drop_remainder=True,
    )
    check(made, [(2, [1, 4]), (9, [2, 5]), (5, [0, 3, 6]), (8, [9, 10]), (2, [7, 11])], 0)


def test_rows_are_padded_to_the_boundary():
    options = {"column_names": ["x"], "pad_info": {"x": ([None], 0)}, "pad_to_bucket_boundary": True}
    made = batches(bucket_boundaries=[3, 6, 10], bucket_batch_sizes=[2, 3, 2, 1], **options)
    check(made, [(2, [1, 4]), (9, [2, 5]), (5, [0, 3, 6]), (9, [9, 10]), (2, [7, 11]), (5, [8, 12])], 0)
    with pytest.raises(ValueError, match="got length 7, need less than 6"):
        batches(bucket_boundaries=[3, 6], bucket_batch_sizes=[2, 3, 2], **options)


def test_a_function_tells_the_length():
    made = batches(
        column_names=["x", "y"],
        bucket_boundaries=[5],
        bucket_batch_sizes=[2, 3],
        element_length_function=lambda _, y: int(y) % 7,
        pad_info={"x": ([12], 0)},
    )
    check(
        made,
        [(12, [0, 1]), (12, [2, 3]), (12, [4, 7]), (12, [8, 9]), (12, [10, 11]), (12, [5, 6, 12])],
        0,
    )


def test_rows_of_one_length_need_no_padding():
    data = ds.NumpySlicesDataset(np.arange(12).reshape(6, 2), ["x"], shuffle=False)
    made = batches(data, column_names=["x"], bucket_boundaries=[2], bucket_batch_sizes=[3, 4])
    assert [x.tolist() for (x,) in made] == [[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [10, 11]]]
    with pytest.raises(ValueError, match="'x'"):
        batches(column_names=["x"], bucket_boundaries=[3], bucket_batch_sizes=[3, 4])


def test_epochs_and_what_follows():
    data = ds.GeneratorDataset(rows, ["x", "y"], shuffle=False)
    data = data.bucket_batch_by_length(["x"], [3, 6], [2, 3, 2], pad_info={}).repeat(2).take(9)
    assert len(list(data)) == 9 and data.get_dataset_size() == 9
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    first, second = ([y.tolist() for _, y in iterator] for _ in range(2))
    assert first == second


def test_an_error_comes_after_the_batches_before_it():
    def length(x):
        if len(x) == 9:
            raise KeyError("no length")
        return len(x)

    data = ds.GeneratorDataset(rows, ["x", "y"], shuffle=False)
    data = data.bucket_batch_by_length(["x"], [3, 6], [2, 3, 2], length, pad_info={})
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert next(iterator)[1].tolist() == [1, 4]
    with pytest.raises(KeyError, match="no length"):
        next(iterator)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"bucket_boundaries": []}, ValueError, "bucket_boundaries is empty"),
        ({"bucket_boundaries": 3}, TypeError, "got int, need a list of ints"),
        ({"bucket_boundaries": [3, 3]}, ValueError, "got \\[3, 3\\], need ascending"),
        ({"bucket_boundaries": [0, 3]}, ValueError, "out of range: got 0"),
        ({"bucket_batch_sizes": [1]}, ValueError, "got 1, need 3, one more than boundaries"),
        ({"bucket_batch_sizes": [1, 0, 1]}, ValueError, "out of range: got 0"),
        ({"column_names": ["x", "y"]}, ValueError, "got 2 of them without a function, need 1"),
        ({"column_names": ["z"]}, KeyError, "'z'"),
        ({"column_names": ["y"]}, ValueError, "got a scalar, need 1 axis or more"),
        ({"pad_info": {"z": ([1], 0)}}, KeyError, "'z'"),
        ({"pad_info": {"x": ([4], 0)}}, ValueError, "'x' is longer than its padding"),
        ({"element_length_function": 3}, TypeError, "got int, need a callable"),
        ({"element_length_function": lambda _: "a"}, TypeError, "got str, need an int"),
        ({"element_length_function": lambda _: -1}, ValueError, "got -1, need 0 or more"),
        ({"drop_remainder": 1}, TypeError, "drop_remainder"),
    ],
)
def test_what_does_not_fit_is_named(options, error, text):
    given = {"column_names": ["x"], "bucket_boundaries": [3, 6], "bucket_batch_sizes": [2, 3, 2]}
    with pytest.raises(error, match=text):
        batches(**{**given, "pad_info": {}, **options})
