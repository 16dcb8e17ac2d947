#pragma once

// Tables of the scalar functions: the bits of 2 / pi (first computed to 4000 bits) for
// functions/trigonometric.inc. The test of that file fails if one of them is wrong.

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

}  // namespace sorus::math
