"""Virtual time: Linux kernels in which only waiting takes time, as guests of this machine."""
