#pragma once

#include "sorus/data/dataset.h"

/// Image data sets as users keep them on disk. Each looks at its files when it is made, and throws IOError
/// naming the file and what is wrong with it, then or when the rows are read.
namespace sorus::data {

/// Names of classes and their labels.
using ClassIndexing = std::map<std::string, int32_t>;

struct ImageFolderOptions {
  std::vector<std::string> extensions =
      {};                             ///< endings of the files that count, with their dot; empty: all files
  ClassIndexing class_indexing = {};  ///< the folders that count; empty: all, numbered in order of names
  bool decode = false;                ///< RGB images instead of the bytes of files
};

/// The classes of a folder: its subfolders, also hidden ones and links, in order of their bytes.
[[nodiscard]] SORUS_API ClassIndexing image_folder_classes(const std::string& folder);
/// A folder with a subfolder of image files for each class: columns image, uint8, and label, int32. Rows are
/// in order of class folder, then of file name. Files of folders within a class do not count.
[[nodiscard]] SORUS_API Dataset image_folder(const std::string& folder, const ImageFolderOptions& what = {},
                                             const SourceOptions& options = {});

/// CIFAR-10 from its binary files, data_batch_1.bin to data_batch_5.bin and test_batch.bin: columns image,
/// uint8 (32, 32, 3), and label, uint32. `usage`: "train", "test" or "all" (files in order of their names).
[[nodiscard]] SORUS_API Dataset cifar10(const std::string& folder, const std::string& usage = "all",
                                        const SourceOptions& options = {.shuffle = false});
/// CIFAR-100 from train.bin and test.bin, as cifar10() but for columns coarse_label and fine_label.
[[nodiscard]] SORUS_API Dataset cifar100(const std::string& folder, const std::string& usage = "all",
                                         const SourceOptions& options = {.shuffle = false});

/// MNIST from a folder with its idx files, raw or gzip-compressed: columns image, uint8 (28, 28, 1), and
/// label, uint32. `usage`: "train", "test" or "all" (what the folder has, test images first). The folder is
/// looked at now and read at the first use. Throws ValueError for another usage and IOError naming what is
/// wrong with the files.
[[nodiscard]] SORUS_API Dataset mnist(const std::string& folder, const std::string& usage = "all",
                                      const SourceOptions& options = {.shuffle = false});
/// Fashion-MNIST: files, columns and arguments of mnist().
[[nodiscard]] SORUS_API Dataset fashion_mnist(const std::string& folder, const std::string& usage = "all",
                                              const SourceOptions& options = {.shuffle = false});
/// Kuzushiji-MNIST: files, columns and arguments of mnist().
[[nodiscard]] SORUS_API Dataset kmnist(const std::string& folder, const std::string& usage = "all",
                                       const SourceOptions& options = {.shuffle = false});
/// A part of EMNIST, `name`: "byclass", "bymerge", "balanced", "letters", "digits" or "mnist", from files
/// like emnist-letters-train-images-idx3-ubyte; otherwise as mnist(). Images lie as in the files, which is
/// transposed.
[[nodiscard]] SORUS_API Dataset emnist(const std::string& folder, const std::string& name,
                                       const std::string& usage = "all",
                                       const SourceOptions& options = {.shuffle = false});
/// QMNIST from files like qmnist-train-images-idx3-ubyte and qmnist-train-labels-idx2-int. `usage`: "train",
/// "test", "test10k" (the first 10000 of the test images), "test50k" (those behind), "nist" or "all" (train,
/// test and nist, as far as the folder has them). The label is the class alone with `compat`, else all 8
/// numbers.
[[nodiscard]] SORUS_API Dataset qmnist(const std::string& folder, const std::string& usage = "all",
                                       bool compat = true, const SourceOptions& options = {.shuffle = false});

/// Names of the categories of COCO and their numbers, in the order of the file: the id, and for the task
/// "Panoptic" whether it is a thing.
using CocoClasses = std::vector<std::pair<std::string, std::vector<int64_t>>>;
[[nodiscard]] SORUS_API CocoClasses coco_classes(const std::string& annotation_file, const std::string& task);
/// Images of a folder with annotations of COCO: column image, uint8, and those of the `task`. "Detection":
/// bbox float32 (n, 4), category_id and iscrowd uint32 (n, 1); "Stuff": segmentation, float32, a line for
/// each polygon, filled up with -1, and iscrowd; "Keypoint": keypoints, float32, and num_keypoints;
/// "Panoptic": as "Detection", and area; "Captioning": captions, strings (n, 1). Images without annotations
/// do not count.
[[nodiscard]] SORUS_API Dataset coco(const std::string& folder, const std::string& annotation_file,
                                     const std::string& task = "Detection", bool decode = false,
                                     const SourceOptions& options = {});

/// Pascal VOC. `task`: "Segmentation", columns image and target, uint8; or "Detection", columns image, bbox,
/// float32 (n, 4): left, top, width and height, and label, difficult and truncate, uint32 (n, 1). `usage` is
/// a list in ImageSets, such as "train". Labels number the names in order, or as `class_indexing` says, whose
/// names alone count then.
[[nodiscard]] SORUS_API Dataset voc(const std::string& folder, const std::string& task = "Segmentation",
                                    const std::string& usage = "train",
                                    const ClassIndexing& class_indexing = {}, bool decode = false,
                                    const SourceOptions& options = {});
[[nodiscard]] SORUS_API ClassIndexing voc_classes(const std::string& folder, const std::string& usage);

/// CelebA: images of a folder and its list_attr_celeba.txt: columns image, uint8, and attr, uint32, 1 or 0
/// for each attribute. `usage`: "train", "valid" or "test", as list_eval_partition.txt has it, or "all".
/// `extensions`: endings of the files that count; none: all.
[[nodiscard]] SORUS_API Dataset celeba(const std::string& folder, const std::string& usage = "all",
                                       const std::vector<std::string>& extensions = {}, bool decode = false,
                                       const SourceOptions& options = {});

/// Images that a manifest lists, a JSON object in each line, for a `usage`: "train", "eval" or "inference".
/// Columns image, uint8, and label, int32: a number, or as many as the image has. Labels number the names in
/// order, or as `class_indexing` says, whose names alone count then.
[[nodiscard]] SORUS_API Dataset manifest(const std::string& file, const std::string& usage = "train",
                                         const ClassIndexing& class_indexing = {}, bool decode = false,
                                         const SourceOptions& options = {});
[[nodiscard]] SORUS_API ClassIndexing manifest_classes(const std::string& file, const std::string& usage);

}  // namespace sorus::data
