/* The operators that generated expressions use beside those of C. */
#define floord(n, d) ((n) / (d) - ((n) % (d) < 0))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
