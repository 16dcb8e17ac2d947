#pragma once

#include <optional>

#include "sorus/core/tensor.h"
#include "sorus/data/transform.h"

/// Operations of map() on sound.
///
/// A row is a waveform (..., time), a spectrogram (..., frequency, time), or one of complex numbers
/// (..., frequency, time, 2). Results are float64 for float64 and float32 for all else; all is computed in
/// float64. What is refused is so with a ShapeError, a DTypeError or, in the arguments, a ValueError.
namespace sorus::data::audio {

using TransformPtr = std::shared_ptr<const Transform>;

/// How a signal goes on outside its ends: zeros, the last sample, mirrored without it, or with it.
enum class Border : uint8_t { kConstant, kEdge, kReflect, kSymmetric };
enum class Window : uint8_t { kBartlett, kBlackman, kHamming, kHann, kKaiser };
enum class MelType : uint8_t { kHtk, kSlaney };
/// kSlaney: each filter is divided by its width in Hz.
enum class MelNorm : uint8_t { kNone, kSlaney };

/// The matrix (mels, coefficients) of the discrete cosine transform of type 2, float32; with `ortho` its
/// columns have length 1.
[[nodiscard]] SORUS_API Tensor create_dct(int64_t coefficients, int64_t mels, bool ortho = false);
struct MelBank {
  int64_t mels = 128;
  int64_t sample_rate = 16000;
  double f_min = 0;
  std::optional<double> f_max = {};  ///< none: half the sample rate, rounded down
  MelNorm norm = MelNorm::kNone;
  MelType type = MelType::kHtk;
};
/// Triangles evenly spread on the mel scale: (frequencies, mels), float32.
[[nodiscard]] SORUS_API Tensor melscale_fbanks(int64_t frequencies, const MelBank& bank);
/// Triangles evenly spread over frequencies: (frequencies, filters), float32.
[[nodiscard]] SORUS_API Tensor linear_fbanks(int64_t frequencies, double f_min, double f_max, int64_t filters,
                                             int64_t sample_rate);

/// y[n] = (b[0] x[n] + b[1] x[n-1] + ... - a[1] y[n-1] - ...) / a[0]; `clamp`: cut off to [-1, 1]. As many a
/// as b, a[0] not 0. Floating types alone, as for all filters.
[[nodiscard]] SORUS_API TransformPtr lfilter(std::vector<double> a, std::vector<double> b, bool clamp = true);
/// The filter forward, and then backward over what it gave, so that nothing is late.
[[nodiscard]] SORUS_API TransformPtr filtfilt(std::vector<double> a, std::vector<double> b,
                                              bool clamp = true);
[[nodiscard]] SORUS_API TransformPtr biquad(double b0, double b1, double b2, double a0, double a1, double a2);
/// Filters of two poles, after Robert Bristow-Johnson's formulas; `q` says how narrow, in (0, 1].
[[nodiscard]] SORUS_API TransformPtr allpass_biquad(int64_t sample_rate, double frequency, double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr band_biquad(int64_t sample_rate, double frequency, double q = 0.707,
                                                 bool noise = false);
[[nodiscard]] SORUS_API TransformPtr bandpass_biquad(int64_t sample_rate, double frequency, double q = 0.707,
                                                     bool constant_skirt = false);
[[nodiscard]] SORUS_API TransformPtr bandreject_biquad(int64_t sample_rate, double frequency,
                                                       double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr bass_biquad(int64_t sample_rate, double gain, double frequency = 100,
                                                 double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr treble_biquad(int64_t sample_rate, double gain, double frequency = 3000,
                                                   double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr equalizer_biquad(int64_t sample_rate, double frequency, double gain,
                                                      double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr highpass_biquad(int64_t sample_rate, double frequency, double q = 0.707);
[[nodiscard]] SORUS_API TransformPtr lowpass_biquad(int64_t sample_rate, double frequency, double q = 0.707);
/// Undoes the emphasis of compact discs: 44100 or 48000.
[[nodiscard]] SORUS_API TransformPtr deemph_biquad(int64_t sample_rate);
/// Playback of vinyl records: 44100, 48000, 88200 or 96000.
[[nodiscard]] SORUS_API TransformPtr riaa_biquad(int64_t sample_rate);

/// To decibels: 10 (20 for magnitudes) times the logarithm of x / `reference`, and at most `top_db` below the
/// largest of a spectrogram of up to three axes.
[[nodiscard]] SORUS_API TransformPtr amplitude_to_db(bool power = true, double reference = 1,
                                                     double least = 1e-10, double top_db = 80);
[[nodiscard]] SORUS_API TransformPtr db_to_amplitude(double reference, double power);
/// More of what is soft, without clipping; `amount` in [0, 100].
[[nodiscard]] SORUS_API TransformPtr contrast(double amount = 75);
/// `shift` added; with a `limiter` peaks on that side are pressed together before.
[[nodiscard]] SORUS_API TransformPtr dc_shift(double shift, std::optional<double> limiter = {});
[[nodiscard]] SORUS_API TransformPtr gain(double decibels = 1);
enum class GainType : uint8_t { kAmplitude, kPower, kDb };
/// Louder or softer, cut off to [-1, 1].
[[nodiscard]] SORUS_API TransformPtr volume(double gain, GainType type = GainType::kAmplitude);
enum class FadeShape : uint8_t { kQuarterSine, kHalfSine, kLinear, kLogarithmic, kExponential };
[[nodiscard]] SORUS_API TransformPtr fade(int64_t in, int64_t out, FadeShape shape = FadeShape::kLinear);
/// Distortion as of an amplifier beyond its range.
[[nodiscard]] SORUS_API TransformPtr overdrive(double gain = 20, double color = 20);
enum class Density : uint8_t { kTriangular, kRectangular, kGaussian };
/// Noise of the size of a step of 16 bits, and then rounding to such steps; with `shaping` the error of each
/// sample is added to the next.
[[nodiscard]] SORUS_API TransformPtr dither(Density density = Density::kTriangular, bool shaping = false);
/// [-1, 1] to `channels` levels, int32.
[[nodiscard]] SORUS_API TransformPtr mu_law_encoding(int64_t channels = 256);
[[nodiscard]] SORUS_API TransformPtr mu_law_decoding(int64_t channels = 256);
/// Complex numbers (..., 2) to their magnitudes, to a power, and their angles: two columns.
[[nodiscard]] SORUS_API OperationPtr magphase(double power = 1);
[[nodiscard]] SORUS_API TransformPtr angle();
[[nodiscard]] SORUS_API TransformPtr complex_norm(double power = 1);

/// How a spectrogram is made: short stretches of the signal, one each `hop` samples, times a window, to their
/// Fourier transforms.
struct Frames {
  int64_t n_fft = 400;
  std::optional<int64_t> win_length = {};  ///< none: n_fft
  std::optional<int64_t> hop_length = {};  ///< none: half of win_length
  int64_t pad = 0;                         ///< zeros at both ends
  Window window = Window::kHann;
  bool normalized = false;  ///< divided by the root of the sum of the window's squares
  bool center = true;       ///< frame t is around sample t * hop: n_fft / 2 more at both ends
  Border border = Border::kReflect;
  bool onesided = true;
};
/// (..., time) to (..., frequency, frames) of magnitudes to a power, or with power 0 complex numbers.
[[nodiscard]] SORUS_API TransformPtr spectrogram(const Frames& frames = {}, double power = 2);
/// Complex numbers to the waveform whose spectrogram is nearest to them; `length`: so many samples.
[[nodiscard]] SORUS_API TransformPtr inverse_spectrogram(const Frames& frames = {},
                                                         std::optional<int64_t> length = {});
/// The middle of each frame's magnitudes, in Hz: (..., 1, frames).
[[nodiscard]] SORUS_API TransformPtr spectral_centroid(int64_t sample_rate, const Frames& frames = {});
struct GriffinLimOptions {
  int64_t iterations = 32;
  double power = 2;
  double momentum = 0.99;
  std::optional<int64_t> length = {};
  bool random_start = true;
};
/// A waveform whose magnitudes are these, after Griffin and Lim, with Perraudin's momentum.
[[nodiscard]] SORUS_API TransformPtr griffin_lim(const Frames& frames = {},
                                                 const GriffinLimOptions& options = {});

/// (..., frequency, time) to (..., mels, time).
[[nodiscard]] SORUS_API TransformPtr mel_scale(const MelBank& bank = {}, int64_t frequencies = 201);
struct Descent {
  int64_t steps = 100000;
  double least_loss = 1e-5;
  double least_change = 1e-8;
  double rate = 0.1;
  double momentum = 0.9;
};
/// A spectrogram whose mel_scale() is near to the row, by gradient descent from a random one:
/// (channels, frequency, time).
[[nodiscard]] SORUS_API TransformPtr inverse_mel_scale(int64_t frequencies, const MelBank& bank = {},
                                                       const Descent& descent = {});
[[nodiscard]] SORUS_API TransformPtr mel_spectrogram(const Frames& frames = {}, double power = 2,
                                                     const MelBank& bank = {});
/// Cepstral coefficients: the cosine transform of a spectrogram on the mel scale in decibels, or
/// `log`arithms.
[[nodiscard]] SORUS_API TransformPtr mfcc(int64_t coefficients = 40, const Frames& frames = {},
                                          double power = 2, const MelBank& bank = {}, bool ortho = true,
                                          bool log = false);
struct LinearBank {
  int64_t filters = 128;
  int64_t sample_rate = 16000;
  double f_min = 0;
  std::optional<double> f_max = {};
};
[[nodiscard]] SORUS_API TransformPtr lfcc(int64_t coefficients = 40, const Frames& frames = {},
                                          double power = 2, const LinearBank& bank = {}, bool ortho = true,
                                          bool log = false);

/// A complex spectrogram `rate` times as fast, at the same pitch. `advance`: by how much the phase of each
/// frequency goes on from frame to frame.
[[nodiscard]] SORUS_API TransformPtr phase_vocoder(double rate, std::vector<double> advance);
/// The same with the phases of a spectrogram with this hop.
[[nodiscard]] SORUS_API TransformPtr time_stretch(int64_t hop_length, double rate);
/// `steps` of an octave of `per_octave` higher, as long as before.
[[nodiscard]] SORUS_API TransformPtr pitch_shift(int64_t sample_rate, int64_t steps, int64_t per_octave = 12,
                                                 const Frames& frames = {.n_fft = 512});
struct ResampleOptions {
  bool kaiser = false;  ///< a Kaiser window, else the square of a cosine
  int64_t zeros = 6;    ///< crossings of zero on each side of the filter
  double rolloff = 0.99;
  std::optional<double> beta = {};
};
/// To another sampling rate, by a windowed sinc. Rates count as integers.
[[nodiscard]] SORUS_API TransformPtr resample(double from, double to, const ResampleOptions& options = {});

/// (..., time, features) less the mean of the frames around, and with `variance` divided by their deviation.
struct CmnWindow {
  int64_t size = 600;
  int64_t least = 100;
  bool center = false;
  bool variance = false;
};
[[nodiscard]] SORUS_API TransformPtr sliding_window_cmn(const CmnWindow& window = {});
/// The slope of each feature over time, by least squares: (..., feature, time).
[[nodiscard]] SORUS_API TransformPtr compute_deltas(int64_t window = 5, Border border = Border::kEdge);
struct PitchSearch {
  double frame_time = 0.01;
  int64_t median = 30;  ///< frames that the median is taken of
  double low = 85;
  double high = 3400;
};
/// The pitch of each frame in Hz, by cross-correlation.
[[nodiscard]] SORUS_API TransformPtr detect_pitch_frequency(int64_t sample_rate,
                                                            const PitchSearch& search = {});
struct VoiceSearch {
  double trigger_level = 7;
  double trigger_time = 0.25;
  double search_time = 1;
  double allowed_gap = 0.25;
  double pre_trigger_time = 0;
  double boot_time = 0.35;
  double noise_up_time = 0.1;
  double noise_down_time = 0.01;
  double noise_reduction = 1.35;
  double measure_frequency = 20;
  std::optional<double> measure_duration = {};  ///< none: twice the period of measuring
  double measure_smooth_time = 0.4;
  double high_pass = 50;
  double low_pass = 6000;
  double high_pass_lifter = 150;
  double low_pass_lifter = 2000;
};
/// What stands before the first voice cut off, as SoX does it.
[[nodiscard]] SORUS_API OperationPtr voice_activity(int64_t sample_rate, const VoiceSearch& search = {});

/// `width` frequencies (axis 1) or times (axis 2) of (channel, frequency, time), from `start` on, become
/// `value`; axes count from the end of the shape.
[[nodiscard]] SORUS_API TransformPtr mask_along_axis(int64_t start, int64_t width, double value, int axis);
/// For each channel a mask of its own, at a random place and less than `most` wide.
[[nodiscard]] SORUS_API TransformPtr mask_along_axis_iid(int64_t most, double value, int axis);

/// Sweeping notches; a sine, else a triangle, drives them.
struct Sweep {
  double gain_in = 0.4;
  double gain_out = 0.74;
  double delay_ms = 3;
  double decay = 0.4;
  double speed = 0.5;
  bool sinusoidal = true;
};
[[nodiscard]] SORUS_API TransformPtr phaser(int64_t sample_rate, const Sweep& sweep = {});
struct FlangerOptions {
  double delay = 0;  ///< in ms
  double depth = 2;  ///< in ms
  double regen = 0;  ///< in percent, like width and phase
  double width = 71;
  double speed = 0.5;  ///< in Hz
  double phase = 25;
  bool sinusoidal = true;
  bool linear = true;  ///< interpolation of delays, else quadratic
};
/// A delayed copy on top, whose delay sweeps: (..., channel, time), up to four channels.
[[nodiscard]] SORUS_API TransformPtr flanger(int64_t sample_rate, const FlangerOptions& options = {});

}  // namespace sorus::data::audio
