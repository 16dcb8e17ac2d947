"""Errors of MindRecord; their names and numbers are those of MindSpore 2.x."""

from __future__ import annotations

__all__ = [
    "DbConnectionError",
    "MRMAddIndexError",
    "MRMAddSchemaError",
    "MRMBuildSchemaError",
    "MRMCloseError",
    "MRMCommitError",
    "MRMDefineBlobError",
    "MRMDefineCategoryError",
    "MRMDefineIndexError",
    "MRMFetchCandidateFieldsError",
    "MRMFetchDataError",
    "MRMFinishError",
    "MRMGenerateIndexError",
    "MRMGetMetaError",
    "MRMIndexGeneratorError",
    "MRMInitSegmentError",
    "MRMInvalidHeaderSizeError",
    "MRMInvalidPageSizeError",
    "MRMInvalidSchemaError",
    "MRMLaunchError",
    "MRMOpenError",
    "MRMOpenForAppendError",
    "MRMReadCategoryInfoError",
    "MRMSetHeaderError",
    "MRMUnsupportedSchemaError",
    "MRMValidateDataError",
    "MRMWriteDatasetError",
    "MindRecordException",
    "ParamMissError",
    "ParamTypeError",
    "ParamValueError",
    "PathNotExistsError",
    "UnknownError",
]


class MindRecordException(Exception):
    """Base of the errors of MindRecord."""

    number = 0
    text = "Unknown error."

    def __init__(self, error_msg: str | None = None):
        self.error_msg = self.text if error_msg is None else error_msg
        super().__init__(self.error_msg)

    def __str__(self) -> str:
        return f"[{type(self).__name__}]: {self.error_msg}"

    @property
    def error_code(self) -> int:
        """A number of 32 bits: that this ran on a host, that it is an error, system, module and `number`."""
        host, kind, system = 1 << 30, 1 << 28, 42 << 17
        return host | kind | system | (self.number // 100 + 1) << 12 | self.number


class UnknownError(MindRecordException):
    """Something else went wrong."""


class ParamTypeError(MindRecordException):
    """An argument has the wrong type."""

    number = 1

    def __init__(self, param_name: str, expected_type: str):
        super().__init__(f"Invalid parameter type. '{param_name}' expect {expected_type} type.")


class _Detailed(MindRecordException):
    """An error whose text begins alike."""

    def __init__(self, error_detail: str):
        super().__init__(f"{self.text} {error_detail}")


class ParamValueError(_Detailed):
    """An argument has the wrong value."""

    number, text = 2, "Invalid parameter value."


class ParamMissError(MindRecordException):
    """An argument is missing."""

    number = 3

    def __init__(self, param_name: str):
        super().__init__(f"Param missing. '{param_name}' is required.")


class PathNotExistsError(_Detailed):
    """A path does not exist."""

    number, text = 4, "Invalid path."


class DbConnectionError(_Detailed):
    """An index cannot be used."""

    number, text = 5, "Db connection is error. Detail:"


class MRMOpenError(MindRecordException):
    """A file cannot be opened."""

    number, text = 100, "MindRecord File could not open successfully."


class MRMOpenForAppendError(MindRecordException):
    """A file cannot be opened to append to it."""

    number, text = 101, "MindRecord File could not open successfully for append."


class MRMInvalidPageSizeError(MindRecordException):
    """A page size is wrong."""

    number, text = 102, "Failed to set page size."


class MRMInvalidHeaderSizeError(MindRecordException):
    """A header size is wrong."""

    number, text = 103, "Failed to set header size."


class MRMSetHeaderError(MindRecordException):
    """A header cannot be set."""

    number, text = 104, "Failed to set header."


class MRMWriteDatasetError(MindRecordException):
    """Rows cannot be written."""

    number, text = 105, "Failed to write dataset."


class MRMCommitError(MindRecordException):
    """Files cannot be completed."""

    number, text = 107, "Failed to commit."


class MRMLaunchError(MindRecordException):
    """Reading cannot begin."""

    number, text = 108, "Failed to launch."


class MRMFinishError(MindRecordException):
    """Reading cannot end."""

    number, text = 109, "Failed to finish."


class MRMCloseError(MindRecordException):
    """A file cannot be closed."""

    number, text = 110, "Failed to close."


class MRMAddSchemaError(MindRecordException):
    """A schema cannot be added."""

    number, text = 111, "Failed to add schema."


class MRMAddIndexError(MindRecordException):
    """Index fields cannot be added."""

    number, text = 112, "Failed to add index field."


class MRMBuildSchemaError(MindRecordException):
    """A schema has a shape that no array can have."""

    number, text = 113, "Failed to build schema."


class MRMGetMetaError(MindRecordException):
    """There is no schema yet."""

    number, text = 114, "Failed to get meta info."


class MRMIndexGeneratorError(MindRecordException):
    """An index cannot be begun."""

    number, text = 115, "Failed to create index generator."


class MRMGenerateIndexError(MindRecordException):
    """An index cannot be written."""

    number, text = 116, "Failed to generate index."


class MRMInitSegmentError(MindRecordException):
    """Reading by category cannot begin."""

    number, text = 117, "Failed to initialize segment."


class MRMFetchCandidateFieldsError(MindRecordException):
    """The fields that may be categories cannot be read."""

    number, text = 118, "Failed to fetch candidate category fields."


class MRMReadCategoryInfoError(MindRecordException):
    """Categories cannot be read."""

    number, text = 119, "Failed to read category information."


class MRMFetchDataError(MindRecordException):
    """Rows of a category cannot be read."""

    number, text = 120, "Failed to fetch data by category."


class MRMInvalidSchemaError(_Detailed):
    """A schema is wrong."""

    number, text = 200, "Schema format is error. Detail:"


class MRMValidateDataError(_Detailed):
    """A row does not fit the schema."""

    number, text = 201, "Raw data do not match the schema. Detail:"


class MRMDefineIndexError(_Detailed):
    """A field cannot be an index field."""

    number, text = 202, "Failed to define index field. Detail:"


class MRMDefineBlobError(_Detailed):
    """A field cannot be one of bytes."""

    number, text = 203, "Failed to define blob field. Detail:"


class MRMUnsupportedSchemaError(_Detailed):
    """A schema is not supported."""

    number, text = 204, "Schema is not supported. Detail:"


class MRMDefineCategoryError(_Detailed):
    """A field cannot be the category."""

    number, text = 205, "Failed to define category field. Detail:"
