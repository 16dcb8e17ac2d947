"""Layers, losses and the class Cell they are made of."""

from . import functional, layer, loss, utils
from .cell import Cell, GraphCell
from .layer.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    FastGelu,
    HShrink,
    HSigmoid,
    HSwish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    SeLU,
    SiLU,
    Sigmoid,
    SoftShrink,
    Softmax,
    Softmax2d,
    Softmin,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
    get_activation,
)
from .layer.basic import (
    ClipByNorm,
    BiDense,
    ChannelShuffle,
    Dense,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    Embedding,
    EmbeddingLookup,
    Flatten,
    Identity,
    L1Regularizer,
    Norm,
    OneHot,
    Pad,
    PixelShuffle,
    PixelUnshuffle,
    ResizeBilinear,
    Roll,
    Tril,
    Triu,
    Unflatten,
    Unfold,
    Upsample,
)
from .layer.combined import Conv2dBnAct, DenseBnAct, TimeDistributed
from .layer.container import CellDict, CellList, SequentialCell
from .layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose, Conv3d, Conv3dTranspose
from .grad import Jvp, Vjp
from .layer.image import MSSSIM, PSNR, SSIM, CentralCrop, ImageGradients
from .layer.math import MatrixDiag, MatrixDiagPart, MatrixSetDiag, Moments, Range, ReduceLogSumExp
from .layer.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LRN,
    LayerNorm,
    SyncBatchNorm,
)
from .layer.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from .loss.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CTCLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    DiceLoss,
    FocalLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LossBase,
    MAELoss,
    MarginRankingLoss,
    MSELoss,
    MultiClassDiceLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    MultilabelMarginLoss,
    NLLLoss,
    PoissonNLLLoss,
    RMSELoss,
    SmoothL1Loss,
    SoftMarginLoss,
    SoftmaxCrossEntropyWithLogits,
    TripletMarginLoss,
)
from .dynamic_lr import (
    cosine_decay_lr,
    exponential_decay_lr,
    inverse_decay_lr,
    natural_exp_decay_lr,
    piecewise_constant_lr,
    polynomial_decay_lr,
    warmup_lr,
)
from .learning_rate_schedule import (
    CosineDecayLR,
    ExponentialDecayLR,
    InverseDecayLR,
    LearningRateSchedule,
    NaturalExpDecayLR,
    PolynomialDecayLR,
    WarmUpLR,
)
from .optim import (
    ASGD,
    FTRL,
    LARS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    AdaMax,
    AdamOffload,
    AdamWeightDecay,
    Lamb,
    LazyAdam,
    Momentum,
    Optimizer,
    ProximalAdagrad,
    RMSProp,
    Rprop,
)
from .wrap import (
    DistributedGradReducer,
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    ForwardValueAndGrad,
    ParameterUpdate,
    TrainOneStepCell,
    TrainOneStepWithLossScaleCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from .layer.rnns import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

_METRICS = frozenset(
    "Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric CosineSimilarity Dice F1 Fbeta "
    "HausdorffDistance Loss MAE MSE MeanSurfaceDistance Metric OcclusionSensitivity Perplexity "
    "Precision ROC Recall RootMeanSquareDistance Top1CategoricalAccuracy Top5CategoricalAccuracy "
    "TopKCategoricalAccuracy auc get_metric_fn names rearrange_inputs".split()
)


def __getattr__(name):
    if name in _METRICS:  # their older place
        from . import metrics

        return getattr(metrics, name)
    from .._near import unknown_name

    raise unknown_name(__name__, name, {*globals(), *_METRICS})


from .layer.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad2d,
)
from .layer.transformer import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
