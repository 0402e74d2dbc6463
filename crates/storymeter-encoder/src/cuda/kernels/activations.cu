// Activations and their slopes.
#define GELU_ERF 0
#define GELU_TANH 1
#define SILU 4
#define TANH 5

__device__ __forceinline__ float activation(float x, u32 kind) {
    if (kind == GELU_ERF) return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    if (kind == GELU_TANH) return 0.5f * x * (1.0f + tanhf(0.7978846f * (x + 0.044715f * x * x * x)));
    if (kind == SILU) return x / (1.0f + expf(-x));
    if (kind == TANH) return tanhf(x);
    return fmaxf(x, 0.0f);
}

__device__ __forceinline__ float slope(float x, u32 kind) {
    if (kind == GELU_ERF)
        return 0.5f * (1.0f + erff(x * 0.70710678f)) + x * 0.3989423f * __expf(-0.5f * x * x);
    if (kind == GELU_TANH) {
        float t = tanhf(0.7978846f * (x + 0.044715f * x * x * x));
        return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978846f * (1.0f + 3.0f * 0.044715f * x * x);
    }
    if (kind == SILU) {
        float logistic = 1.0f / (1.0f + expf(-x));
        return logistic * (1.0f + x * (1.0f - logistic));
    }
    if (kind == TANH) {
        float t = tanhf(x);
        return 1.0f - t * t;
    }
    return x > 0.0f ? 1.0f : 0.0f;
}
