#pragma once

// Tables of the scalar functions: the bits of 2 / pi (first computed to 4000 bits) for
// functions/trigonometric.inc, and polynomials by segments for functions/segments.inc. The tests of accuracy
// fail if a number is wrong.

namespace sorus::math {

/// Row k holds 2^(step k) 2 / pi, less the multiples of 2^(bits + 1 - first) that give multiples of four
/// quadrants, as a sum of four numbers; `step` is 8 or 32, `first` 16 or 20, `bits` 24 or 53.
template <class T>
inline constexpr T kTwoOverPi[] = {};

template <>
inline constexpr float kTwoOverPi<float>[] = {
    0x1.45f306p-1F,   0x1.b9391p-26F,   0x1.529fc2p-52F,  0x1.d5f47ep-78F,  0x1.45f306p7F,   0x1.b9391p-18F,
    0x1.529fc2p-44F,  0x1.d5f47ep-70F,  0x1.f306dcp7F,    0x1.391054p-18F,  0x1.4fe13ap-43F, 0x1.7d1f54p-68F,
    -0x1.f246c6p6F,   -0x1.df56bp-19F,  -0x1.ec5418p-47F, 0x1.f534dep-72F,  -0x1.236378p7F,  0x1.529fc2p-20F,
    0x1.d5f47ep-46F,  -0x1.65912p-71F,  0x1.391054p6F,    0x1.4fe13ap-19F,  0x1.7d1f54p-44F, -0x1.6447e4p-69F,
    0x1.1054a8p6F,    -0x1.ec5418p-23F, 0x1.f534dep-48F,  -0x1.f924ecp-75F, 0x1.529fc2p4F,   0x1.d5f47ep-22F,
    -0x1.65912p-47F,  0x1.b6c52cp-73F,  -0x1.ac07b2p7F,   0x1.5f47d4p-18F,  0x1.a6ee06p-43F, 0x1.b6295ap-68F,
    -0x1.ec5418p1F,   0x1.f534dep-24F,  -0x1.f924ecp-51F, 0x1.5993c4p-76F,  0x1.3abe9p5F,    -0x1.596448p-21F,
    0x1.b6c52cp-49F,  -0x1.9b0ef2p-74F, -0x1.505c16p7F,   0x1.a6ee06p-19F,  0x1.b6295ap-44F, -0x1.b0ef1cp-70F,
    -0x1.70565ap5F,   0x1.dc0db6p-20F,  0x1.4acc9ep-47F,  0x1.0e4108p-74F,  -0x1.596448p3F,  0x1.b6c52cp-25F,
    -0x1.9b0ef2p-50F, 0x1.041fe6p-76F,
};

template <>
inline constexpr double kTwoOverPi<double>[] = {
    0x1.45f306dc9c883p-1,  -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109, 0x1.e21c820ff28b2p-163,
    0x1.45f306dc9c883p31,  -0x1.6b01ec5417056p-23, -0x1.6447e493ad4cep-77,  0x1.e21c820ff28b2p-131,
    -0x1.b1bbead603d8bp32, 0x1.f47d4d377036ep-22,  -0x1.d6a66c3bc6fbep-76,  -0x1.ae9c5421443aap-136,
    0x1.fc2757d1f534ep32,  -0x1.1f924eb53361ep-23, 0x1.c820ff28b1d5fp-79,   -0x1.443a9e48db91cp-136,
    0x1.f534ddc0db629p32,  0x1.664f10e4107f9p-22,  0x1.163abdebbc562p-76,   -0x1.236e4716f6c8bp-130,
    0x1.b6c52b3278872p31,  0x1.07f9458eaf7afp-26,  -0x1.d4f246dc8e2dfp-83,  0x1.374b801924bbbp-138,
    0x1.3c439041fe516p32,  0x1.d5ef5de2b0db9p-23,  0x1.1b8e909374b8p-78,    0x1.924bba8274648p-134,
    0x1.fe5163abdebbcp32,  0x1.586dc91b8e909p-22,  0x1.ba5c00c925dd4p-77,   0x1.3a32439fc3bd6p-133,
    -0x1.0a21d4f246dc9p29, 0x1.d2126e9700325p-27,  -0x1.a22bec5cdbc6p-81,   -0x1.e214e34ed658cp-136,
    0x1.b7246e3a424ddp32,  0x1.700324977504fp-23,  -0x1.cdbc603c429c7p-77,  0x1.894d39f74411bp-131,
    -0x1.bdb22d1ff9b6dp32, -0x1.15f62e6de301ep-24, -0x1.0a71a76b2c609p-79,  0x1.1046bea5d7689p-133,
    0x1.924bba8274648p26,  0x1.cfe1deb1cb12ap-28,  -0x1.63045df7282b4p-82,  -0x1.44bb7b16638fep-136,
    -0x1.f62e6de301e21p32, -0x1.38d3b5963045ep-22, 0x1.1afa975da2427p-79,   0x1.338e04d68befdp-133,
    0x1.fc3bd63962535p31,  -0x1.822efb9415a29p-25, 0x1.a24274ce38136p-79,   -0x1.741037d8cdc54p-133,
    0x1.62534e7dd1047p31,  -0x1.0568a25dbd8b3p-23, -0x1.c7eca5d040df6p-79,  -0x1.9b8a719f2b318p-134,
    -0x1.177dca0ad144cp32, 0x1.213a671c09ad1p-22,  0x1.f7e413991d63ap-76,   -0x1.f2b3182d8dee8p-130,
    0x1.2ebb4484e99c7p32,  0x1.35a2fbf209cc9p-27,  -0x1.4e33e566305b2p-83,  0x1.08bf177bf2507p-137,
    0x1.d338e04d68bfp31,   -0x1.bec66e29c67cbp-24, 0x1.9cfa4e422fc5ep-79,   -0x1.036be27003b4p-135,
    -0x1.4ba081bec66e3p32, 0x1.8e60d4ce7d272p-22,  0x1.17e2ef7e4a0ecp-78,   0x1.ff897ffde0598p-132,
    0x1.3991d63983534p32,  -0x1.82d8dee81d108p-22, -0x1.b5f13801da001p-78,  0x1.e05980fef2f12p-132,
    0x1.835339f49c846p32,  -0x1.d1081b5f13802p-26, 0x1.2fffbc0b301fep-81,   -0x1.a1dce94beb25cp-137,
    0x1.3908bf177bf25p31,  0x1.d8ffc4bffef03p-27,  -0x1.9fc04343b9d29p-82,  -0x1.f592e092c9813p-136,
    -0x1.081b5f13801dap30, -0x1.0fd33f8086877p-35, -0x1.d297d64b824b2p-90,  -0x1.8130d834f648bp-144,
    -0x1.c00ed00043f4dp31, 0x1.fde5e2316b415p-29,  -0x1.2e092c98130d8p-84,  -0x1.a7b24585ce04dp-139,
    -0x1.0fd33f8086877p29, -0x1.d297d64b824b2p-26, -0x1.8130d834f648bp-80,  -0x1.738132c3402bap-137,
    -0x1.0d0ee74a5f593p28, 0x1.f6d367ecf27cbp-28,  0x1.36e9e8c7ecd3dp-85,   -0x1.00ae9456c229cp-139,
    -0x1.4beb25c12593p31,  -0x1.30d834f648b0cp-24, 0x1.8fd9a797fa8b6p-78,   -0x1.5b08a7028341dp-133,
    -0x1.25930261b069fp31, 0x1.b74f463f669e6p-24,  -0x1.5d28ad8453814p-84,  -0x1.a0e84c2f8c608p-140,
    -0x1.b069ec9161738p31, -0x1.32c3402ba515bp-25, -0x1.14e050683a131p-82,  0x1.0739f78a5292fp-136,
    -0x1.61738132c3403p31, 0x1.16ba93dd63f5fp-23,  0x1.7c5ecf41ce7dep-78,   0x1.4a525d4d7f6bfp-133,
    -0x1.61a015d28ad84p32, -0x1.4e050683a130cp-22, 0x1.ce7de294a4baap-78,   -0x1.404a04ee072a3p-132,
    0x1.7527bac7ebe5fp32,  0x1.7b3d0739f78a5p-24,  0x1.497535fdafd89p-79,   -0x1.ca8bdea7f33eep-138,
};

/// A function on an interval cut into 16 segments, and a polynomial in a - centre for each: the rows are the
/// centre and the coefficients from the highest down. Segment and `scale`: functions/segments.inc. The
/// centres are such that the function there is almost a float, so that the constant coefficient has no error
/// to speak of.
template <int kRows>
struct Segments {
  static constexpr int kCount = kRows, kWidth = 16;
  double scale;
  alignas(64) float row[kRows][16];
};

/// The same in four segments of equal width, from 0 to `end`, the first of them half as wide.
template <int kRows>
struct EvenSegments {
  static constexpr int kCount = kRows, kWidth = 4;
  double scale, end;
  alignas(16) float row[kRows][4];
};

/// gelu(c) = c Phi(c), c <= 0. The centres are near the lower ends, so that little is lost in adding up, and
/// the linear coefficients, too, are almost floats.
inline constexpr EvenSegments<11> kNormalTail = {
    -3.5 / 3.6,
    -3.6,
    {
        {0, -0x1.455454p0F, -0x1.2f5366p1F, -0x1.bab384p1F},
        {-0x1.f79eacp-13F, -0x1.0ec69ap-19F, 0x1.9dd456p-17F, -0x1.889d3ep-17F},
        {-0x1.70fda4p-10F, 0x1.ba6652p-11F, -0x1.8777d6p-12F, 0x1.8b918ap-14F},
        {-0x1.d4f76ep-14F, -0x1.362858p-11F, -0x1.d9101ap-15F, 0x1.ab615p-14F},
        {0x1.45b698p-7F, -0x1.b3afd8p-8F, 0x1.02586p-9F, -0x1.ba875p-17F},
        {-0x1.919634p-18F, -0x1.5ebcc4p-8F, 0x1.7cfae4p-8F, -0x1.c187e8p-11F},
        {-0x1.1058dap-4F, 0x1.1d3ae4p-5F, 0x1.f03998p-9F, -0x1.5cc14cp-9F},
        {-0x1.11d49p-25F, 0x1.70222cp-4F, -0x1.f74d96p-7F, -0x1.2f25d6p-8F},
        {0x1.988454p-2F, 0x1.189636p-5F, -0x1.647aeap-5F, -0x1.49012cp-8F},
        {0x1p-1F, -0x1.fcbf32p-4F, -0x1.8a5edcp-5F, -0x1.a55014p-9F},
        {-0.0F, -0x1.09333p-3F, -0x1.599136p-6F, -0x1.ec4c26p-11F},
    }};

/// gelu_tanh(c) = c / (1 + e^-w), w = 2 sqrt(2 / pi) (c + 0.044715 c^3), c <= 0, likewise.
inline constexpr EvenSegments<11> kGateTail = {
    -3.5 / 3.6,
    -3.6,
    {
        {0, -0x1.4e9e84p0F, -0x1.240802p1F, -0x1.bb5b6ap1F},
        {-0x1.083d92p-12F, 0x1.0c205ep-15F, -0x1.41d246p-17F, -0x1.1504c6p-16F},
        {-0x1.8360c2p-10F, 0x1.aaa7bap-11F, -0x1.23344ap-12F, 0x1.584788p-14F},
        {-0x1.f88f1ap-14F, -0x1.0b7d82p-10F, -0x1.32f566p-12F, 0x1.2d646p-13F},
        {0x1.4d17c6p-7F, -0x1.9b1cfcp-8F, 0x1.a457fap-10F, 0x1.63f6f4p-15F},
        {-0x1.b5393ap-18F, -0x1.c99ebap-9F, 0x1.b277dep-8F, -0x1.d5add4p-11F},
        {-0x1.11b1fep-4F, 0x1.2021e8p-5F, 0x1.d2c46ap-8F, -0x1.781e1ap-9F},
        {-0x1.1f0492p-25F, 0x1.58df84p-4F, -0x1.a80606p-7F, -0x1.386114p-8F},
        {0x1.988454p-2F, 0x1.a18c8ep-6F, -0x1.894e36p-5F, -0x1.38af5p-8F},
        {0x1p-1F, -0x1.0290fap-3F, -0x1.d1bcf8p-5F, -0x1.688368p-9F},
        {-0.0F, -0x1.005bdp-3F, -0x1.9f8b28p-6F, -0x1.7432ap-11F},
    }};

/// Minus the derivative of gelu, likewise.
inline constexpr EvenSegments<11> kNormalSlope = {
    -3.5 / 3.6,
    -3.6,
    {
        {0, -0x1.3c2598p0F, -0x1.22c362p1F, -0x1.c515eep1F},
        {-0x1.820e8cp-11F, 0x1.ae1d94p-11F, -0x1.7c5622p-12F, 0x1.af8996p-14F},
        {0x1.43757ep-11F, -0x1.7252a6p-10F, 0x1.07ac08p-11F, -0x1.21aa6cp-12F},
        {0x1.454ea2p-7F, -0x1.8cce78p-8F, 0x1.58be4p-9F, -0x1.045f16p-12F},
        {0x1.686044p-13F, 0x1.480adep-9F, 0x1.36b68ep-9F, -0x1.770abp-11F},
        {-0x1.e9e0d6p-5F, 0x1.4bb994p-5F, -0x1.66c02cp-7F, 0x1.0d2324p-11F},
        {0x1.9961a6p-18F, 0x1.1674a6p-5F, -0x1.1c652p-5F, 0x1.103d2cp-8F},
        {0x1.10585ap-2F, -0x1.144d2p-3F, -0x1.c57d62p-6F, 0x1.2fb494p-7F},
        {0x1.de9836p-26F, -0x1.23376ep-2F, 0x1.464884p-5F, 0x1.775b7p-7F},
        {-0x1.988454p-1F, -0x1.69fed2p-4F, 0x1.874346p-4F, 0x1.05cf54p-7F},
        {-0x1p-1F, 0x1.f13c3ep-4F, 0x1.d3d6fep-5F, 0x1.45cc22p-9F},
    }};

/// Minus the derivative of gelu_tanh, likewise.
inline constexpr EvenSegments<11> kGateSlope = {
    -3.5 / 3.7,
    -3.7,
    {
        {0, -0x1.49041p0F, -0x1.2a9974p1F, -0x1.d2785p1F},
        {-0x1.a74968p-11F, 0x1.e00298p-11F, -0x1.94346p-13F, 0x1.ea47acp-15F},
        {0x1.2e23dep-11F, -0x1.2df974p-9F, 0x1.0d909cp-11F, -0x1.f7334ep-14F},
        {0x1.53956cp-7F, -0x1.4b965ep-8F, 0x1.e8504cp-10F, -0x1.72ac16p-12F},
        {0x1.6ea394p-13F, 0x1.7cfd78p-8F, 0x1.5dcd1ep-10F, -0x1.32fcfap-11F},
        {-0x1.f510bep-5F, 0x1.3ac6c2p-5F, -0x1.4b79f6p-7F, 0x1.63de2cp-11F},
        {0x1.c12218p-18F, 0x1.62ee32p-6F, -0x1.f59ad2p-6F, 0x1.155e86p-8F},
        {0x1.11b174p-2F, -0x1.1ca17ep-3F, -0x1.6786b2p-6F, 0x1.0f6836p-7F},
        {0x1.0e08f4p-25F, -0x1.0c0f66p-2F, 0x1.5dc398p-5F, 0x1.257644p-7F},
        {-0x1.988454p-1F, -0x1.fdc83p-5F, 0x1.782316p-4F, 0x1.619832p-8F},
        {-0x1p-1F, 0x1.0007d8p-3F, 0x1.aa3dc8p-5F, 0x1.771846p-10F},
    }};

/// 2 Phi(-a) e^(a^2 / 2), Phi the normal distribution function; a below 15, scale 1.
inline constexpr Segments<8> kMillsRatio = {
    1,
    {
        {0x1.3fa9p0F, 0x1.c0518p0F, 0x1.1ff24p1F, 0x1.5fe1cp1F, 0x1.bfdf4p1F, 0x1.1fe0cp2F, 0x1.5ff96p2F,
         0x1.9fe7p2F, 0x1.fff7cp2F, 0x1.400d2p3F, 0x1.800a2p3F, 0x1.bfdacp3F, 0x1.0048p-3F, 0x1.804d8p-2F,
         0x1.3fa84p-1F, 0x1.bff78p-1F},
        {0x1.3f79e4p-10F, 0x1.e42768p-12F, 0x1.8e851ep-13F, 0x1.6089f8p-14F, 0x1.d7ae2cp-16F, 0x1.02d088p-17F,
         0x1.5093e2p-19F, 0x1.f571ccp-21F, 0x1.19e996p-22F, 0x1.0bda88p-24F, 0x1.41383p-26F, 0x1.c8de74p-28F,
         0x1.f35c8ep-7F, 0x1.0f80e2p-7F, 0x1.2fae2ap-8F, 0x1.5c91c8p-9F},
        {-0x1.065908p-8F, -0x1.b3906ap-10F, -0x1.89dd0ep-11F, -0x1.7cb634p-12F, -0x1.20c552p-13F,
         -0x1.718beep-15F, -0x1.13ae88p-16F, -0x1.d22744p-18F, -0x1.35e26p-19F, -0x1.6472aap-21F,
         -0x1.f7e44cp-23F, -0x1.9e2d3ap-24F, -0x1.46fadcp-5F, -0x1.75de08p-6F, -0x1.b86aacp-7F,
         -0x1.0955bap-7F},
        {0x1.90cf1cp-7F, 0x1.717054p-8F, 0x1.70f94p-9F, 0x1.8826cp-10F, 0x1.500b96p-11F, 0x1.fb180ep-13F,
         0x1.b6655cp-14F, 0x1.a6e472p-15F, 0x1.49dcccp-16F, 0x1.d08d0cp-18F, 0x1.8549fap-19F, 0x1.725d1cp-20F,
         0x1.89c1bp-4F, 0x1.dbebdep-5F, 0x1.28162ap-5F, 0x1.78b2f2p-6F},
        {-0x1.1fba7p-5F, -0x1.28ec1cp-6F, -0x1.49e1a4p-7F, -0x1.83e842p-8F, -0x1.7ed17ep-9F, -0x1.563496p-10F,
         -0x1.58147p-11F, -0x1.7bb11ap-12F, -0x1.619572p-13F, -0x1.30224ep-14F, -0x1.2dbf0cp-15F,
         -0x1.4bfde6p-16F, -0x1.b00f0cp-3F, -0x1.15a4e8p-3F, -0x1.6ef73ep-4F, -0x1.efabc4p-5F},
        {0x1.7c0c5cp-4F, 0x1.bcb80ep-5F, 0x1.15c4fep-5F, 0x1.6ca2f6p-6F, 0x1.a2e874p-7F, 0x1.c0382ap-8F,
         0x1.07f144p-8F, 0x1.4edcap-9F, 0x1.7636fp-10F, 0x1.8ac374p-11F, 0x1.d0d794p-12F, 0x1.28307p-12F,
         0x1.a4ca94p-2F, 0x1.220f9cp-2F, 0x1.9aa3fcp-3F, 0x1.28c51ap-3F},
        {-0x1.c51432p-3F, -0x1.320ce2p-3F, -0x1.b423a2p-4F, -0x1.43562cp-4F, -0x1.b6391ep-5F, -0x1.1c1976p-5F,
         -0x1.8b26fep-6F, -0x1.21cf44p-6F, -0x1.86c454p-7F, -0x1.fbca54p-8F, -0x1.63bd66p-8F, -0x1.06f8d2p-8F,
         -0x1.5e5fa2p-1F, -0x1.06a9bcp-1F, -0x1.9369a6p-2F, -0x1.3bb444p-2F},
        {0x1.d8e5dp-2F, 0x1.7b2ap-2F, 0x1.3ab994p-2F, 0x1.0bcc82p-2F, 0x1.b3b3p-3F, 0x1.5b7d78p-3F,
         0x1.2024c6p-3F, 0x1.ebc24ap-4F, 0x1.926fbep-4F, 0x1.439686p-4F, 0x1.0e76c4p-4F, 0x1.d0adeep-5F,
         0x1.d0a2dap-1F, 0x1.84a324p-1F, 0x1.4b407p-1F, 0x1.1e7eccp-1F},
    }};

/// tanh(a); a below 9.5, scale 15 / 9.5.
inline constexpr Segments<8> kTanh = {
    15 / 9.5,
    {
        {0x1.958db4p-1F, 0x1.1bdd24p0F, 0x1.6cf412p0F, 0x1.bdec98p0F, 0x1.1b9dcep1F, 0x1.6c9052p1F,
         0x1.bda0cp1F, 0x1.0760d4p2F, 0x1.444b64p2F, 0x1.95499ep2F, 0x1.e6a5bcp2F, 0x1.1b9c12p3F, 0,
         0x1.e71166p-3F, 0x1.955f26p-2F, 0x1.1bc262p-1F},
        {0x1.20ad3ap-8F, 0x1.3298dep-6F, 0x1.327bbep-7F, 0x1.16ceaap-9F, -0x1.655ac2p-11F, -0x1.f0bb8p-12F,
         -0x1.4d91d8p-13F, -0x1.899638p-15F, -0x1.ed53a4p-18F, -0x1.3a4662p-21F, -0x1.8ecaa6p-25F,
         -0x1.fbb446p-29F, -0x1.981d0ap-6F, -0x1.153a26p-4F, -0x1.13b6eap-4F, -0x1.3fd57ep-5F},
        {-0x1.016dp-4F, -0x1.1563bep-5F, -0x1.a89f46p-8F, 0x1.cd9994p-9F, 0x1.0d9a72p-8F, 0x1.a84fd6p-10F,
         0x1.040024p-11F, 0x1.2b8de8p-13F, 0x1.77867ep-16F, 0x1.dec6bcp-20F, 0x1.2d6368p-23F, 0x1.84bd1cp-27F,
         0x1.1a0702p-3F, 0x1.3c2422p-4F, 0x1.4ecc5cp-7F, -0x1.53ff02p-5F},
        {0x1.618246p-4F, 0x1.843282p-8F, -0x1.7e32b4p-6F, -0x1.83c5a2p-6F, -0x1.aa9b2p-7F, -0x1.15f50ap-8F,
         -0x1.45c68p-10F, -0x1.72d708p-12F, -0x1.bb5434p-15F, -0x1.1a6c4ap-18F, -0x1.6359dcp-22F,
         -0x1.cac72p-26F, -0x1.75bc38p-12F, 0x1.14b896p-3F, 0x1.5b5c86p-3F, 0x1.3ded7p-3F},
        {0x1.d6c276p-5F, 0x1.c5573p-4F, 0x1.8545d2p-4F, 0x1.04dd2ep-4F, 0x1.d83f28p-6F, 0x1.1da45ap-7F,
         0x1.483bacp-9F, 0x1.7399bep-11F, 0x1.bb171cp-14F, 0x1.1a2874p-17F, 0x1.6329b6p-21F, 0x1.ca3398p-25F,
         -0x1.5551e2p-2F, -0x1.0df86p-2F, -0x1.50e2eap-3F, -0x1.e6f0e2p-5F},
        {-0x1.7d922ap-2F, -0x1.23700cp-2F, -0x1.78cb76p-3F, -0x1.bd2712p-4F, -0x1.73c318p-5F, -0x1.b250c4p-7F,
         -0x1.ee444ep-9F, -0x1.1706e4p-10F, -0x1.4cf67ep-13F, -0x1.a7ff96p-17F, -0x1.0ada7p-20F,
         -0x1.5842aap-24F, -0x1.7ee97ap-23F, -0x1.c408ep-3F, -0x1.4ad526p-2F, -0x1.80eb7cp-2F},
        {0x1.213f0ep-1F, 0x1.6aa422p-2F, 0x1.a700ccp-3F, 0x1.d9579cp-4F, 0x1.7cb6c4p-5F, 0x1.b53e1ep-7F,
         0x1.ef3414p-9F, 0x1.172cfep-10F, 0x1.4cfedcp-13F, 0x1.a8029cp-17F, 0x1.0adb36p-20F, 0x1.584536p-24F,
         0x1p0F, 0x1.e4193ep-1F, 0x1.b7751ap-1F, 0x1.7e1c9ep-1F},
        {0x1.51b676p-1F, 0x1.9b786ap-1F, 0x1.c811dap-1F, 0x1.e18216p-1F, 0x1.f3f60ep-1F, 0x1.fc9294p-1F,
         0x1.ff082ap-1F, 0x1.ffba3p-1F, 0x1.fff598p-1F, 0x1.ffff2cp-1F, 0x1.fffffp-1F, 0x1.fffffep-1F, 0,
         0x1.de1688p-3F, 0x1.8171b4p-2F, 0x1.01e19cp-1F},
    }};

/// erf(a), in the segment at zero erf(a) - a; a below 4, scale 3.75.
inline constexpr Segments<8> kErf = {
    3.75,
    {
        {0x1.555f34p-2F, 0x1.ddb5dep-2F, 0x1.333312p-1F, 0x1.7755bcp-1F, 0x1.de2d9ap-1F, 0x1.331088p0F,
         0x1.77a022p0F, 0x1.bbaa66p0F, 0x1.110644p1F, 0x1.553422p1F, 0x1.999e44p1F, 0x1.de1334p1F, 0,
         0x1.9a4c44p-4F, 0x1.550778p-3F, 0x1.de399ap-3F},
        {-0x1.885e2ep-5F, -0x1.a115e8p-5F, -0x1.653ba4p-5F, -0x1.daf558p-6F, -0x1.93fcc8p-9F, 0x1.3ee03ep-6F,
         0x1.4c2eaap-6F, 0x1.3d9956p-7F, -0x1.d364ccp-10F, -0x1.0c9cb4p-9F, -0x1.636d7p-12F, -0x1.7a31b4p-16F,
         -0x1.5f4772p-8F, -0x1.2cf15ep-6F, -0x1.e0d2c8p-6F, -0x1.3be21p-5F},
        {0x1.d88f5p-5F, 0x1.1ebb4ap-6F, -0x1.5745dep-6F, -0x1.9bebd6p-5F, -0x1.1afed6p-4F, -0x1.b42a58p-5F,
         -0x1.35241ap-6F, 0x1.69596p-8F, 0x1.903326p-7F, 0x1.ed8984p-9F, 0x1.bcc7b8p-12F, 0x1.73561ep-16F,
         0x1.cfd42cp-4F, 0x1.b71864p-4F, 0x1.8ffeeep-4F, 0x1.57d194p-4F},
        {0x1.3f248cp-3F, 0x1.72b30cp-3F, 0x1.6f994p-3F, 0x1.3d9742p-3F, 0x1.79921cp-4F, 0x1.adcb9ep-8F,
         -0x1.56d84cp-5F, -0x1.8e5292p-5F, -0x1.a7ca7ap-6F, -0x1.2e34aep-8F, -0x1.89568ep-12F,
         -0x1.ff715ap-17F, -0x1.d170a8p-17F, 0x1.c74872p-5F, 0x1.6f5e2ap-4F, 0x1.ec68aap-4F},
        {-0x1.0c098cp-2F, -0x1.5def2p-3F, -0x1.2cf61ep-4F, 0x1.0d5146p-6F, 0x1.df6fdep-4F, 0x1.57154p-3F,
         0x1.27c37p-3F, 0x1.7eb4d8p-4F, 0x1.07d622p-5F, 0x1.0b0c6p-8F, 0x1.118874p-12F, 0x1.270956p-17F,
         -0x1.812738p-2F, -0x1.75a7e8p-2F, -0x1.61d864p-2F, -0x1.44f11ap-2F},
        {-0x1.58ae42p-2F, -0x1.b19cd6p-2F, -0x1.e3aeap-2F, -0x1.eee564p-2F, -0x1.c316e8p-2F, -0x1.48c8f4p-2F,
         -0x1.89d0fep-3F, -0x1.8d637ap-4F, -0x1.a0d36ep-6F, -0x1.437178p-9F, -0x1.0e337cp-13F,
         -0x1.ee8c38p-19F, -0x1.543f3ep-30F, -0x1.ca596ep-4F, -0x1.764962p-3F, -0x1.fefbccp-3F},
        {0x1.027b38p0F, 0x1.d0bca6p-1F, 0x1.9311b2p-1F, 0x1.518c2ep-1F, 0x1.e2fedp-2F, 0x1.121bbcp-2F,
         0x1.0c65cap-3F, 0x1.ca9862p-5F, 0x1.86d58ep-7F, 0x1.e55a9cp-11F, 0x1.51c0b4p-15F, 0x1.08dab2p-20F,
         0x1.06eba8p-3F, 0x1.1dfb26p0F, 0x1.18f722p0F, 0x1.11893cp0F},
        {0x1.7363fep-2F, 0x1.f65c32p-2F, 0x1.352c86p-1F, 0x1.667848p-1F, 0x1.a079d8p-1F, 0x1.d2022p-1F,
         0x1.ec8dbap-1F, 0x1.f8b462p-1F, 0x1.feb0dcp-1F, 0x1.ffea96p-1F, 0x1.ffff36p-1F, 0x1.fffffcp-1F, 0,
         0x1.cd6d82p-4F, 0x1.7d486cp-3F, 0x1.08fc2p-2F},
    }};

}  // namespace sorus::math
