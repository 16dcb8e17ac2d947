"""Checkpoints from Python: what is saved is loaded, and what does not fit is named."""

import numpy as np
import pytest

import sorus as ms
from sorus import Parameter, Tensor, nn


class Net(nn.Cell):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.second = nn.Dense(4, 2)

    def construct(self, x):
        return self.second(self.first(x))


def test_a_network_comes_back(tmp_path):
    path = tmp_path / "net.ckpt"
    net, other = Net(), Net()
    ms.save_checkpoint(net, str(path), append_dict={"epoch": 3, "rate": 0.5, "note": "halfway"})
    loaded = ms.load_checkpoint(str(path), net=other)
    x = Tensor(np.ones((1, 3)), ms.float32)
    assert (net(x).asnumpy() == other(x).asnumpy()).all()
    assert int(loaded["epoch"]) == 3 and float(loaded["rate"]) == 0.5 and loaded["note"] == "halfway"
    assert isinstance(loaded["first.weight"], Parameter)


def test_saving_replaces_a_file_and_adds_its_ending(tmp_path):
    for value in (1.0, 2.0):
        ms.save_checkpoint([{"name": "x", "data": Tensor([value])}], str(tmp_path / "new/x"))
    assert float(ms.load_checkpoint(str(tmp_path / "new/x.ckpt"))["x"]) == 2.0
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["x.ckpt"]


def test_names_can_be_chosen(tmp_path):
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(Net(), path, choice_func=lambda name: name.endswith("weight"))
    assert list(ms.load_checkpoint(path)) == ["first.weight", "second.weight"]
    assert list(ms.load_checkpoint(path, choice_func=lambda name: name.startswith("second"))) == [
        "second.weight"
    ]
    assert list(ms.load_checkpoint(path, specify_prefix="first")) == ["first.weight"]
    assert list(ms.load_checkpoint(path, filter_prefix=["first"])) == ["second.weight"]
    with pytest.raises(ValueError):
        ms.load_checkpoint(path, specify_prefix="third")


def test_what_is_missing_is_named_with_what_is_near():
    net = Net()
    given = {p.name: p.clone() for p in net.get_parameters()}
    given["first.wieght"] = given.pop("first.weight")
    with pytest.warns(UserWarning, match=r"first\.weight \(near: first\.wieght\)"):
        missing, unexpected = ms.load_param_into_net(net, given)
    assert (missing, unexpected) == (["first.weight"], ["first.wieght"])


def test_a_prefix_in_the_checkpoint_is_taken_off():
    net, other = Net(), Net()
    given = {f"backbone.{p.name}": p.clone() for p in net.get_parameters()}
    with pytest.warns(UserWarning, match="backbone"):
        assert ms.load_param_into_net(other, given) == ([], [])
    assert (net.first.weight.asnumpy() == other.first.weight.asnumpy()).all()


def test_what_does_not_fit_is_refused():
    net = Net()
    with pytest.raises(RuntimeError, match=r"first\.bias.*shape"):
        ms.load_param_into_net(net, {"first.bias": Parameter(Tensor(np.zeros(3), ms.float32))})
    with pytest.raises(RuntimeError, match=r"first\.bias.*dtype"):
        ms.load_param_into_net(net, {"first.bias": Parameter(Tensor(np.zeros(4), ms.int32))})
    half = {"first.bias": Parameter(Tensor(np.full(4, 0.5), ms.float16))}
    with pytest.warns(UserWarning, match="converted|not in the checkpoint"):
        ms.load_param_into_net(net, half)
    assert net.first.bias.asnumpy().tolist() == [0.5] * 4
    with pytest.raises(RuntimeError):
        ms.load_param_into_net(net, half, strict_load=True)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint(Net(), str(path), crc_check=True)
    bytes_ = bytearray(path.read_bytes())
    assert ms.load_checkpoint(str(path), crc_check=True)
    bytes_[40] ^= 1
    (tmp_path / "damaged.ckpt").write_bytes(bytes_)
    (tmp_path / "cut.ckpt").write_bytes(bytes_[:50])
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(tmp_path / "damaged.ckpt"), crc_check=True)
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(tmp_path / "cut.ckpt"))
    with pytest.raises(ValueError):
        ms.load_checkpoint(str(tmp_path / "none.ckpt"))


