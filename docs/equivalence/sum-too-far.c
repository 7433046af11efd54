double sum(int n, const double *restrict a)
{
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  int i;
  for (i = 0; i + 3 <= n; i += 4)
    for (int l = 0; l < 4; l++)
      s[l] += a[i + l];
  for (; i < n; i++)
    s[0] += a[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
