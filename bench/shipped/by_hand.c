void by_hand(const float* a, const float* x, const float* b, float* y) {
  for (int i = 0; i < 16; ++i) y[i] = a[i] * x[i] + b[i];
}