@pytest.mark.parametrize("name", (b"\xffeight", b"weigh\xc3", b"\xc0\x80ight", b"\xed\xa0\x80ght"))
def test_names_that_are_no_text_are_refused(tmp_path, name):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint([{"name": "weight", "data": Tensor([1.0])}], str(path))
    path.write_bytes(path.read_bytes().replace(b"weight", name))
    with pytest.raises(ValueError, match="UTF-8"):
        ms.load_checkpoint(str(path))


def test_names_in_any_script_come_back(tmp_path):
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint([{"name": "вес.\u91cd\u307f.\U0001f3cb", "data": Tensor([1.0])}], path)
    assert list(ms.load_checkpoint(path)) == ["вес.\u91cd\u307f.\U0001f3cb"]


def test_all_that_does_not_fit_is_named_at_once_and_nothing_is_loaded():
    net = Net()
    before = net.second.bias.asnumpy().copy()
    given = {
        "first.wieght": Parameter(Tensor(np.zeros(net.first.weight.shape), ms.float32)),
        "first.bias": Parameter(Tensor(np.zeros(3), ms.float32)),
        "second.weight": Parameter(Tensor(np.zeros((9, 9)), ms.float32)),
        "second.bias": Parameter(Tensor(before + 1)),
    }
    with pytest.raises(RuntimeError) as raised:
        ms.load_param_into_net(net, given)
    text = str(raised.value)
    assert "missing     first.weight (near: first.wieght)" in text
    assert "unexpected  first.wieght" in text
    assert "misshaped   first.bias: another shape: got (3,), need (4,)" in text
    assert "misshaped   second.weight: another shape: got (9, 9)" in text
    assert (net.second.bias.asnumpy() == before).all()


def test_an_empty_file_says_so(tmp_path):
    (tmp_path / "empty.ckpt").write_bytes(b"")
    with pytest.raises(ValueError, match=r"empty\.ckpt: file is empty: got 0 bytes"):
        ms.load_checkpoint(str(tmp_path / "empty.ckpt"))


def test_damage_always_has_an_error_with_file_and_place(tmp_path):
    path, damaged = tmp_path / "net.ckpt", tmp_path / "damaged.ckpt"
    ms.save_checkpoint(Net(), str(path), append_dict={"note": "a text", "epoch": 3})
    good = path.read_bytes()
    numbers = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        bad = bytearray(good)
        for place in numbers.integers(0, len(bad), numbers.integers(1, 5)):
            bad[place] = numbers.integers(256)
        damaged.write_bytes(bad)
        try:
            ms.load_checkpoint(str(damaged))
        except (ValueError, NotImplementedError) as error:
            assert not isinstance(error, UnicodeError)
            assert "damaged.ckpt" in str(error)
            refused += 1
    assert refused > 100


def test_saving_follows_links_and_refuses_folders(tmp_path, monkeypatch):
    (tmp_path / "store").mkdir()
    link = tmp_path / "link.ckpt"
    link.symlink_to("store/real.ckpt")
    for _ in range(2):
        ms.save_checkpoint(Net(), str(link))
        assert link.is_symlink()
        assert len(ms.load_checkpoint(str(tmp_path / "store/real.ckpt"))) == len(Net().trainable_params())
    monkeypatch.chdir(tmp_path / "store")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        ms.save_checkpoint(Net(), ".")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.ckpt", "store"]


def test_entries_without_data_are_refused(tmp_path):
    with pytest.raises(ValueError, match="need a dict with 'name' and 'data'"):
        ms.save_checkpoint([{"name": "w"}], str(tmp_path / "x.ckpt"))
