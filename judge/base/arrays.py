"""Types of arrays: real numbers (NaN = none), whole numbers such as codes of groups, and masks."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Masks = NDArray[np.bool_]
