"""The same mean recall, another norm. In: nothing. Out: two confusion matrices."""

import numpy as np

from comboost.displays import ConfusionNormDisplay

spread = 0.05 * (1 - np.eye(4))
piled = np.zeros((4, 4))
piled[1:, 0] = 0.2
ConfusionNormDisplay({"mistakes are spread": spread, "mistakes pile up": piled}, list("ABCD")).plot()
