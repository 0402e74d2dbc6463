// Products on tensor cores for attention in sixteen bits: mma.m16n8k16, with a warp for 16 rows.
#if HALF

#define PAD 8

__device__ __forceinline__ void mma(float c[4], const u32 a[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALF_NAME "." HALF_NAME ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The right side of a product with a matrix of [k][n] in shared memory: 16 rows and 8 columns.
__device__ __forceinline__ void load_turned(const T* at, u32& b0, u32& b1) {
    u32 address = (u32)__cvta_generic_to_shared(at);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b0), "=r"(b1) : "r"(address));
}

// Loads 16 rows from `first` on (zeros from `end` on) and D columns as left sides.
template <int D>
__device__ __forceinline__ void load_left(u32 a[D / 16][4], const T* x, u64 stride, u32 first, u32 end, u32 lane) {
    u32 r0 = first + lane / 4, r1 = r0 + 8, col = lane % 4 * 2;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        const T* p0 = x + r0 * stride + k * 16 + col;
        const T* p1 = x + r1 * stride + k * 16 + col;
        a[k][0] = r0 < end ? *(const u32*)p0 : 0;
        a[k][1] = r1 < end ? *(const u32*)p1 : 0;
        a[k][2] = r0 < end ? *(const u32*)(p0 + 8) : 0;
        a[k][3] = r1 < end ? *(const u32*)(p1 + 8) : 0;
    }
}

// Copies up to 64 rows from `first` on to shared memory, with zeros from `end` on.
template <int D>
__device__ __forceinline__ void load_tile(T (*to)[D + PAD], const T* x, u64 stride, u32 first, u32 end) {
    for (u32 i = threadIdx.x; i < 64 * D / 8; i += 128) {
        u32 row = i / (D / 8), col = i % (D / 8) * 8;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (first + row < end) v = *(const uint4*)(x + (first + row) * stride + col);
        *(uint4*)&to[row][col] = v;
    }
}

// c[n] += a * rows n*8..n*8+8 of b, transposed, for the first `tiles` groups of 8.
template <int D>
__device__ __forceinline__ void outer(float c[8][4], const u32 a[D / 16][4], const T (*b)[D + PAD], u32 tiles, u32 lane) {
#pragma unroll
    for (int n = 0; n < 8; n++) {
        if (n < tiles) {
#pragma unroll
            for (int k = 0; k < D / 16; k++) {
                const T* at = &b[n * 8 + lane / 4][k * 16 + lane % 4 * 2];
                mma(c[n], a[k], *(const u32*)at, *(const u32*)(at + 8));
            }
        }
    }
}

// out += p * b, where p is 16 x 64 as `outer` gives it. Groups of 8 columns beyond `tiles` are
// zero.
template <int D>
__device__ __forceinline__ void mix(float out[D / 8][4], const float p[8][4], const T (*b)[D + PAD], u32 tiles, u32 lane) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k * 2 < tiles) {
            u32 a[4] = {pack2(p[2 * k][0], p[2 * k][1]), pack2(p[2 * k][2], p[2 * k][3]),
                        pack2(p[2 * k + 1][0], p[2 * k + 1][1]), pack2(p[2 * k + 1][2], p[2 * k + 1][3])};
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                u32 b0, b1;
                load_turned(&b[k * 16 + lane % 16][n * 8], b0, b1);
                mma(out[n], a, b0, b1);
            }
        }
    }
}

// Writes 16 rows of a head.
template <int D>
__device__ __forceinline__ void store_rows(T* to, u64 stride, u32 first, u32 end, const float c[D / 8][4], float scale, u32 lane) {
    u32 r0 = first + lane / 4, r1 = r0 + 8;
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        u32 col = n * 8 + lane % 4 * 2;
        if (r0 < end) *(u32*)(to + r0 * stride + col) = pack2(c[n][0] * scale, c[n][1] * scale);
        if (r1 < end) *(u32*)(to + r1 * stride + col) = pack2(c[n][2] * scale, c[n][3] * scale);
    }
}
#endif
