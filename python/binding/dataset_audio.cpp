#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "binding/dataset.h"
#include "sorus/data/audio/audio.h"

/// Operations on sound as Python sees them: in `_core.data`, all names beginning with `audio_`. The classes
/// of sorus.dataset.audio are thin over these; enumerations come as their numbers.
namespace sorus::python {

namespace audio = data::audio;
using MaybeInt = std::optional<int64_t>;
using MaybeReal = std::optional<double>;

namespace {

PyOperation made(data::OperationPtr operation) { return {std::move(operation)}; }

/// Binds a function of C++ that makes an operation and takes plain arguments.
template <class... Arguments, class Made>
void bind_plain(nb::module_& m, const char* name, Made (*make)(Arguments...)) {
  m.def(name, [make](Arguments... arguments) { return made(make(std::move(arguments)...)); });
}

void bind_options(nb::module_& m) {
  nb::class_<audio::Frames>(m, "AudioFrames")
      .def(
          "__init__",
          [](audio::Frames* self, int64_t n_fft, MaybeInt win_length, MaybeInt hop_length, int64_t pad,
             int window, bool normalized, bool center, int border, bool onesided) {
            new (self) audio::Frames{n_fft,
                                     win_length,
                                     hop_length,
                                     pad,
                                     static_cast<audio::Window>(window),
                                     normalized,
                                     center,
                                     static_cast<audio::Border>(border),
                                     onesided};
          },
          nb::arg("n_fft"), nb::arg("win_length").none(), nb::arg("hop_length").none(), nb::arg("pad"),
          nb::arg("window"), nb::arg("normalized"), nb::arg("center"), nb::arg("border"),
          nb::arg("onesided"));
  nb::class_<audio::MelBank>(m, "AudioMelBank")
      .def(
          "__init__",
          [](audio::MelBank* self, int64_t mels, int64_t sample_rate, double f_min, MaybeReal f_max, int norm,
             int type) {
            new (self) audio::MelBank{mels,
                                      sample_rate,
                                      f_min,
                                      f_max,
                                      static_cast<audio::MelNorm>(norm),
                                      static_cast<audio::MelType>(type)};
          },
          nb::arg("mels"), nb::arg("sample_rate"), nb::arg("f_min"), nb::arg("f_max").none(), nb::arg("norm"),
          nb::arg("type"));
}

void bind_banks(nb::module_& m) {
  m.def("audio_create_dct", [](int64_t coefficients, int64_t mels, bool ortho) {
    return to_numpy(audio::create_dct(coefficients, mels, ortho));
  });
  m.def("audio_melscale_fbanks", [](int64_t frequencies, const audio::MelBank& bank) {
    return to_numpy(audio::melscale_fbanks(frequencies, bank));
  });
  m.def("audio_linear_fbanks",
        [](int64_t frequencies, double f_min, double f_max, int64_t filters, int64_t sample_rate) {
          return to_numpy(audio::linear_fbanks(frequencies, f_min, f_max, filters, sample_rate));
        });
}

void bind_filters(nb::module_& m) {
  bind_plain(m, "audio_lfilter", &audio::lfilter);
  bind_plain(m, "audio_filtfilt", &audio::filtfilt);
  bind_plain(m, "audio_biquad", &audio::biquad);
  bind_plain(m, "audio_allpass_biquad", &audio::allpass_biquad);
  bind_plain(m, "audio_band_biquad", &audio::band_biquad);
  bind_plain(m, "audio_bandpass_biquad", &audio::bandpass_biquad);
  bind_plain(m, "audio_bandreject_biquad", &audio::bandreject_biquad);
  bind_plain(m, "audio_bass_biquad", &audio::bass_biquad);
  bind_plain(m, "audio_treble_biquad", &audio::treble_biquad);
  bind_plain(m, "audio_equalizer_biquad", &audio::equalizer_biquad);
  bind_plain(m, "audio_highpass_biquad", &audio::highpass_biquad);
  bind_plain(m, "audio_lowpass_biquad", &audio::lowpass_biquad);
  bind_plain(m, "audio_deemph_biquad", &audio::deemph_biquad);
  bind_plain(m, "audio_riaa_biquad", &audio::riaa_biquad);
}

void bind_amplitudes(nb::module_& m) {
  bind_plain(m, "audio_amplitude_to_db", &audio::amplitude_to_db);
  bind_plain(m, "audio_db_to_amplitude", &audio::db_to_amplitude);
  bind_plain(m, "audio_contrast", &audio::contrast);
  m.def(
      "audio_dc_shift", [](double shift, MaybeReal limiter) { return made(audio::dc_shift(shift, limiter)); },
      nb::arg("shift"), nb::arg("limiter").none());
  bind_plain(m, "audio_gain", &audio::gain);
  m.def("audio_volume",
        [](double gain, int type) { return made(audio::volume(gain, static_cast<audio::GainType>(type))); });
  m.def("audio_fade", [](int64_t in, int64_t out, int shape) {
    return made(audio::fade(in, out, static_cast<audio::FadeShape>(shape)));
  });
  bind_plain(m, "audio_overdrive", &audio::overdrive);
  m.def("audio_dither", [](int density, bool shaping) {
    return made(audio::dither(static_cast<audio::Density>(density), shaping));
  });
  bind_plain(m, "audio_mu_law_encoding", &audio::mu_law_encoding);
  bind_plain(m, "audio_mu_law_decoding", &audio::mu_law_decoding);
  bind_plain(m, "audio_magphase", &audio::magphase);
  bind_plain(m, "audio_angle", &audio::angle);
  bind_plain(m, "audio_complex_norm", &audio::complex_norm);
}

void bind_spectra(nb::module_& m) {
  bind_plain(m, "audio_spectrogram", &audio::spectrogram);
  m.def(
      "audio_inverse_spectrogram",
      [](const audio::Frames& frames, MaybeInt length) {
        return made(audio::inverse_spectrogram(frames, length));
      },
      nb::arg("frames"), nb::arg("length").none());
  bind_plain(m, "audio_spectral_centroid", &audio::spectral_centroid);
  m.def(
      "audio_griffin_lim",
      [](const audio::Frames& frames, int64_t iterations, double power, double momentum, MaybeInt length,
         bool random_start) {
        return made(audio::griffin_lim(frames, {iterations, power, momentum, length, random_start}));
      },
      nb::arg("frames"), nb::arg("iterations"), nb::arg("power"), nb::arg("momentum"),
      nb::arg("length").none(), nb::arg("random_start"));
  bind_plain(m, "audio_mel_scale", &audio::mel_scale);
  m.def("audio_inverse_mel_scale", [](int64_t frequencies, const audio::MelBank& bank, int64_t steps,
                                      double loss, double change, double rate, double momentum) {
    return made(audio::inverse_mel_scale(frequencies, bank, {steps, loss, change, rate, momentum}));
  });
  bind_plain(m, "audio_mel_spectrogram", &audio::mel_spectrogram);
  bind_plain(m, "audio_mfcc", &audio::mfcc);
  m.def(
      "audio_lfcc",
      [](int64_t coefficients, const audio::Frames& frames, double power, int64_t filters,
         int64_t sample_rate, double f_min, MaybeReal f_max, bool ortho, bool log) {
        return made(
            audio::lfcc(coefficients, frames, power, {filters, sample_rate, f_min, f_max}, ortho, log));
      },
      nb::arg("coefficients"), nb::arg("frames"), nb::arg("power"), nb::arg("filters"),
      nb::arg("sample_rate"), nb::arg("f_min"), nb::arg("f_max").none(), nb::arg("ortho"), nb::arg("log"));
}

void bind_pitches(nb::module_& m) {
  bind_plain(m, "audio_phase_vocoder", &audio::phase_vocoder);
  bind_plain(m, "audio_time_stretch", &audio::time_stretch);
  bind_plain(m, "audio_pitch_shift", &audio::pitch_shift);
  m.def(
      "audio_resample",
      [](double from, double to, bool kaiser, int64_t zeros, double rolloff, MaybeReal beta) {
        return made(audio::resample(from, to, {kaiser, zeros, rolloff, beta}));
      },
      nb::arg("from"), nb::arg("to"), nb::arg("kaiser"), nb::arg("zeros"), nb::arg("rolloff"),
      nb::arg("beta").none());
  m.def("audio_sliding_window_cmn", [](int64_t size, int64_t least, bool center, bool variance) {
    return made(audio::sliding_window_cmn({size, least, center, variance}));
  });
  m.def("audio_compute_deltas", [](int64_t window, int border) {
    return made(audio::compute_deltas(window, static_cast<audio::Border>(border)));
  });
  m.def("audio_detect_pitch_frequency",
        [](int64_t sample_rate, double frame_time, int64_t median, double low, double high) {
          return made(audio::detect_pitch_frequency(sample_rate, {frame_time, median, low, high}));
        });
  // All times and frequencies in the order of VoiceSearch.
  m.def(
      "audio_voice_activity",
      [](int64_t sample_rate, const std::vector<double>& s, MaybeReal duration) {
        constexpr size_t kSettings = 15;
        SORUS_CHECK(s.size() == kSettings, ValueError, "Vad: settings do not fit: got {}, need {}", s.size(),
                    kSettings);
        return made(audio::voice_activity(sample_rate, {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8],
                                                        s[9], duration, s[10], s[11], s[12], s[13], s[14]}));
      },
      nb::arg("sample_rate"), nb::arg("settings"), nb::arg("duration").none());
}

void bind_effects(nb::module_& m) {
  bind_plain(m, "audio_mask_along_axis", &audio::mask_along_axis);
  bind_plain(m, "audio_mask_along_axis_iid", &audio::mask_along_axis_iid);
  m.def("audio_phaser", [](int64_t sample_rate, double gain_in, double gain_out, double delay_ms,
                           double decay, double speed, bool sinusoidal) {
    return made(audio::phaser(sample_rate, {gain_in, gain_out, delay_ms, decay, speed, sinusoidal}));
  });
  m.def("audio_flanger", [](int64_t sample_rate, double delay, double depth, double regen, double width,
                            double speed, double phase, bool sinusoidal, bool linear) {
    return made(audio::flanger(sample_rate, {delay, depth, regen, width, speed, phase, sinusoidal, linear}));
  });
}

}  // namespace

void bind_audio_operations(nb::module_& m) {
  bind_options(m);
  bind_banks(m);
  bind_filters(m);
  bind_amplitudes(m);
  bind_spectra(m);
  bind_pitches(m);
  bind_effects(m);
}

}  // namespace sorus::python
