"""What a row cannot say in one call: functions whose arguments decide which library function is meant."""

from .attention import *  # noqa: F403
from .boxes import *  # noqa: F403
from .ctc import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .flash_attention import *  # noqa: F403
from .index import *  # noqa: F403
from .matrices import *  # noqa: F403
from .more_functions import *  # noqa: F403
from .nn import *  # noqa: F403
from .numpy_creation import *  # noqa: F403
from .numpy_histograms import *  # noqa: F403
from .numpy_names import *  # noqa: F403
from .primitives import *  # noqa: F403
from .old_names import *  # noqa: F403
from .python_values import *  # noqa: F403
from .random import *  # noqa: F403
from .reductions_algebra import *  # noqa: F403
from .sampling import *  # noqa: F403
from .shape import *  # noqa: F403
from .special import *  # noqa: F403
